"""Files that are not at their recorded paths here: those of a container, and those that were replaced. A wrong name is worse than none."""
import json
import os
import shutil
import subprocess
import time
import unittest

from program import ANYPERF
from record_test import Recorder
from report_test import report, run

PROGRAM = r"""
volatile unsigned long sum;
__attribute__((noinline)) void NAME(long n) { for (long i = 0; i < n; i++) sum += i * STEP; }
int main(void) { for (int i = 0; i < TIMES; i++) NAME(1000000); }
"""
# Writes a perf map into its own /tmp, and stays in generated code.
JIT = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    static const unsigned char spin[] = {0xeb, 0xfe};  // jmp to itself
    char path[64];
    unsigned char* code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, spin, sizeof spin);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE* map = fopen(path, "w");
    fprintf(map, "%lx 2 generated\n", (unsigned long)code);
    fclose(map);
    ((void (*)(void))code)();
}
"""
CLOCK = ("--kernel", "-e", "cpu-clock:u", "-F", "2000")


def wait_until(holds):
    """Gives up after a minute: what follows then fails."""
    end = time.monotonic() + 60
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)


class Roots(Recorder):
    def compile_as(self, path, name, times):
        """A program that needs no other file, with one hot function. Build ids depend on code and not on names, so each has its own."""
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-static", "-O1", "-Wl,--build-id", f"-DNAME={name}", f"-DTIMES={times}", f"-DSTEP={len(name)}", "-x", "c", "-", "-o", path],
                       input=PROGRAM, text=True, check=True, timeout=60)
        return path

    def symbols(self):
        found = {}
        for row in json.loads(report("-i", self.path, "--json").stdout):
            found[row["symbol"]] = found.get(row["symbol"], 0) + row["samples"]
        return found

    def make_container(self, times):
        """A directory that has another program at the path of one that is here."""
        root = self.file("root")
        here = self.compile_as(self.file("here") / "program", "host_function", 1)
        self.compile_as(root / str(here).lstrip("/"), "inside_container", times)
        command = ["chroot", root, here] if os.geteuid() == 0 else ["unshare", "-r", "chroot", root, here]
        return command

    def test_a_program_of_a_container_has_no_names_of_one_here(self):
        self.record(*CLOCK, command=self.make_container(200))
        found = self.symbols()
        self.assertNotIn("host_function", found)
        self.assertGreater(sum(found.values()), 20)

    def test_a_container_that_runs_has_its_names(self):
        command = self.make_container(1000000)
        process = subprocess.Popen(command)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: os.readlink(f"/proc/{process.pid}/exe").endswith(str(command[-1])))
        for options in ((), ("--call-graph", "dwarf")):
            result = run(ANYPERF, "record", *CLOCK, *options, "-p", str(process.pid), "-o", self.path, "--", "sleep", "0.3")
            self.assertEqual(result.returncode, 0, result.stderr)
            found = self.symbols()
            self.assertNotIn("host_function", found)
            self.assertGreater(found.get("inside_container", 0), 0.9 * sum(found.values()), found)

    def test_a_jit_compiler_in_a_container_has_its_names(self):
        root = self.file("root")
        program = root / "jit"
        (root / "tmp").mkdir(parents=True)
        subprocess.run(["cc", "-static", "-O1", "-x", "c", "-", "-o", program], input=JIT, text=True, check=True, timeout=60)
        process = subprocess.Popen(["chroot", root, "/jit"] if os.geteuid() == 0 else ["unshare", "-r", "chroot", root, "/jit"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: any(at.stat().st_size for at in (root / "tmp").iterdir()))
        result = run(ANYPERF, "record", *CLOCK, "-p", str(process.pid), "-o", self.path, "--", "sleep", "0.3")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = self.symbols()
        self.assertGreater(found.get("generated", 0), 0.9 * sum(found.values()), found)

    def test_a_program_that_is_replaced_meanwhile_does_not_give_its_names_to_the_old_one(self):
        program = self.compile_as(self.file("bin") / "program", "the_old_function", 300)
        other = self.compile_as(self.file("bin") / "other", "new_function", 300)
        self.record(*CLOCK, command=["sh", "-c", f"{program}; mv {other} {program}; {program}; true"])
        found = self.symbols()
        total = sum(found.values())
        self.assertGreater(found["new_function"], 0.25 * total)
        self.assertLess(found["new_function"], 0.75 * total)
        if shutil.which("perf"):
            text = run("perf", "report", "--stdio", "-i", self.path).stdout.decode()
            self.assertIn("new_function", text)


if __name__ == "__main__":
    unittest.main()
