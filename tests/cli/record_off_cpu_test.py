"""`anyperf record --off-cpu`: where threads wait, and how long."""
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from program import ANYPERF
from record_test import Recorder
from report_test import report, run

# Waits for known times in known functions, also while another thread works.
WAITS = r"""
#include <pthread.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
static int ends[2];
__attribute__((noinline)) void works(void) { for (unsigned long i = 0; i < 300000000; i++) sum += i; }
__attribute__((noinline)) void sleeps_long(void) { struct timespec t = {0, 300000000}; nanosleep(&t, 0); sum++; }
__attribute__((noinline)) void sleeps_short(void) { struct timespec t = {0, 100000000}; nanosleep(&t, 0); sum++; }
__attribute__((noinline)) void waits_for_pipe(void) { char c; if (read(ends[0], &c, 1) != 1) sum = 0; sum++; }
static void* reader(void* unused) { waits_for_pipe(); return unused; }
int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 1;
    pthread_create(&thread, 0, reader, 0);
    for (int i = 0; i < 3; i++) sleeps_long(), sleeps_short();
    works();
    if (write(ends[1], "x", 1) != 1) return 1;
    pthread_join(thread, 0);
    return 0;
}
"""
CLOCK = ("--kernel", "-e", "cpu-clock:u", "-F", "1000")
MS = 1_000_000


class OffCpu(Recorder):
    def setUp(self):
        super().setUp()
        self.waits = self.file("waits")
        subprocess.run(["cc", "-O2", "-fno-inline", "-fomit-frame-pointer", "-pthread", "-x", "c", "-", "-o", self.waits], input=WAITS, text=True,
                       check=True, timeout=60)

    def waited(self, path=None):
        """The callers of each wait, and its nanoseconds, in the order of time."""
        found = []
        for sample in run(ANYPERF, "script", "--no-inline", "-i", path or self.path).stdout.decode().split("\n\n"):
            head = re.search(r"(\d+) offcpu-time:", sample)
            if head:
                found.append((re.findall(r"^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(", sample, re.M), int(head[1])))
        return found

    def assert_waits(self, path=None):
        waits = self.waited(path)
        for name, times, least in (("sleeps_long", 3, 300 * MS), ("sleeps_short", 3, 100 * MS), ("waits_for_pipe", 1, 1200 * MS)):
            own = [ns for names, ns in waits if name in names]
            self.assertEqual(len(own), times, waits)
            self.assertGreaterEqual(min(own), least // 2)  # it may lose the CPU after it has set its timer
        self.assertFalse([names for names, _ in waits if "works" in names])  # it is switched, but does not wait

    def test_waits_have_their_functions_and_their_times(self):
        for options in ((), ("--call-graph", "dwarf"), ("-z",)):
            self.record(*CLOCK, *options, "--off-cpu", command=[self.waits])
            self.assert_waits()
            self.assert_perf_agrees()

    def test_frame_pointers_are_followed_if_they_are_wanted(self):
        self.record(*CLOCK, "-g", "--off-cpu", command=[self.waits])
        self.assertEqual(sum(200 * MS <= ns < 1000 * MS for _, ns in self.waited()), 3)
        self.assert_perf_agrees()

    def test_the_report_has_the_time_as_an_event(self):
        self.record(*CLOCK, "--off-cpu", command=[self.waits])
        rows = json.loads(report("-i", self.path, "--json", "--children").stdout)
        events = {row["event"] for row in rows}
        self.assertLessEqual({"cpu-clock:u", "offcpu-time"}, events)
        work = {row["symbol"] for row in rows if row["event"] == "cpu-clock:u" and row["period"] > 10 * MS}
        self.assertIn("works", work)
        self.assertNotIn("sleeps_long", work)

    def test_only_the_command_is_seen_and_not_its_switches(self):
        self.record(*CLOCK, "--off-cpu", command=[self.waits])
        dump = run("perf", "script", "--show-switch-events", "-i", self.path).stdout
        self.assertNotIn(b"PERF_RECORD_SWITCH", dump)
        self.record(*CLOCK, "--off-cpu", "--switch-events", command=[self.waits])
        dump = run("perf", "script", "--show-switch-events", "-i", self.path).stdout
        self.assertIn(b"PERF_RECORD_SWITCH", dump)
        self.assert_waits()

    def test_a_whole_machine_has_its_users_waits_and_no_kernel_threads(self):
        self.record(*CLOCK, "-a", "--off-cpu", command=[self.waits])
        text = run(ANYPERF, "script", "--no-inline", "-i", self.path).stdout.decode()
        self.assertNotRegex(text, r"(?m)^(swapper|kworker|ksoftirqd|rcu_)\S*\s.*offcpu-time")
        own = [ns for names, ns in self.waited() if "sleeps_long" in names]
        self.assertEqual(len(own), 3)

    def test_a_running_process_is_seen(self):
        process = subprocess.Popen(["sh", "-c", f"exec {self.waits}"])
        self.addCleanup(process.wait)
        result = run(ANYPERF, "record", "-e", "cpu-clock:u", "--off-cpu", "-o", self.path, "-p", process.pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue([ns for names, ns in self.waited() if "sleeps_long" in names and ns >= 150 * MS])

    def test_each_wait_of_children_is_seen(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done"
        self.record(*CLOCK, "--off-cpu", command=["sh", "-c", script])
        text = run(ANYPERF, "script", "--no-inline", "-i", self.path).stdout.decode()
        sleeps = [int(ns) for ns in re.findall(r"(?m)^sleep\s.*?(\d+) offcpu-time", text)]
        self.assertEqual(sum(ns >= 25 * MS for ns in sleeps), 10, sleeps)
        shell = [int(ns) for ns in re.findall(r"(?m)^sh\s.*?(\d+) offcpu-time", text)]
        self.assertGreaterEqual(len(shell), 5, shell)  # it waits for them

    def test_other_options_are_refused_with_the_reason(self):
        for words, reason in ((["--overwrite"], "with --overwrite"), (["--call-graph", "dwarf,raw"], "dwarf,raw leaves"),
                              (["--virtual"], "does not see which task"), (["--exact"], "it takes no samples")):
            result = run(ANYPERF, "record", "--off-cpu", *words, "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertIn(reason, result.stderr.decode())

    def test_without_the_kernels_mode_it_is_refused(self):
        if os.geteuid() != 0 or int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 2:
            self.skipTest("the kernel shows all users its mode")
        result = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ANYPERF, "record", "-e", "cpu-clock:u", "--off-cpu",
                     "-o", "/dev/null", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"switched in kernel mode", result.stderr)


if __name__ == "__main__":
    unittest.main()
