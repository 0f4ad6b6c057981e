"""Limits on memory (RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK) have the same effect in a run as natively: on the same program, with
the same message, for many sizes, whether they are set before the run or inside. Addresses are fixed (setarch -R): natively, too,
a program may fit or not by its luck with them. And the CPU is the machine's: glibc's loader needs memory by its features."""
import os
import re
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
FIXED = ["setarch", "-R"]
RUN = [ANYPERF, "run", "--cpu-model", "host", "--"]
KB = 1024
MAY_RAISE = int(re.search(r"CapEff:\s*(\w+)", Path("/proc/self/status").read_text()).group(1), 16) >> 24 & 1


def outcome(words, limits=()):
    """Status and output of a command, with resource limits of its own: (resource, soft, hard) each."""
    def limit():
        for which, soft, hard in limits:
            resource.setrlimit(which, (soft, hard))
    done = subprocess.run(words, text=True, capture_output=True, timeout=100, preexec_fn=limit, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


class MemoryLimits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.program = str(Path(cls.place.name) / "memory_limits")
        subprocess.run(["cc", "-O1", "-o", cls.program, str(Path(__file__).with_name("memory_limits.c"))], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def in_shell(self, option, sizes, command):
        """One shell that runs the command under each size of the limit, and prints the status of each."""
        return f"for size in {' '.join(map(str, sizes))}; do (ulimit -{option} $size; exec {command}); echo $size: $?; done 2>&1"

    def assert_same_inside(self, option, sizes, command):
        script = self.in_shell(option, sizes, command)
        native = outcome([*FIXED, "bash", "-c", script])
        inside = outcome([*FIXED, *RUN, "bash", "-c", script])
        self.assertEqual([without_pid(line) for line in inside[1].splitlines()],
                         [without_pid(line) for line in native[1].splitlines()])
        return native[1]

    def test_a_limit_of_address_space_set_inside_is_as_natively(self):
        shown = self.assert_same_inside("v", [*range(0, 8000, 250), 16000, 100000], "ls /proc/version")
        self.assertIn(": 127", shown)  # a library does not fit
        self.assertIn(": 139", shown)  # the program itself does not fit
        self.assertIn(": 0", shown)

    def test_a_limit_of_data_set_inside_is_as_natively(self):
        shown = self.assert_same_inside("d", [*range(0, 300, 12), 500, 4000, 100000], "ls /proc/version")
        self.assertIn(": 127", shown)
        self.assertIn(": 0", shown)

    def test_a_limit_of_the_stack_set_inside_is_as_natively(self):
        shown = self.assert_same_inside("s", [4, 8, 16, 20, 24, 32, 64, 200, 8192], f"{self.program} stack 100")
        self.assertIn(": 139", shown)
        self.assertIn(": 0", shown)

    def test_each_call_by_which_memory_grows_fails_at_the_same_size(self):
        for option, size in (("v", 20000), ("d", 10000)):
            native = outcome([*FIXED, "bash", "-c", f"ulimit -{option} {size}; exec {self.program} grow"])
            inside = outcome([*FIXED, *RUN, "bash", "-c", f"ulimit -{option} {size}; exec {self.program} grow"])
            self.assertEqual(inside, native, option)
            self.assertIn("ENOMEM", native[1])

    def test_stack_set_before_the_run(self):
        # Below some 20 kB anyperf itself has no room for its environment and libraries.
        for size in (32, 64, 200):
            limits = [(resource.RLIMIT_STACK, size * KB, size * KB)]
            for words in (["true"], [self.program, "stack", "100"]):
                native = outcome([*FIXED, *words], limits)
                self.assertEqual(outcome([*FIXED, *RUN, *words], limits), native, (size, words))

    @unittest.skipUnless(MAY_RAISE, "raising a hard limit needs CAP_SYS_RESOURCE")
    def test_hard_limits_set_before_the_run(self):
        for which, option in ((resource.RLIMIT_AS, "v"), (resource.RLIMIT_DATA, "d")):
            for size in (60000, 200000):
                limits = [(which, size * KB, size * KB)]
                for words in (["bash", "-c", f"ulimit -{option}; ulimit -H{option}"], [self.program, "grow"]):
                    native = outcome([*FIXED, *words], limits)
                    self.assertEqual(outcome([*FIXED, *RUN, *words], limits), native, (option, size, words))

    def test_soft_limits_set_before_the_run(self):
        for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            limits = [(which, 60000 * KB, resource.RLIM_INFINITY)]
            native = outcome([*FIXED, self.program, "grow"], limits)
            self.assertEqual(outcome([*FIXED, *RUN, self.program, "grow"], limits), native)

    def test_a_program_limits_another_one(self):
        script = f"{self.program} wait & sleep 0; prlimit --as=30000000 -p $!; prlimit --as -o SOFT,HARD --noheadings -p $!; " \
                 "kill $!; prlimit --as=1 -p 99999999; wait"
        native = outcome(["bash", "-c", script])
        inside = outcome([*RUN, "bash", "-c", script])
        self.assertEqual(inside, native)
        self.assertIn("30000000", native[1])


def without_pid(line):
    """A line of a shell's report of a signal, without the process's number."""
    return re.sub(r"(line \d+:) +\d+ ", r"\1 ", line)


if __name__ == "__main__":
    unittest.main()
