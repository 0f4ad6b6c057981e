"""`anyperf explain EVENT`: the command that it gives for an event counts that event on this machine."""
import json
import shlex
import subprocess
import unittest

from program import ANYPERF, Case

# An event of each kind: of a model, exact, of the kernel, of both.
EVENTS = ["cycles", "branch-misses", "instructions:u", "page-faults", "context-switches", "syscalls:sys_enter_read"]


def anyperf(*words):
    return subprocess.run([ANYPERF, *map(str, words)], text=True, capture_output=True, timeout=110, check=False)


class ExplainEvents(Case):
    def facts(self, *events):
        result = anyperf("explain", "--json", *events)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["events"]

    def test_the_command_of_each_event_counts_it(self):
        for facts in self.facts(*EVENTS):
            with self.subTest(facts["name"]):
                if not facts["command"]:
                    self.assertEqual((facts["kernel"]["usable"] in ("yes", "user-only"), facts["virtual_pmu"]), (False, "no"))
                    continue
                words = shlex.split(facts["command"].replace("COMMAND", "true"))
                self.assertEqual(words[:2], ["anyperf", "stat"])
                counted = anyperf("stat", "--json", *words[2:])
                self.assertEqual(counted.returncode, 0, counted.stderr)
                self.assertIsInstance(json.loads(counted.stderr)["events"][0]["value"], int, counted.stderr)

    def test_an_event_that_nothing_counts_has_no_command(self):
        facts = self.facts("skl::INST_RETIRED:ANY_P", "instructions:k")
        for event in facts:
            if event["kernel"]["usable"] not in ("yes", "user-only"):
                self.assertEqual((event["virtual_pmu"], event["command"]), ("no", ""), event)

    def test_a_wrong_name_is_refused_as_stat_refuses_it(self):
        explained, counted = anyperf("explain", "cycels"), anyperf("stat", "-e", "cycels", "--", "true")
        self.assertEqual((explained.returncode, explained.stderr), (counted.returncode, counted.stderr))
        self.assertIn("did you mean 'cycles'?", explained.stderr)


if __name__ == "__main__":
    unittest.main()
