"""`anyperf report -s FIELD` of tracepoints has the rows that perf 6.1 has: perf's dynamic sort keys."""
import json
import unittest

from program import ANYPERF
from sample_filters_test import Recorded, run, table


class TraceFields(Recorded):
    def switches(self):
        return self.record("-e", "sched:sched_switch", "-a", command="seq 1 20000 | sort -R | md5sum")

    def assert_same(self, path, *options):
        perf, ours = (sorted(rows(program, path, *options)) for program in ("perf", ANYPERF))
        self.assertGreater(len(perf), 1, options)
        self.assertEqual(ours, perf, options)

    def test_fields_are_keys(self):
        path = self.switches()
        for keys in ("prev_comm,next_comm", "comm,prev_state", "sched:sched_switch.next_pid", "sched_switch.next_prio",
                     "prev_state/raw", "trace_fields", "sched_switch.*"):
            self.assert_same(path, "-s", keys)

    def test_fields_that_the_text_does_not_name_are_as_in_the_sample(self):
        self.assert_same(self.record("-e", "raw_syscalls:sys_enter", command="ls -lR /usr/include/linux"), "-s", "id")

    def test_events_without_the_field_have_an_empty_one(self):
        path = self.record("-e", "sched:sched_process_exec", "-e", "sched:sched_process_fork", command="ls; ls")
        rows_of = {row["event"]: row["child_comm"] for row in json.loads(run(ANYPERF, "report", "-i", path, "--json", "-s", "child_comm").stdout)}
        self.assertEqual(rows_of["sched:sched_process_exec"], "")
        self.assertTrue(rows_of["sched:sched_process_fork"])

    def test_fields_that_no_tracepoint_has_are_refused(self):
        for path, key in ((self.switches(), "no_such_field"), (self.record("-e", "cpu-clock:u"), "prev_comm")):
            result = run(ANYPERF, "report", "-i", path, "-s", key)
            self.assertEqual(result.returncode, 125)
            self.assertIn(f"cannot sort by '{key}'", result.stderr.decode())


def rows(program, path, *options):
    """perf pads fields, and the last key of ours may be empty."""
    return [tuple(" ".join(field.split()) for field in row) for row in table(program, path, *options)]


if __name__ == "__main__":
    unittest.main()
