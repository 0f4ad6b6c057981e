"""Repeated runs: -r, what ends a series, --pre and --post, --table."""
import itertools
import os
import re
import shutil
import signal
import subprocess
import unittest

from program import ANYPERF, Case, stat


class Series(Case):
    def started(self, *words):
        """A series in a process group of its own; its command has printed "ready" when this returns."""
        process = subprocess.Popen([ANYPERF, "stat", "-e", "page-faults:u", *map(str, words)], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def waits_in_run(self, number):
        """A command that waits in its run of this number, and exits normally when it is interrupted."""
        runs = self.file("runs")
        return ["--", "sh", "-c", f"echo x >> {runs}; [ $(wc -l < {runs}) -lt {number} ] && exit 0;"
                                  "trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done"]

    def test_interrupted_run_that_exits_normally_is_left_out_of_the_statistics(self):
        process = self.started("-r", "9", "--json", *self.waits_in_run(4))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        (report,) = self.objects(err)
        self.assertEqual((process.returncode, report["runs"]), (0, 3))
        self.assertEqual(len(self.event(report, "page-faults:u")["runs"]["values"]), 3)
        self.assertEqual(report["notes"], ["signal 2 ended run 4, which is left out"])

    def test_only_run_is_reported_though_it_was_interrupted(self):
        process = self.started("-r", "9", "--json", *self.waits_in_run(1))
        os.killpg(process.pid, signal.SIGINT)
        (report,) = self.objects(process.communicate(timeout=60)[1])
        self.assertEqual(report["runs"], 1)

    def test_signal_for_the_command_itself_does_not_end_the_series(self):
        runs = self.file("runs")
        process = self.started("-r", "2", "--json", "--", "sh", "-c",
                               f"echo x >> {runs}; [ $(wc -l < {runs}) -lt 2 ] || exit 0;"
                               "trap 'exit 0' USR1; echo ready; while :; do sleep 0.05; done")
        process.send_signal(signal.SIGUSR1)
        (report,) = self.objects(process.communicate(timeout=60)[1])
        self.assertEqual(report["runs"], 2)

    def test_repeat_0_prints_each_run_until_it_is_interrupted(self):
        process = self.started("-r", "0", "--json", *self.waits_in_run(4))
        os.killpg(process.pid, signal.SIGINT)
        reports = self.objects(process.communicate(timeout=60)[1])
        self.assertEqual([report["runs"] for report in reports], [1, 1, 1, 1])
        self.assertEqual(["notes" in report for report in reports], [False, False, False, True])
        self.assertNotIn("runs", self.event(reports[0], "page-faults:u"))

    def test_pre_and_post_run_around_each_run(self):
        log = self.file("log")
        result = stat("-r", "2", "-n", "--pre", f"echo pre >> {log}", "--post", f"echo post >> {log}", "--", "sh", "-c",
                      f"echo run >> {log}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(log.read_text().split(), ["pre", "run", "post"] * 2)

    def test_sync_writes_to_the_disks_before_each_run_and_after_its_hook(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        log = self.file("log")
        command = [ANYPERF, "stat", "-S", "-r", "2", "-n", "--pre", "exec true pre", "--", "true", "run"]
        subprocess.run(["strace", "-f", "-o", log, "-e", "trace=sync,execve", *command], check=True, capture_output=True, timeout=60)
        # Of the exec calls, those of the hook and of the command; execvp() tries each directory of PATH.
        calls = [re.search(r'\bsync\(\)|\["true", "(run)"\]|exec true (pre)', line) for line in log.read_text().splitlines()]
        words = ["".join(filter(None, call.groups())) or "sync" for call in calls if call]
        self.assertEqual([word for word, _ in itertools.groupby(words)], ["pre", "sync", "run"] * 2)

    def test_hooks_are_not_counted(self):
        work = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"
        (report,) = self.objects(stat("--json", "-e", "page-faults:u", "--pre", work, "--post", work, "--", "true").stderr)
        self.assertLess(self.event(report, "page-faults:u")["value"], 2000)

    def test_post_does_not_run_after_a_failed_run(self):
        mark = self.file("mark")
        self.assertEqual(stat("-n", "--post", f"touch {mark}", "--", "false").returncode, 1)
        self.assertFalse(mark.exists())

    def test_failed_hook_ends_the_measurement(self):
        mark = self.file("mark")
        self.assert_error(stat("-n", "--pre", "exit 3", "--", "touch", mark), 125, "--pre", "exited with 3")
        self.assertFalse(mark.exists())
        self.assert_error(stat("-n", "--post", "kill -KILL $$", "--", "true"), 125, "--post", "signal 9")

    def test_table_lists_each_run(self):
        text = stat("-r", "3", "--table", "-n", "--", "true").stderr
        self.assertIn("# Table of individual measurements:", text)
        self.assertRegex(text, r"(?s)(\n +\d+\.\d{6} \([+-]\d+\.\d{6}\) #+){3}\n.*# Final result:\n +\d+\.\d+ \+- ")

    def test_bad_combinations_are_refused(self):
        for words, expected in ((["--table", "--", "true"], "-r N"), (["--table", "-r", "0", "--", "true"], "-r N"),
                                (["--pre", "true", "-p", "1"], "--pre"), (["--post", "true", "-a"], "--post"),
                                (["-r", "0", "--baseline", "x", "--", "true"], "-r 0"), (["-r", "0", "-p", "1"], "-r")):
            with self.subTest(words=words):
                self.assert_error(stat(*words), 125, expected)
        for words in (["-r", "-1", "--", "true"], ["--pre"], ["--post"]):
            self.assertEqual(stat(*words).returncode, 125)


if __name__ == "__main__":
    unittest.main()
