"""Counting others: processes, threads, CPUs, cgroups."""
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import ANYPERF, Case, stat

BUSY = ["sh", "-c", "while :; do :; done"]


class Targets(Case):
    def busy(self):
        process = subprocess.Popen(BUSY)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_process_is_counted_while_a_command_runs(self):
        process = self.busy()
        (report,) = self.objects(stat("--json", "-e", "task-clock:u", "-p", process.pid, "--", "sleep", "0.2").stderr)
        self.assertGreater(self.event(report, "task-clock:u")["value"], 0)

    def test_counting_ends_with_the_process(self):
        process = subprocess.Popen(["sleep", "0.2"])
        start = time.monotonic()
        result = stat("-e", "task-clock:u", "-p", process.pid)
        process.wait()
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"process id '{process.pid}'", result.stderr)

    def wait_until_counting(self, pid):
        """Until the process has an event open, or for half a minute: then the test fails by what it looks for."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                try:
                    if "perf_event" in str(entry.readlink()):
                        return
                except OSError:  # closed meanwhile
                    pass
            time.sleep(0.01)

    def test_interrupt_ends_the_counting_of_others_and_prints(self):
        process = self.busy()
        counting = subprocess.Popen([ANYPERF, "stat", "-e", "task-clock:u", "-p", str(process.pid)], text=True,
                                    stderr=subprocess.PIPE)
        self.wait_until_counting(counting.pid)
        counting.send_signal(signal.SIGINT)
        _, err = counting.communicate(timeout=30)
        self.assertEqual(counting.returncode, -signal.SIGINT)
        self.assertIn("task-clock:u", err)

    def test_timeout_ends_the_counting_of_others(self):
        result = stat("-e", "task-clock:u", "-p", self.busy().pid, "--timeout", "100")
        self.assertEqual(result.returncode, 0)

    def test_absent_process_is_told(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.assert_error(stat("-e", "task-clock:u", "-p", process.pid), 125, str(process.pid))
        self.assert_error(stat("-e", "task-clock:u", "-t", process.pid), 125, str(process.pid))

    def test_threads_have_a_line_each(self):
        process = self.busy()
        result = stat("--csv", "-e", "task-clock:u", "--per-thread", "-p", process.pid, "--", "sleep", "0.1")
        self.assertRegex(result.stderr, rf"^sh-{process.pid},[0-9.]+,msec,task-clock:u,")

    def test_cpus_have_a_line_each(self):
        result = stat("--csv", "-e", "task-clock:u", "-A", "--", "true")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), len(os.sched_getaffinity(0)))
        self.assertTrue(lines[0].startswith("CPU0,"))

    def test_whole_machine_is_counted(self):
        if os.geteuid() != 0:
            self.skipTest("counting every CPU needs privilege")
        (report,) = self.objects(stat("--json", "-a", "-e", "task-clock", "--", "sleep", "0.1").stderr)
        self.assertGreaterEqual(self.event(report, "task-clock")["value"], 90)

    def test_whole_machine_without_privilege_says_what_is_missing(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        result = stat("-a", "-e", "task-clock", "--", "true", user=65534, group=65534, extra_groups=[])
        self.assert_error(result, 125, "perf_event_paranoid")

    def test_command_without_privilege_is_counted_in_user_mode(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) != 2:
                self.skipTest("perf_event_paranoid isn't 2")
        (report,) = self.objects(stat("--json", "-e", "page-faults,context-switches", "--", "true", user=65534,
                                      group=65534, extra_groups=[]).stderr)
        self.assertEqual(self.event(report, "page-faults:u")["status"], "counted")
        self.assertEqual(self.event(report, "context-switches")["status"], "not-supported")

    def test_one_cause_is_one_line_for_several_events(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        text = stat("-e", "page-faults:u,context-switches,cpu-migrations", "--", "true", user=65534, group=65534,
                    extra_groups=[]).stderr
        self.assertLessEqual(len([line for line in text.splitlines() if line.startswith(" <not supported>")]), 1, text)

    def test_absent_cpu_is_told(self):
        self.assert_error(stat("-e", "task-clock", "-C", "0,60000", "--", "true"), 125, "60000", "not online")

    def test_absent_cgroup_is_told(self):
        self.assert_error(stat("-e", "task-clock", "-G", "no/such/group", "--", "true"), 125, "no/such/group")

    def test_cgroups_and_events_must_fit(self):
        self.assert_error(stat("-e", "task-clock", "-G", "a,b", "--", "true"), 125, "cgroup")

    def test_root_cgroup_is_counted(self):
        if os.geteuid() != 0:
            self.skipTest("counting a cgroup needs privilege")
        result = stat("--csv", "-e", "task-clock,page-faults", "-G", "/", "--", "sleep", "0.1")
        if result.returncode == 125:
            self.skipTest("no cgroup hierarchy: " + result.stderr)
        self.assertRegex(result.stderr, r"(?m)^[0-9.]+,msec,task-clock,/,\d+,")


if __name__ == "__main__":
    unittest.main()
