"""Counting in user space: --virtual, the fallback where the kernel has no PMU, and what both need: nothing."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from program import ANYPERF, Case, stat

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
SAYS_SO = "counting in user space (virtual PMU): user mode only"

DENIED = Path(__file__).resolve().parents[2] / "support" / "denied.py"

STATIC = """
static void write_all(long bytes) { __asm__ volatile("syscall" :: "a"(231), "D"(bytes)); }
void _start(void) { volatile int sum = 0; for (int i = 0; i < 12345; i++) sum += i; write_all(3); }
"""


def kernel_has_pmu():
    report = json.loads(stat("--kernel", "--json", "-e", "instructions:u", "--", "true").stderr)
    return report["events"][0]["status"] != "not-supported"


class Virtual(Case):
    def report(self, *words, **options):
        return json.loads(stat("--virtual", "--json", *words, **options).stderr)

    def value(self, report, name):
        return self.event(report, name)["value"]

    def test_instructions_of_a_static_program_equal_those_of_run(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler")
        source, program, counts = self.file("p.c", STATIC), self.file("p"), self.file("counts")
        subprocess.run([compiler, "-O1", "-static", "-nostdlib", "-o", program, source], check=True)
        result = subprocess.run([ANYPERF, "run", "--count=instructions", "--count-to", counts, "--", program],
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, 3, result.stderr)
        counted = json.loads(counts.read_text())["total"]["instructions"]
        self.assertGreater(counted, 12345)
        self.assertEqual(self.value(self.report("-e", "instructions:u", "--", program), "instructions:u"), counted)

    def test_it_is_said_in_one_line(self):
        text = stat("--virtual", "-e", "instructions", "--", "true").stderr
        self.assertEqual(text.splitlines()[0], "anyperf: " + SAYS_SO)
        self.assertEqual(text.count("counting in user space"), 1)

    def test_table_marks_what_is_virtual_and_what_is_modelled(self):
        text = stat("--virtual", "-e", "instructions,cycles", "--", "true").stderr
        self.assertIn("'true' (virtual PMU: user space only):", text)
        self.assertRegex(text, r"\d +cycles +\(modelled\)")
        self.assertNotRegex(text, r" instructions .*\(modelled\)")

    def test_json_has_the_mode_and_marks_modelled_events(self):
        report = self.report("-e", "cycles,instructions,ref-cycles,bus-cycles,page-faults", "--", "true")
        self.assertEqual(report["mode"], "virtual")
        self.assertEqual({event["name"]: event["modelled"] for event in report["events"]},
                         {"cycles": True, "instructions": False, "ref-cycles": True, "bus-cycles": True,
                          "page-faults": False})
        self.assertTrue(self.event(report, "instructions")["user_only"])

    def test_fields_stay_as_they_are(self):
        lines = stat("--virtual", "--csv", "-e", "instructions,cycles", "--", "true").stderr.splitlines()
        self.assertEqual([line.split(",")[2] for line in lines], ["instructions", "cycles"])
        self.assertEqual({len(line.split(",")) for line in lines}, {7})

    def test_file_leaves_the_line_on_standard_error(self):
        file = self.file("out")
        text = stat("--virtual", "--json", "-o", file, "-e", "instructions", "--", "true").stderr
        self.assertEqual(text, "anyperf: " + SAYS_SO + "\n")
        self.assertEqual(json.loads(file.read_text())["mode"], "virtual")

    def test_metrics_alone(self):
        text = stat("--virtual", "--metric-only", "-e", "cycles,instructions,page-faults", "--", "true").stderr
        self.assertRegex(text, r"\n +insn per cycle\n +\d\.\d\d\n")
        self.assertNotIn("page-faults", text)
        lines = stat("--virtual", "--metric-only", "--csv", "-e", "cycles,instructions", "--", "true").stderr.splitlines()
        self.assertEqual(lines[0], "insn per cycle")
        self.assertGreater(float(lines[1]), 0)
        report = self.report("--metric-only", "-e", "cycles,instructions", "--", "true")
        self.assertEqual([event["name"] for event in report["events"]], ["instructions"])

    def test_counts_are_the_same_each_time(self):
        report = self.report("--deterministic", "-r", "3", "-e", "instructions:u", "--", "true", env={})
        self.assertEqual(len(self.event(report, "instructions:u")["runs"]["values"]), 3)
        once, again = (self.value(self.report("--deterministic", "-e", "instructions:u", "--", "true", env={}),
                                  "instructions:u") for _ in range(2))
        self.assertEqual(once, again)

    def test_groups_count_together(self):
        report = self.report("-e", "{instructions,branches},{branch-misses,cycles}", "--", "true")
        values = {event["name"]: event["value"] for event in report["events"]}
        self.assertGreater(values["instructions"], values["branches"])
        self.assertIsNone(values["branch-misses"])
        self.assertGreater(values["cycles"], 0)

    def test_children_are_counted(self):
        one = self.value(self.report("-e", "instructions:u", "--", "sh", "-c", "/bin/true; :"), "instructions:u")
        four = self.value(self.report("-e", "instructions:u", "--", "sh", "-c",
                                      "/bin/true; /bin/true; /bin/true; /bin/true; :"), "instructions:u")
        self.assertGreater(four, one * 2)

    def test_intervals_add_up(self):
        script = ["--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]
        reports = self.objects(stat("--virtual", "-I", "20", "--json", "-e", "instructions:u", *script).stderr)
        self.assertGreaterEqual(len(reports), 2)
        parts = sum(report["events"][0]["value"] or 0 for report in reports)
        whole = self.value(self.report("-e", "instructions:u", *script), "instructions:u")
        self.assertLess(abs(parts - whole), whole / 100)

    def test_missing_events_say_what_the_virtual_pmu_lacks(self):
        report = self.report("-e", "branch-misses,instructions:k", "--", "true")
        self.assertIn("virtual PMU", report["events"][0]["refusal"]["cause"])
        self.assertIn("user mode only", report["events"][1]["refusal"]["cause"])

    def test_one_line_says_it_for_all_missing_events(self):
        result = stat("--virtual", "-e", "branch-misses,LLC-loads,L1-dcache-load-misses", "--", "true")
        lines = [line for line in result.stderr.splitlines() if line.startswith(" <not supported>:")]
        self.assertEqual(lines, [" <not supported>: the virtual PMU counts what retires in user mode, and has no model of caches or branch"
                                 " prediction; a machine whose kernel has a PMU counts it"])

    def test_few_counters_are_not_enough_for_all_events_all_the_time(self):
        report = self.report("--counters", "1", "-e", "branches,r02c4,r08c4", "--", "true")
        self.assertTrue(all(event["running_ns"] == event["enabled_ns"] for event in
                            self.report("-e", "branches,r02c4,r08c4", "--", "true")["events"]))
        self.assertTrue(any(event["running_ns"] < event["enabled_ns"] for event in report["events"]), report)

    def test_streams_and_exit_status_are_the_commands(self):
        result = stat("--virtual", "-e", "instructions", "--", "sh", "-c", "cat; exit 7", input="through\n")
        self.assertEqual((result.returncode, result.stdout), (7, "through\n"))

    def test_death_by_a_signal_is_passed_on_with_the_counts(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            result = stat("--virtual", "--json", "-e", "instructions:u", "--", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(result.returncode, -number)
            self.assertGreater(json.loads(result.stderr)["events"][0]["value"], 10_000)

    def test_signal_to_stat_alone_goes_to_the_command(self):
        process = subprocess.Popen([ANYPERF, "stat", "--virtual", "-e", "instructions", "--", "sh", "-c",
                                    "trap 'echo got; exit 9' TERM; echo ready; while :; do sleep 0.05; done"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (9, "got\n"))
        self.assertIn("instructions", err)

    def test_counts_are_printed_after_an_interrupt(self):
        process = subprocess.Popen([ANYPERF, "stat", "--virtual", "-e", "instructions", "--", "sh", "-c",
                                    "echo ready; while :; do sleep 0.05; done"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertRegex(err, r"\d +instructions")

    def test_timeout_ends_the_command(self):
        start = time.monotonic()
        result = stat("--virtual", "-e", "instructions", "--timeout", "200", "--", "sleep", "30")
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(result.returncode, 0)

    def test_commands_that_cannot_be_run_are_127_and_126(self):
        result = stat("--virtual", "--", "anyperf-no-such-command")
        self.assertEqual(result.returncode, 127)
        self.assertIn("anyperf-no-such-command", result.stderr)
        self.assertEqual(stat("--virtual", "--", self.file("text", "hello")).returncode, 126)

    def test_others_than_a_command_are_refused(self):
        for words in (["-p", "1"], ["-a", "--", "true"], ["-C", "0", "--", "true"]):
            self.assert_error(stat("--virtual", *words), 125, "--virtual -- COMMAND")

    def test_contradictions_are_refused(self):
        self.assert_error(stat("--virtual", "--kernel", "--", "true"), 125, "--kernel")
        self.assert_error(stat("--kernel", "--counters", "4", "--", "true"), 125, "--kernel")
        self.assert_error(stat("--inside", "--", "true"), 125, "--inside")
        self.assert_error(stat("--cpu-model", "abacus", "--", "true"), 125, "abacus", "skx", "skl", "host")


class Fallback(Case):
    def setUp(self):
        super().setUp()
        if kernel_has_pmu():
            self.skipTest("this machine has a PMU: the kernel counts")

    def test_default_events_are_counted_and_the_reason_is_said(self):
        text = stat("--", "true").stderr
        self.assertEqual(text.splitlines()[0], "anyperf: this machine has no hardware PMU: " + SAYS_SO)
        self.assertRegex(text, r"\d +instructions")

    def test_fields_end_with_a_comment_that_says_so(self):
        lines = stat("--csv", "-e", "instructions", "--", "true").stderr.splitlines()
        self.assertEqual(lines[0].split(",")[2], "instructions")
        self.assertEqual(lines[1:], ["# anyperf: this machine has no hardware PMU: " + SAYS_SO])
        self.assertNotIn(",", lines[1])

    def test_json_has_the_reason(self):
        (report,) = self.objects(stat("--json", "-e", "instructions", "--", "true").stderr)
        self.assertEqual((report["mode"], report["mode_reason"]), ("virtual", "this machine has no hardware PMU"))

    def test_fields_of_the_virtual_pmu_can_be_named(self):
        (report,) = self.objects(stat("--json", "-e", "cpu/event=0xc0/,cpu/branch-instructions/u", "--", "true").stderr)
        self.assertEqual([event["status"] for event in report["events"]], ["counted", "counted"])
        self.assert_error(stat("-e", "cpu/evnt=0xc0/", "--", "true"), 125, "cpu", "--virtual")

    def test_baseline_of_the_kernel_is_not_taken_for_one_of_user_space(self):
        before = self.file("before", '{"mode": "kernel", "events": [{"name": "instructions", "value": 5}]}')
        result = stat("--baseline", before, "-e", "instructions", "--", "true")
        self.assertIn("the baseline was counted by the kernel, this run in user space", result.stderr)
        (report,) = self.objects(stat("--json", "--baseline", before, "-e", "instructions", "--", "true").stderr)
        self.assertEqual((report["mode"], report["baseline_mode"]), ("virtual", "kernel"))

    def test_kernel_is_left_alone_where_it_can_count(self):
        result = stat("-e", "page-faults:u,task-clock:u", "--", "true")
        self.assertNotIn("user space", result.stderr)

    def test_kernel_is_forced(self):
        (report,) = self.objects(stat("--kernel", "--json", "-e", "instructions", "--", "true").stderr)
        self.assertEqual((report["mode"], report["events"][0]["status"]), ("kernel", "not-supported"))

    def test_processes_are_not_started_again(self):
        text = stat("-e", "instructions", "-p", str(os.getpid()), "--", "true").stderr
        self.assertIn("anyperf stat -- COMMAND", text)
        self.assertIn("<not supported>", text)


class NeedsNothing(Case):
    def assert_counts(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stderr)
        self.assertEqual(report["mode"], "virtual")
        self.assertGreater(self.event(report, "instructions:u")["value"], 10_000)

    def test_no_rights(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        self.assert_counts(stat("--virtual", "--json", "-e", "instructions:u", "--", "true", cwd="/", **NOBODY))
        (report,) = self.objects(stat("--virtual", "--json", "-e", "instructions", "--", "true", cwd="/", **NOBODY).stderr)
        self.assertEqual(report["events"][0]["name"], "instructions")

    def test_no_new_privileges(self):
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv")
        self.assert_counts(subprocess.run(["setpriv", "--no-new-privs", ANYPERF, "stat", "--virtual", "--json", "-e",
                                           "instructions:u", "--", "true"], text=True, capture_output=True, check=False))

    def test_no_perf_event_open(self):
        result = subprocess.run([sys.executable, str(DENIED), "298", ANYPERF, "stat", "--json", "-e", "instructions:u",
                                 "--", "true"], text=True, capture_output=True, check=False)
        self.assert_counts(result)


class Nested(Case):
    def run_inside(self, *words):
        return subprocess.run([ANYPERF, "run", "--", ANYPERF, *words], text=True, capture_output=True, timeout=60,
                              check=False)

    def test_stat_in_a_run_counts_by_its_virtual_pmu(self):
        for force in ([], ["--virtual"]):
            (report,) = self.objects(self.run_inside("stat", *force, "--json", "-e", "instructions:u", "--", "true").stderr)
            self.assertEqual((report["mode"], report["events"][0]["status"]), ("virtual", "counted"))

    def test_stat_in_a_run_cannot_leave_it(self):
        self.assert_error(self.run_inside("stat", "--kernel", "--", "true"), 125, "anyperf run")
        self.assert_error(self.run_inside("stat", "--counters", "4", "--", "true"), 125, "first anyperf run")

    def test_run_in_a_run_runs_the_command(self):
        result = self.run_inside("run", "--", "sh", "-c", "echo here; exit 5")
        self.assertEqual((result.returncode, result.stdout), (5, "here\n"))
        self.assert_error(self.run_inside("run", "--", "anyperf-no-such-command"), 127, "anyperf-no-such-command")

    def test_run_in_a_run_that_counts_is_refused(self):
        self.assert_error(self.run_inside("run", "--count", "--", "true"), 125, "run in a run", "anyperf stat")


if __name__ == "__main__":
    unittest.main()
