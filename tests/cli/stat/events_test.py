"""`anyperf stat`: filters of tracepoints, and the events of --topdown."""
import os
import unittest
from pathlib import Path

from program import Case, stat

TRACEPOINT = "sched:sched_process_exit"


class Filters(Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not any(Path(top).is_dir() for top in ("/sys/kernel/tracing/events/sched", "/sys/kernel/debug/tracing/events/sched")):
            self.skipTest("needs root and tracefs")

    def counts(self, *words):
        """The counts of a command in which four processes exit: /bin/true three times, then sh."""
        script = "for i in 1 2 3; do /bin/true; done; :"
        (report,) = self.objects(stat("--kernel", "--json", *words, "--", "sh", "-c", script).stderr)
        return [event["value"] for event in report["events"]]

    def test_tracepoint_is_counted_where_the_filter_holds(self):
        self.assertEqual(self.counts("-e", TRACEPOINT), [4])
        self.assertEqual(self.counts("-e", TRACEPOINT, "--filter", 'comm == "true"'), [3])

    def test_filter_is_for_the_option_before_it(self):
        self.assertEqual(self.counts("-e", TRACEPOINT, "--filter", 'comm == "true"', "-e", TRACEPOINT, "-e", f"{TRACEPOINT},{TRACEPOINT}",
                                     "--filter", 'comm == "sh"'), [3, 4, 1, 1])

    def test_several_filters_must_all_hold(self):
        self.assertEqual(self.counts("-e", TRACEPOINT, "--filter", 'comm == "true"', "--filter", "pid == 0"), [0])

    def test_filter_that_the_kernel_refuses_is_reported(self):
        for text in ("nosuch == 1", "comm ==", "("):
            for event in (TRACEPOINT, TRACEPOINT + ":k", "sched:*process_exit"):
                result = stat("--kernel", "-e", event, "--filter", text, "--", "true")
                self.assert_error(result, 125, event, "events/sched/sched_process_exit/format")

    def test_empty_filter_is_none(self):
        self.assertEqual(self.counts("-e", TRACEPOINT, "--filter", ""), [4])


class BadEventOptions(Case):
    def test_filters_without_a_tracepoint_are_refused(self):
        self.assert_error(stat("-e", "page-faults:u", "--filter", "x == 1", "--", "true"), 125, "only tracepoints")
        self.assert_error(stat("--filter", "x == 1", "-e", "page-faults:u", "--", "true"), 125, "no -e before it")
        self.assert_error(stat("--filter", "x == 1", "--", "true"), 125, "no -e before it")
        self.assert_error(stat("-n", "-e", "page-faults:u", "--filter", "x == 1", "--", "true"), 125, "-n")
        self.assert_error(stat("--virtual", "-e", "page-faults:u", "--filter", "x == 1", "--", "true"), 125, "only tracepoints")

    def test_topdown_needs_a_cpu_with_the_events(self):
        result = stat("--topdown", "--", "true")
        if result.returncode == 0:
            self.assertIn("retiring", result.stderr)
        else:
            self.assert_error(result, 125, "--topdown", "Ice Lake")

    def test_topdown_chooses_the_events_and_the_output(self):
        for words in (["-e", "cycles"], ["-n"], ["-r", "2"], ["--baseline", "x"], ["--virtual"]):
            self.assert_error(stat("--topdown", *words, "--", "true"), 125, "--topdown")


if __name__ == "__main__":
    unittest.main()
