"""`anyperf record --overwrite` and `--switch-output`: the newest samples, and several files."""
import glob
import json
import os
import re
import subprocess
import time
import unittest

from program import ANYPERF
from record_test import Recorder
from report_test import report, run

CLOCK = ("--kernel", "-e", "cpu-clock:u", "-F", "5000", "-g")


class Switch(Recorder):
    def files(self):
        """The finished files, the oldest first."""
        return sorted(glob.glob(f"{self.path}.2*"))

    def symbols(self, path):
        return {row["symbol"]: row["samples"] for row in json.loads(report("-i", path, "--json").stdout)}

    def times(self, path):
        text = run(ANYPERF, "script", "-F", "time", "-i", path).stdout.decode()
        return [float(time_) for time_ in re.findall(r"(\d+\.\d+):", text)]

    def test_overwrite_keeps_the_newest_samples(self):
        for events in (CLOCK, ("--virtual", "-e", "instructions:u", "-c", "20000", "-g")):
            notes = self.record(*events, "--overwrite", "-m", "16K", command=["sh", "-c", f"{self.program} 100000000; exec sleep 0.1"])
            symbols = self.symbols(self.path)
            self.assertGreater(sum(symbols.values()), 50, notes)
            self.assertLess(self.path.stat().st_size, 200_000)
            self.assertGreater(symbols.get("cool_function", 0), 0, symbols)  # the last function
            self.assertFalse([name for name in symbols if name.startswith("0x55")], symbols)  # maps are not overwritten
            self.assert_perf_agrees(may_lose=True)

    def test_overwrite_keeps_copied_stacks(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", "dwarf", "--overwrite", "-m", "1M", seconds=0.3)
        text = run(ANYPERF, "script", "--no-inline", "-i", self.path).stdout.decode()
        self.assertRegex(text, r"(hot|cool)_function[^\n]*\n[^\n]*main")

    def test_each_time_begins_a_file_that_stands_alone(self):
        self.record(*CLOCK, "--switch-output=1s", command=["sh", "-c", f"for i in 1 2 3; do {self.program} 0.9s; done"])
        files = self.files()
        self.assertGreaterEqual(len(files), 2)
        self.assertFalse(self.path.exists())
        last = 0
        for path in files[:-1]:
            self.assert_hot(path)
            self.assert_perf_agrees(path, may_lose=True)
            times = self.times(path)
            self.assertGreater(min(times), last)
            last = max(times)

    def test_the_file_gets_the_time_at_the_end(self):
        self.record(*CLOCK, "--timestamp-filename", "--tail-synthesize")
        path, = self.files()
        self.assertFalse(self.path.exists())
        self.assertRegex(path, r"\.20\d{14}$")
        self.assert_hot(path)
        result = run(ANYPERF, "record", "--timestamp-filename", "-o", "-", "--", "true", text=True)
        self.assertEqual(result.returncode, 125)
        self.assertIn("standard output has no name", result.stderr)

    def test_a_process_that_ran_before_the_switch_has_its_names_after_it(self):
        self.record(*CLOCK, "--switch-output=1s", seconds=2.5)
        for path in self.files()[:-2]:  # the last two may have the cool function, and little else
            self.assert_hot(path, least=0.7)
        text = run(ANYPERF, "script", "-F", "comm", "-i", self.files()[1]).stdout.decode()
        self.assertIn("hot", text)
        self.assertNotIn(":", text.replace(": ", ""))

    def test_unwinding_goes_on_in_the_next_file(self):
        self.record("--kernel", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", "dwarf", "--switch-output=1s", seconds=2.5)
        for path in self.files()[:-1]:
            text = run(ANYPERF, "script", "--no-inline", "-i", path).stdout.decode()
            self.assertGreater(len(re.findall(r"_function[^\n]*\n[^\n]*main[^\n]*\n[^\n]*__libc_start_call_main", text)), 100)

    def test_the_ids_of_a_run_have_their_names_after_the_switch(self):
        for options in ((), ("--deterministic",)):
            self.record("--virtual", *options, "-e", "instructions:u", "-c", "2000", "-g", "--switch-output=1M", loops=20_000_000)
            files = self.files()
            self.assertGreaterEqual(len(files), 3)
            for path in files[1:-1]:  # the last one may have no sample
                self.assert_hot(path, least=0.7)
            for path in files:
                os.unlink(path)

    def test_a_size_begins_files_and_the_last_are_kept(self):
        notes = self.record("--kernel", "-e", "cpu-clock:u", "-F", "20000", "-g", "--switch-output=100K", "--switch-max-files", "2", "-m", "64K",
                            seconds=1)
        self.assertGreater(notes.count("samples in"), 3)
        self.assertEqual(len(self.files()), 2)
        symbols = self.symbols(self.files()[0])
        self.assertGreater(symbols.get("hot_function", 0) + symbols.get("cool_function", 0), 0.9 * sum(symbols.values()), symbols)

    def test_a_signal_writes_what_the_rings_have(self):
        script = f"{self.program} 0.1s; kill -USR2 $PPID; sleep 0.5; {self.program} 0.1s"
        self.record(*CLOCK, "--overwrite", "--switch-output", command=["sh", "-c", script])
        files = self.files()
        self.assertEqual(len(files), 2)
        times = [self.times(path) for path in files]
        self.assertLess(max(times[0]), min(times[1]))
        for path in files:
            self.assert_hot(path, least=0.7)
            self.assert_perf_agrees(path, may_lose=True)

    def test_an_event_begins_a_file_and_is_not_recorded(self):
        script = f"{self.program} 0.2s; ls /proc/self > /dev/null; {self.program} 0.2s"
        for words in (("--virtual", "-e", "instructions:u", "-c", "20000", "--switch-output-event", "syscalls:sys_enter_getdents64"),
                      (*CLOCK, "--switch-output-event", "syscalls:sys_enter_getdents64")):
            for path in self.files():
                os.remove(path)
            notes = self.record(*words, command=["sh", "-c", script])
            files = self.files()
            self.assertGreaterEqual(len(files), 2, notes)
            self.assertLess(max(self.times(files[0])), min(self.times(files[-1])))
            for path in (files[0], files[-1]):
                rows = json.loads(report("-i", path, "--json").stdout)
                self.assertFalse([row for row in rows if "getdents" in row["event"]])
                self.assert_perf_agrees(path, may_lose=True)
        refused = run(ANYPERF, "record", "--virtual", "--switch-output-event", "cycles", "-o", self.path, "--", "true")
        self.assertEqual(refused.returncode, 125)
        self.assertIn(b"give it a period: cycles/period=1000000/", refused.stderr)

    def test_a_command_of_the_control_writes_what_the_rings_have(self):
        commands, answers = self.file("commands"), self.file("answers")
        os.mkfifo(commands)
        os.mkfifo(answers)
        ask = f"echo snapshot > {commands}; read answer < {answers}; echo \"said $answer\""
        result = run(ANYPERF, "record", *CLOCK, "--overwrite", "--switch-output", "--control", f"fifo:{commands},{answers}", "-o", self.path,
                     "--", "sh", "-c", f"{self.program} 0.1s; {ask}; {self.program} 0.1s")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"said ack", result.stdout)
        self.assertEqual(len(self.files()), 2)
        for path in self.files():
            self.assert_hot(path, least=0.7)

    def test_a_running_process_is_switched_from_outside(self):
        process = self.start(1 << 40)
        recorder = subprocess.Popen([ANYPERF, "record", *CLOCK[1:], "--overwrite", "--switch-output", "-o", str(self.path), "-p",
                                     str(process.pid)],
                                    stderr=subprocess.PIPE)
        for _ in range(2):
            time.sleep(0.4)
            before = len(self.files())
            recorder.send_signal(12)  # SIGUSR2
            end = time.monotonic() + 20
            while len(self.files()) == before:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
        recorder.send_signal(2)
        _, notes = recorder.communicate(timeout=30)
        self.assertEqual(notes.count(b"samples in"), 3, notes)
        for path in self.files()[:2]:
            self.assert_hot(path, least=0.7)

    def test_wrong_options_are_refused_with_the_reason(self):
        for words, reason in ((["--switch-output=often"], "not a time to switch at"), (["--switch-output=5"], "not a time to switch at"),
                              (["--switch-max-files", "2"], "there is only one file"), (["--switch-output", "-o", "-"], "one stream"),
                              (["--exact", "--overwrite"], "the counts are written at the end")):
            result = run(ANYPERF, "record", *words, "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertIn(reason, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
