"""Debug registers that a tracer of a run sets by ptrace, and gdb's hardware watchpoints. The expected stops are those of the
CPU (SDM volume 3, 17.3), written down: in many virtual machines the CPU's own debug registers never stop anything."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PROGRAMS = Path(__file__).parents[2] / "engine/programs"
BARE = ("-O1", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-tree-loop-distribute-patterns",
        "-nostdlib", "-fno-pie", "-static", "-no-pie")

WATCHED = r"""
int total, other;
__attribute__((noinline)) void add(int n) { other += 2; total += n; }
int main(void) {
  for (int i = 1; i < 4; i++) add(i);
  return total + other;
}
"""

# Two threads that are made before the watchpoint; each adds three times.
THREADS = r"""
#include <pthread.h>
#include <unistd.h>
volatile int total, may_go;
void* add(void* unused) { while (!may_go) usleep(1000); for (int i = 0; i < 3; i++) { total += 1; usleep(1000); } return unused; }
void made(void) { may_go = 1; }
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
  made();
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return total;
}
"""


def run(*words, **options):
    return subprocess.run([ANYPERF, "run", "--", *words], text=True, capture_output=True, timeout=200, **options)


def compiled(directory, source, *options):
    program = str(Path(directory) / "program")
    subprocess.run(["cc", "-o", program, str(source), *options], check=True)
    return program


@unittest.skipIf(shutil.which("cc") is None, "cc is not installed")
class DebugRegisters(unittest.TestCase):
    def stops(self):
        """The stops of traced_debug.c by section: for each, the place in `watched_code`, si_code, and the status register."""
        with tempfile.TemporaryDirectory() as directory:
            result = run(compiled(directory, PROGRAMS / "traced_debug.c", *BARE), "hits")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        sections, section, stop = {}, "first", {}
        for line in result.stdout.splitlines():
            name, value = line.rsplit("=", 1)
            if name in ("a write", "accesses", "the half that is not written", "four", "steps", "the rest", "a fork"):
                section = name
            stop[name] = int(value, 16)
            if name == "status":
                sections.setdefault(section, []).append((stop["at"], stop["code"], stop["status"] & 0xffff))
                self.assertEqual(stop["address"], stop["at"], "si_addr is rip")
        return sections, result.stdout

    def test_each_kind_of_access_stops_after_its_instruction(self):
        hardware, step = 4, 2  # TRAP_HWBKPT, TRAP_TRACE
        sections, text = self.stops()
        store, load, addition, byte = 12, 19, 26, 33  # after the instruction
        executed, last = byte, 58
        self.assertEqual(sections["a write"], [(store, hardware, 0x0ff1)], text)
        self.assertEqual(sections["accesses"], [(load, hardware, 0x0ff2), (addition, hardware, 0x0ff2)], text)
        self.assertNotIn("the half that is not written", sections, text)
        self.assertEqual(sections["four"], [(byte, hardware, 0x0ff8), (executed, hardware, 0x0ff4), (last, hardware, 0x0ff3)], text)
        self.assertEqual(sections["steps"][:3], [(store, hardware, 0x0ff1), (load, step, 0x4ff0), (addition, step, 0x4ff0)], text)
        self.assertTrue(all(code in (hardware, step) for stops in sections.values() for _, code, _ in stops), text)

    @unittest.skipIf(shutil.which("gdb") is None, "gdb is not installed")
    def test_gdbs_hardware_watchpoints_stop_at_each_change(self):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory) / "watched.c"
            source.write_text(WATCHED)
            program = compiled(directory, source, "-g", "-O0")
            result = run("gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-ex", "watch total", "-ex", "rwatch other",
                         "-ex", "run", "-ex", "continue", "-ex", "continue", "-ex", "hbreak main", "-ex", "info breakpoints", "-ex", "delete",
                         "-ex", "continue", program)
        self.assertIn("Hardware watchpoint 1: total", result.stdout, result.stderr)
        self.assertIn("Hardware read watchpoint 2: other", result.stdout, result.stderr)
        self.assertIn("Old value = 0\nNew value = 1", result.stdout, result.stderr)
        self.assertRegex(result.stdout, r"Value = [02]\n")
        self.assertRegex(result.stdout, r"exited with code 014", result.stderr)  # 6 + 6

    @unittest.skipIf(shutil.which("gdb") is None, "gdb is not installed")
    def test_gdb_watches_threads(self):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory) / "threads.c"
            source.write_text(THREADS)
            program = compiled(directory, source, "-g", "-O0", "-pthread")
            result = run("gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-ex", "break made", "-ex", "run", "-ex", "watch total",
                         *["-ex", "continue"] * 8, program)
        # Two threads may add before the first of them stops.
        values = [int(value) for value in re.findall(r"New value = (\d)", result.stdout)]
        self.assertEqual(values, sorted(set(values)), result.stdout)
        self.assertGreaterEqual(len(values), 3, result.stdout + result.stderr)
        self.assertEqual(values[-1], 6, result.stdout + result.stderr)
        self.assertIn("exited with code 06", result.stdout, result.stderr)

    @unittest.skipIf(shutil.which("gdb") is None, "gdb is not installed")
    def test_gdbs_hardware_breakpoints_stop_before_the_instruction(self):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory) / "watched.c"
            source.write_text(WATCHED)
            program = compiled(directory, source, "-g", "-O0")
            result = run("gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-ex", "break main", "-ex", "run",
                         "-ex", "hbreak add", "-ex", "continue", "-ex", "print n", "-ex", "continue", "-ex", "print n", "-ex", "delete",
                         "-ex", "continue", program)
        self.assertIn("$1 = 1", result.stdout, result.stderr)
        self.assertIn("$2 = 2", result.stdout, result.stderr)
        self.assertIn("exited with code 014", result.stdout, result.stderr)


if __name__ == "__main__":
    unittest.main()
