"""Other clients under `anyperf run`: Python through ctypes, programs of libpfm4, code selected by CPU model, gdb, strace."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
HERE = Path(__file__).parent
LOOPS = 100000  # of pfm_client.c; each turn has at least a compare, a jump and an addition to memory


def run(*words, options_of_run=(), **options):
    return subprocess.run([ANYPERF, "run", *options_of_run, "--", *words], text=True, capture_output=True, timeout=200, **options)

# A tracer attaches to a child that computes without end, stops it by signals that have no handler, and steps it.
STOPS_A_LOOP = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
static int stop_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : -1;
}
int main(void) {
  const pid_t child = fork();
  if (child == 0) for (volatile unsigned long n = 0;; n++) {}
  struct user_regs_struct registers;
  printf("%ld", ptrace(PTRACE_ATTACH, child, 0, 0));
  printf(" %x", stop_of(child));
  const int signals[] = {SIGSTOP, SIGUSR1, SIGTERM};
  for (int i = 0; i < 3; i++) {
    ptrace(PTRACE_CONT, child, 0, 0);
    kill(child, signals[i]);
    printf(" %x", stop_of(child));
    printf(" %ld", ptrace(PTRACE_GETREGS, child, 0, &registers));
  }
  printf(" %ld", ptrace(PTRACE_SINGLESTEP, child, 0, 0));
  printf(" %x", stop_of(child));
  ptrace(PTRACE_CONT, child, 0, 0);
  kill(child, SIGKILL);
  printf(" %x\n", stop_of(child));
}
"""


class Programs(unittest.TestCase):
    def compiled(self, directory, source, *libraries):
        if shutil.which("cc") is None:
            self.skipTest("cc is not installed")
        program = str(Path(directory) / "program")
        built = subprocess.run(["cc", "-g", "-O1", "-o", program, str(source), *libraries], capture_output=True, text=True)
        if built.returncode != 0 and "perfmon" in built.stderr:
            self.skipTest("libpfm4-dev is not installed")
        self.assertEqual(built.returncode, 0, built.stderr)
        return program

    def test_code_selected_by_cpu_model_runs_on_every_model(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.compiled(directory, HERE / "by_model.c")
            native = subprocess.run([program], text=True, capture_output=True)
            for model in [(), ("--cpu-model", "skl"), ("--cpu-model", "host")]:
                result = run(program, options_of_run=model)
                self.assertEqual((result.returncode, result.stdout), (native.returncode, native.stdout), model)

    def test_python_counts_and_samples_through_ctypes(self):
        result = run(sys.executable, str(HERE / "ctypes_client.py"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(int(re.search(r"least (\d+)", result.stdout)[1]), 20000 * 10, result.stdout)
        samples, periods = re.search(r"samples (\d+) periods (\d+)", result.stdout).groups()
        self.assertGreater(int(samples), 10)
        self.assertEqual(samples, periods)

    def test_a_program_of_libpfm4_counts_by_names(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.compiled(directory, HERE / "pfm_client.c", "-lpfm")
            result = run(program, "INST_RETIRED:ANY_P", "PERF_COUNT_HW_INSTRUCTIONS", "BR_INST_RETIRED:ALL_BRANCHES")
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = [int(line.split()[1]) for line in result.stdout.splitlines()]
        self.assertEqual(counts[0], counts[1], result.stdout)
        self.assertGreater(counts[0], 3 * LOOPS)
        self.assertTrue(LOOPS <= counts[2] < 3 * LOOPS, result.stdout)

    def test_libpfm4s_example_programs_find_the_virtual_cpu(self):
        examples = Path("/usr/share/doc/libpfm4-dev/examples")
        if not examples.exists():
            self.skipTest("libpfm4-dev has no examples here")
        with tempfile.TemporaryDirectory() as directory:
            # Debian's package has the examples but not a header that they include.
            (Path(directory) / "perfmon").mkdir()
            (Path(directory) / "perfmon" / "err.h").write_text("#include <err.h>\n")
            listed = run(self.compiled(directory, examples / "showevtinfo.c", "-I", directory, "-lpfm"), "INST_RETIRED:")
            checked = run(self.compiled(directory, examples / "check_events.c", "-I", directory, "-lpfm"),
                          "INST_RETIRED:ANY_P", "PERF_COUNT_HW_INSTRUCTIONS")
        self.assertRegex(listed.stdout, r'(skx, "Intel Skylake X"|skl, "Intel Skylake"), \d+ events', listed.stderr)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertRegex(checked.stdout, r"Codes +: 0x5300c0")

    def test_a_tracer_stops_a_child_that_computes_without_end(self):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory) / "stops.c"
            source.write_text(STOPS_A_LOOP)
            program = self.compiled(directory, source)
            for options in ((), ("--deterministic",)):
                result = run(program, options_of_run=options)
                self.assertEqual((result.returncode, result.stdout), (0, "0 137f 137f 0 a7f 0 f7f 0 0 57f 9\n"), result.stderr)

    def test_strace_of_a_fork_ends_in_a_deterministic_run(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        result = run("strace", "-f", "-qq", "-e", "trace=exit_group", "sh", "-c", "(exit 3); exit 4", options_of_run=("--deterministic",))
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertRegex(result.stderr, r"(?s)exit_group\(3.*exit_group\(4")


if __name__ == "__main__":
    unittest.main()
