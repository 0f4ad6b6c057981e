"""`anyperf record --threads`: several threads empty the rings, into a directory."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import ANYPERF
from record_test import Recorder
from report_test import report, run

CLOCK = ("--kernel", "-e", "cpu-clock:u", "-F", "10000", "-g")
FAST = ("--kernel", "-e", "cpu-clock:u", "-F", "50000", "-g", "-m", "64K")

MANY_THREADS = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned long sink[64];
__attribute__((noinline)) static void spin(long number, long times) {
    for (long i = 0; i < times; ++i) sink[number] += i;
}
static long times;
static void* body(void* number) {
    for (int i = 0; i < 20; ++i) spin((long)number, times);
    return 0;
}
int main(int count, char** words) {
    pthread_t threads[64];
    times = count > 1 ? atol(words[1]) : 400000;
    for (long i = 0; i < 64; ++i) pthread_create(&threads[i], 0, body, (void*)i);
    for (int i = 0; i < 64; ++i) pthread_join(threads[i], 0);
    puts("done");
}
"""


class Threads(Recorder):
    def setUp(self):
        super().setUp()
        self.many = self.file("many")
        subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-pthread", "-x", "c", "-o", self.many, "-"], input=MANY_THREADS.encode(), check=True,
                       timeout=60)

    def record_many(self, *options, times=400000):
        result = run(ANYPERF, "record", *options, "-o", self.path, "--", self.many, str(times))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn(b"lost", result.stderr)
        self.assertEqual(sorted(name for name in os.listdir(self.path)), ["data"] + [f"data.{cpu}" for cpu in range(os.cpu_count())])
        return int(re.search(rb"(\d+) samples in", result.stderr)[1])

    def test_many_threads_are_read_by_both_tools(self):
        for layout in ("--threads", "--threads=core", "--threads=package", "--threads=numa"):
            samples = self.record_many(*CLOCK, layout)
            rows = json.loads(report("-i", self.path, "--json").stdout)
            self.assertEqual(sum(row["samples"] for row in rows), samples, layout)
            self.assertGreater(max(row["samples"] for row in rows if row["symbol"] == "spin"), 0.9 * samples)
            self.assert_perf_agrees()
            shutil.rmtree(self.path)

    def test_no_thread_is_without_samples(self):
        self.record_many(*CLOCK, "--threads")
        script = run(ANYPERF, "script", "-F", "tid", "-i", self.path).stdout.decode()
        self.assertGreaterEqual(len(set(re.findall(r"^\s*(\d+)", script, re.M))), 64)

    def test_compressed_files_are_streams_of_their_own(self):
        samples = self.record_many(*CLOCK, "--threads", "-z")
        rows = json.loads(report("-i", self.path, "--json").stdout)
        self.assertEqual(sum(row["samples"] for row in rows), samples)
        self.assert_perf_agrees()

    def test_copied_stacks_are_kept(self):
        samples = self.record_many("--kernel", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", "dwarf", "--threads")
        script = run(ANYPERF, "script", "--no-inline", "-i", self.path).stdout.decode()
        self.assertGreater(len(re.findall(r"spin[^\n]*\n[^\n]*body", script)), 0.8 * samples)
        self.assert_perf_agrees()

    def test_records_are_in_the_order_of_time(self):
        self.record_many(*CLOCK, "--threads")
        times = [float(each) for each in run(ANYPERF, "script", "-F", "time", "-i", self.path).stdout.decode().replace(":", "").split()]
        self.assertEqual(times, sorted(times))

    def test_masks_choose_rings_and_places(self):
        last = os.cpu_count() - 1
        if last == 0:
            self.skipTest("one CPU")
        self.record_many(*CLOCK, f"--threads=0/{last}:1-{last}/0")
        self.record_many(*CLOCK, f"--threads=0-{last}/0-{last}")
        for masks, reason in (("0/0", "no mask has CPU 1, which is recorded"), ("0/0:0-1/1", "overlaps with a mask before it"),
                              ("900/0:0-1/1", "has no CPU that is recorded"), ("socket", "not two lists of CPUs"), ("0:1", "not two lists of CPUs")):
            result = run(ANYPERF, "record", *CLOCK, f"--threads={masks}", "-o", self.file("none"), "--", "true")
            self.assertEqual(result.returncode, 125, masks)
            self.assertIn(reason, result.stderr.decode())
            self.assertFalse(self.file("none").exists())

    @staticmethod
    def cpu_ticks(process):
        """The time in user mode, in clock ticks (proc_pid_stat(5), utime)."""
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11])

    def test_an_interrupt_ends_a_whole_recording(self):
        process = subprocess.Popen([self.many, str(1 << 40)])
        try:
            recorder = subprocess.Popen([ANYPERF, "record", *CLOCK, "--threads", "-o", self.path, "-p", str(process.pid)], stderr=subprocess.PIPE)
            end = time.monotonic() + 30
            while not (self.path / "data.0").exists():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            # Samples come with CPU time, however long that takes on a busy machine.
            enough = self.cpu_ticks(process.pid) + os.sysconf("SC_CLK_TCK")
            while self.cpu_ticks(process.pid) < enough:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            recorder.send_signal(signal.SIGINT)
            notes = recorder.communicate(timeout=30)[1].decode()
        finally:
            process.kill()
            process.wait()
        samples = int(re.search(r"(\d+) samples in", notes)[1])
        self.assertGreater(samples, 100)
        self.assertEqual(sum(row["samples"] for row in json.loads(report("-i", self.path, "--json").stdout)), samples)
        self.assert_perf_agrees()

    def test_the_size_of_all_files_ends_the_recording(self):
        result = run(ANYPERF, "record", *FAST, "--threads", "--max-size", "400K", "-o", self.path, "--", self.many, "4000000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"done", result.stdout)
        self.assertIn(b"has reached --max-size", result.stderr)
        size = sum(each.stat().st_size for each in self.path.iterdir())
        self.assertGreater(size, 300_000)
        self.assertLess(size, 3_000_000)
        self.assert_hot_is_readable()

    def assert_hot_is_readable(self):
        rows = json.loads(report("-i", self.path, "--json").stdout)
        self.assertIn("spin", {row["symbol"] for row in rows})

    def test_a_full_disk_leaves_what_was_written_and_is_reported(self):
        # A limit on the size of files fails in the same place as a full disk.
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        result = subprocess.run([ANYPERF, "record", *FAST, "--threads", "-o", self.path, "--", self.many, "4000000"],
                                capture_output=True, preexec_fn=limit, timeout=120)
        self.assertEqual(result.returncode, 125, result.stderr)
        self.assertIn(b"done", result.stdout)
        self.assertIn(b"cannot write", result.stderr)
        self.assertIn(b"bytes are missing", result.stderr)
        self.assert_hot_is_readable()

    def test_an_earlier_recording_is_kept_whatever_it_was(self):
        self.record(*CLOCK, loops=10_000_000)
        self.record_many(*CLOCK, "--threads", times=1000)
        old = self.path.with_name(self.path.name + ".old")
        self.assertTrue(old.is_file())
        self.record_many(*CLOCK, "--threads", times=1000)
        self.assertTrue((old / "data").is_file())
        self.record(*CLOCK, loops=10_000_000)
        self.assertTrue(self.path.is_file())
        self.assertTrue((old / "data").is_file())
        run(ANYPERF, "record", *CLOCK, "--threads", "-o", self.path, "--", "/nonexistent")
        self.assertTrue(self.path.is_file())

    def test_a_directory_of_something_else_is_left_alone(self):
        self.path.mkdir()
        (self.path / "letter").write_text("dear")
        for options in (["--threads"], []):
            result = run(ANYPERF, "record", *CLOCK, *options, "-o", self.path, "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertEqual((self.path / "letter").read_text(), "dear")

    def test_what_needs_one_thread_is_refused_with_the_reason(self):
        for words, reason in ((["-o", "-"], "standard output is one stream"), (["--overwrite"], "nothing is written before the end"),
                              (["--switch-output"], "a directory, which is not switched"), (["--off-cpu"], "may end in another"),
                              (["--virtual"], "rings of the virtual PMU"), (["--exact"], "rings of the virtual PMU")):
            result = run(ANYPERF, "record", *words, "--threads", "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertIn(reason, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
