"""anyperf stat --csv prints the same lines, fields and counts as perf stat -x, (the oracle) for the same events of the same program."""
import os
import shutil
import subprocess
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
# Without address randomisation a program has the same page faults in every run. Absolute paths are used because perf puts
# a directory of its own first in PATH, which costs a program that searches PATH one more execve.
PROGRAM = ["setarch", "-R", "/bin/sh", "-c", "i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done"]
TRACEPOINTS = Path("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id")


def fields(words):
    result = subprocess.run([*words, "--", *PROGRAM], text=True, capture_output=True, check=False)
    return [line.split(",") for line in result.stderr.splitlines() if line and not line.startswith("#")]


def both(*options):
    return fields(["perf", "stat", "-x,", *options]), fields([ANYPERF, "stat", "--kernel", "--csv", *options])


class Agrees(unittest.TestCase):
    def setUp(self):
        if shutil.which("perf") is None:
            self.skipTest("perf is not installed")
        if not fields(["perf", "stat", "-x,", "-e", "page-faults:u"]):
            self.skipTest("perf can't count here")

    def assert_same_shape(self, options, *names, kernel=False):
        if kernel and os.geteuid() != 0:
            self.skipTest("counting the kernel needs privilege")
        theirs, ours = both(*options)
        self.assertEqual([line[names[0]:names[1]] for line in ours], [line[names[0]:names[1]] for line in theirs])
        self.assertEqual([len(line) for line in ours], [len(line) for line in theirs])
        return theirs, ours

    def test_default_events_have_the_same_names_units_and_fields(self):
        theirs, ours = self.assert_same_shape([], 1, 3, kernel=True)
        self.assertEqual([line[0] for line in ours if "<" in line[0]], [line[0] for line in theirs if "<" in line[0]])
        # A rate may be near the next larger unit: 998 /sec in one run and 1.002 K/sec in the other.
        self.assertEqual([line[-1].lstrip("KMG") for line in ours][:2], [line[-1].lstrip("KMG") for line in theirs][:2])

    def test_page_faults_are_equal(self):
        """Which pages of files a fault brings with it differs from run to run, so the least of some runs is compared."""
        runs = [self.assert_same_shape(["-e", "page-faults:u,minor-faults:u,major-faults:u"], 1, 3) for _ in range(5)]
        theirs, ours = ([min(int(lines[i][0]) for lines in tables) for i in range(3)] for tables in zip(*runs))
        for their, our in zip(theirs, ours):
            self.assertAlmostEqual(their, our, delta=max(2, their // 500))

    def test_system_calls_are_equal(self):
        if not TRACEPOINTS.exists():
            self.skipTest("tracefs is not mounted, or may not be read")
        events = ["-e", "raw_syscalls:sys_enter", "-e", "syscalls:sys_enter_execve,sched:sched_process_fork"]
        theirs, ours = self.assert_same_shape(events, 0, 3, kernel=True)
        self.assertEqual([line[5] for line in ours], [line[5] for line in theirs])

    def test_time_events_have_the_same_fields(self):
        _, ours = self.assert_same_shape(["-e", "duration_time,page-faults:u,user_time,system_time"], 1, 3)
        self.assertGreater(int(ours[0][0]), 1_000_000)  # ns, for fifty processes

    def test_all_user_and_all_kernel_exclude_the_other_mode(self):
        theirs, ours = self.assert_same_shape(["--all-user", "-e", "page-faults"], 1, 3)
        self.assertAlmostEqual(int(theirs[0][0]), int(ours[0][0]), delta=max(2, int(theirs[0][0]) // 500))
        theirs, ours = self.assert_same_shape(["--all-kernel", "-e", "page-faults"], 1, 3, kernel=True)
        self.assertAlmostEqual(int(theirs[0][0]), int(ours[0][0]), delta=max(2, int(theirs[0][0]) // 10))

    def test_group_counts_are_equal(self):
        if not TRACEPOINTS.exists():
            self.skipTest("tracefs is not mounted, or may not be read")
        self.assert_same_shape(["-e", "{syscalls:sys_enter_execve,sched:sched_process_exit}"], 0, 3, kernel=True)

    def test_repeats_have_the_same_fields(self):
        theirs, ours = self.assert_same_shape(["-r", "3", "-e", "page-faults:u,task-clock:u"], 1, 3)
        self.assertTrue(all(line[3].endswith("%") for line in ours + theirs))

    def test_cpus_have_the_same_fields(self):
        theirs, ours = self.assert_same_shape(["-a", "-A", "-e", "page-faults,task-clock"], 2, 4, kernel=True)
        self.assertEqual([line[0] for line in ours], [line[0] for line in theirs])

    def test_intervals_have_the_same_fields(self):
        theirs, ours = both("-I", "10", "-e", "task-clock:u,page-faults:u")
        self.assertEqual({len(line) for line in ours}, {len(line) for line in theirs})
        self.assertEqual(ours[0][2:4], theirs[0][2:4])

    def test_clocks_have_the_same_unit(self):
        theirs, ours = self.assert_same_shape(["-e", "task-clock:u,cpu-clock:u"], 1, 3)
        for their, our in zip(theirs, ours):
            self.assertLess(abs(float(their[0]) - float(our[0])), 10 * float(their[0]) + 10)
            self.assertEqual(len(our[0].split(".")[1]), 2)


if __name__ == "__main__":
    unittest.main()
