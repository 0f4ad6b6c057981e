"""`anyperf list` in a run, where the virtual PMU is the only one, on each machine the same."""
import json
import subprocess
import unittest

from program import ANYPERF, Case


def list_in_run(*words):
    return subprocess.run([ANYPERF, "run", "--", ANYPERF, "list", *words], text=True, capture_output=True, timeout=110, check=True).stdout


class InARun(Case):
    def events(self, *words):
        return {event["name"]: event for event in json.loads(list_in_run("--json", *words))["events"]}

    def test_modelled_counts_are_marked_whichever_name_they_have(self):
        events = self.events("cycles", "unhalted_core_cycles", "cpu_clk_unhalted.thread", "instructions", "inst_retired.any")
        for name in ("cpu-cycles", "UNHALTED_CORE_CYCLES", "cpu_clk_unhalted.thread"):
            self.assertIs(events[name].get("modelled"), True, name)
        for name in ("instructions", "inst_retired.any"):
            self.assertNotIn("modelled", events[name])

    def test_counts_of_caches_name_the_machine(self):
        events = self.events("cache-misses", "mem_load_retired.l3_miss")
        [machine] = {event.get("machine") for event in events.values()}
        self.assertIn(machine, ("skx", "skl"))  # by whether this CPU has AVX-512

    def test_vendor_names_that_the_virtual_pmu_lacks_are_not_supported(self):
        events = self.events("BACLEARS", "inst_retired.any", "hle_retired.start")
        self.assertEqual({name: events[name]["usable"] for name in ("BACLEARS", "inst_retired.any", "hle_retired.start")},
                         {"BACLEARS": "unsupported", "inst_retired.any": "yes", "hle_retired.start": "unsupported"})

    def test_advice_for_a_refused_event_is_not_the_list_that_gives_it(self):
        text = list_in_run("LLC-prefetches")
        self.assertIn("not supported", text)
        self.assertNotIn("anyperf list shows", text)
        self.assertIn("fix: ", text)


if __name__ == "__main__":
    unittest.main()
