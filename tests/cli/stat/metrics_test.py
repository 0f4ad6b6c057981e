"""-M: metrics of perf's lists, computed from the events that were counted for them. Most run with the virtual PMU, which has the same
events on every machine."""
import json
import re
import shutil
import subprocess
import unittest

from program import ANYPERF, Case, stat

IPC = "tma_info_thread_ipc"
IPTB = "tma_info_inst_mix_iptb"
VIRTUAL = ("--virtual", "--cpu-model", "skl")


def metrics_of_the_list(*words):
    listed = subprocess.run([ANYPERF, "list", "--json", "metrics", *words], text=True, capture_output=True, check=False)
    return json.loads(listed.stdout)["metrics"] if listed.returncode == 0 else []


class Metrics(Case):
    def report(self, *words, command=("true",)):
        result = stat("--json", *words, "--", *command)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.objects(result.stderr)

    def value(self, report, event):
        return self.event(report, event)["value"]

    def metric(self, report, name):
        return next(metric for metric in report["metrics"] if metric["name"] == name)

    def test_metric_is_the_formula_of_the_events_counted_in_the_same_run(self):
        (report,) = self.report(*VIRTUAL, "-M", f"{IPC},{IPTB}")
        instructions = self.value(report, "INST_RETIRED.ANY")
        self.assertAlmostEqual(self.metric(report, IPC)["value"], instructions / self.value(report, "CPU_CLK_UNHALTED.THREAD"))
        self.assertAlmostEqual(self.metric(report, IPTB)["value"], instructions / self.value(report, "BR_INST_RETIRED.NEAR_TAKEN"))
        self.assertEqual((self.metric(report, IPC)["modelled"], self.metric(report, IPTB)["modelled"]), (True, False))

    def test_metrics_are_beside_their_first_event_in_the_table(self):
        text = stat(*VIRTUAL, "-M", f"{IPC},tma_info_thread_cpi", "--", "true").stderr
        self.assertRegex(text, rf"INST_RETIRED\.ANY +# +\d+\.\d\d {IPC} \(modelled\)\n")
        self.assertRegex(text, r"CPU_CLK_UNHALTED\.THREAD +# +\d+\.\d\d tma_info_thread_cpi|\n +# +\d+\.\d\d tma_info_thread_cpi")

    def test_csv_has_the_fields_of_perf(self):
        lines = stat(*VIRTUAL, "-x,", "-M", IPC, "--", "true").stderr.splitlines()
        self.assertRegex(lines[0], rf"^\d+,,INST_RETIRED\.ANY,\d+,100\.00,\d+\.\d\d,{IPC} \(modelled\)$")

    def test_metric_only_prints_the_metrics_alone(self):
        heading, values = stat(*VIRTUAL, "-x,", "--metric-only", "-M", f"{IPC},{IPTB}", "--", "true").stderr.splitlines()
        self.assertEqual(set(heading.split(",")), {f"{IPC} (modelled)", IPTB})
        self.assertRegex(values, r"^\d+\.\d\d,\d+\.\d\d$")

    def test_events_of_e_are_counted_besides(self):
        (report,) = self.report(*VIRTUAL, "-e", "branches:u", "-M", IPC)
        self.assertEqual([event["name"] for event in report["events"]],
                         ["branches:u", "INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD"])

    def test_runs_are_averaged_before_the_formula(self):
        (report,) = self.report(*VIRTUAL, "-r", "3", "-M", IPC)
        ratio = self.value(report, "INST_RETIRED.ANY") / self.value(report, "CPU_CLK_UNHALTED.THREAD")
        self.assertAlmostEqual(self.metric(report, IPC)["value"], ratio)

    def test_each_interval_has_its_own_value(self):
        reports = self.report(*VIRTUAL, "-I", "20", "-M", IPC, command=("sh", "-c", "for i in 1 2 3; do sleep 0.03; done"))
        self.assertGreater(len(reports), 2)
        for report in reports:
            if self.value(report, "CPU_CLK_UNHALTED.THREAD"):
                ratio = self.value(report, "INST_RETIRED.ANY") / self.value(report, "CPU_CLK_UNHALTED.THREAD")
                self.assertAlmostEqual(self.metric(report, IPC)["value"], ratio)
            else:
                self.assertIsNone(self.metric(report, IPC)["value"])

    def test_each_cpu_and_core_has_its_own_value(self):
        for option in ("-A", "--per-core"):
            (report,) = self.report(*VIRTUAL, option, "-M", IPC)
            places = {event["where"] for event in report["events"]}
            self.assertEqual([metric["where"] for metric in report["metrics"]], sorted(places), option)
            for place in places:
                counts = {event["name"]: event["value"] for event in report["events"] if event["where"] == place}
                value = next(metric["value"] for metric in report["metrics"] if metric["where"] == place)
                if counts["CPU_CLK_UNHALTED.THREAD"]:
                    self.assertAlmostEqual(value, counts["INST_RETIRED.ANY"] / counts["CPU_CLK_UNHALTED.THREAD"])

    def test_group_means_its_metrics_that_can_be_computed(self):
        (report,) = self.report(*VIRTUAL, "-M", "Ret")
        self.assertIn(IPC, [metric["name"] for metric in report["metrics"]])
        self.assertTrue(any(note.startswith("-M Ret leaves out") for note in report["notes"]), report)

    def test_metrics_share_events_unless_told_otherwise(self):
        names = f"{IPC},tma_info_thread_cpi"
        counts = [len(self.report(*VIRTUAL, *words, "-M", names)[0]["events"]) for words in ([], ["--metric-no-merge"])]
        self.assertEqual(counts, [2, 4])

    def test_modifiers_apply_to_the_events(self):
        (report,) = self.report(*VIRTUAL, "-M", f"{IPC}:u")
        self.assertEqual(report["events"][0]["name"], "INST_RETIRED.ANY:u")
        self.assert_error(stat(*VIRTUAL, "-M", f"{IPC}:z", "--", "true"), 125, "'z' is not a modifier")

    def test_metric_with_an_event_that_the_virtual_pmu_lacks_is_refused(self):
        self.assert_error(stat(*VIRTUAL, "-M", "tma_ports_utilized_0", "--", "true"), 125, "tma_ports_utilized_0",
                          "the virtual PMU has no")
        self.assert_error(stat(*VIRTUAL, "-M", "tma_info_system_kernel_cpi", "--", "true"), 125, "user mode only")

    def test_unknown_metric_has_a_suggestion(self):
        self.assert_error(stat(*VIRTUAL, "-M", "tma_info_thread_ipd", "--", "true"), 125, f"'{IPC}'")
        self.assert_error(stat(*VIRTUAL, "-M", "", "--", "true"), 125, "no metric")

    def test_options_that_contradict_are_refused(self):
        self.assert_error(stat("-n", "-M", IPC, "--", "true"), 125, "-M")
        self.assert_error(stat("--topdown", "-M", IPC, "--", "true"), 125, "-M")
        self.assert_error(stat("--metric-no-group", "--", "true"), 125, "-M METRIC")
        self.assert_error(stat("-G", "a,b", "-M", IPC, "--", "true"), 125, "--for-each-cgroup")

    def test_list_metrics_agrees_with_what_is_computed(self):
        listed = metrics_of_the_list()
        if not listed:
            self.skipTest("perf's lists have no metrics for this machine's CPU")
        taken = [metric for metric in listed if "missing_event" not in metric]
        refused = [metric for metric in listed if "missing_event" in metric]
        first_names = {metric["name"].lower(): metric for metric in reversed(listed)}
        if taken:
            (report,) = self.report("-M", ",".join(metric["name"] for metric in taken))
            self.assertEqual({metric["name"] for metric in report["metrics"]}, {metric["name"] for metric in taken})
        for metric in refused[:3]:
            if "missing_event" in first_names[metric["name"].lower()]:
                self.assert_error(stat("-M", metric["name"], "--", "true"), 125, metric["missing_event"])


@unittest.skipUnless(shutil.which("perf"), "perf is not installed")
class PerfInARun(Case):
    """perf itself computes the same from the same events. Its lists are older: metrics have other names."""

    def test_ipc_is_that_of_perf(self):
        words = ["-x,", "--", "true"]
        its = subprocess.run([ANYPERF, "run", "--cpu-model", "skl", "--", "perf", "stat", "-M", "IPC", *words], text=True,
                             capture_output=True, check=False).stderr
        found = re.search(r"^\d+,,INST_RETIRED.ANY(?::u)?,\d+,100.00,(\d+\.\d\d),IPC$", its, re.MULTILINE)
        if found is None:
            self.skipTest(f"this perf has no such metric: {its}")
        ours = stat(*VIRTUAL, "-x,", "-M", IPC, "--", "true").stderr
        # perf's run of `true` has the same instructions but for its environment
        self.assertAlmostEqual(float(re.search(rf",(\d+\.\d\d),{IPC}", ours)[1]), float(found[1]), delta=0.1)


if __name__ == "__main__":
    unittest.main()
