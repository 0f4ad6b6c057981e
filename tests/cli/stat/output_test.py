"""What stat prints, and where: tables, fields, JSON, files, intervals, repeats, the gate."""
import json
import re
import unittest

from program import SOFTWARE, Case, stat


def lines_of(result):
    """Fields, without the comment that says who counted."""
    return [line for line in result.stderr.splitlines() if not line.startswith("#")]


class Output(Case):
    def test_default_events_are_those_of_perf(self):
        result = stat("--csv", "--", "true")
        names = [line.split(",")[2].removesuffix(":u") for line in lines_of(result)]
        self.assertEqual(names, ["task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles",
                                 "instructions", "branches", "branch-misses"])

    def test_detail_adds_events(self):
        counts = [len(lines_of(stat("--csv", *["-d"] * times, "--", "true"))) for times in range(4)]
        self.assertEqual(counts, [8, 12, 18, 20])
        self.assertEqual(len(lines_of(stat("--csv", "-ddd", "--", "true"))), 20)

    def test_one_line_below_the_table_tells_why_events_are_not_supported(self):
        result = stat("--kernel", "-e", "task-clock:u,cycles:u,instructions:u,branches:u", "--", "true")
        if "<not supported>" not in result.stderr:
            self.skipTest("this machine has a PMU: everything is supported")
        why = [line for line in result.stderr.splitlines() if line.startswith(" <not supported>")]
        self.assertEqual(len(why), 1, result.stderr)

    def test_events_that_only_happen_in_the_kernel_say_so_where_u_makes_them_zero(self):
        self.assertIn("context-switches:u: always 0", stat("-e", "context-switches:u", "--", "true").stderr)
        self.assertNotIn("always 0", stat("-e", SOFTWARE, "--", "true").stderr)

    def test_duration_time_is_the_time_elapsed(self):
        report = self.objects(stat("--kernel", "--json", "-e", "{page-faults:u,duration_time}", "--", "true").stderr)[0]
        event = self.event(report, "duration_time")
        self.assertEqual((event["value"], event["unit"], event["status"]), (report["wall_ns"], "ns", "counted"))

    def test_metrics_alone_need_counts_that_make_one(self):
        self.assertIn("no event that was counted has a ratio", stat("--metric-only", "-e", SOFTWARE, "--", "true").stderr)
        self.assert_error(stat("--metric-only", "-r", "2", "--", "true"), 125, "--metric-only")

    def test_fields_are_in_perfs_order(self):
        fields = stat("-x", ";", "-e", SOFTWARE, "--", "true").stderr.splitlines()[0].split(";")
        self.assertEqual(len(fields), 7)
        self.assertTrue(fields[0].isdigit())
        self.assertEqual((fields[1], fields[2], fields[4]), ("", "page-faults:u", "100.00"))

    def test_json_is_one_object_of_the_promised_shape(self):
        (report,) = self.objects(stat("--json", "-e", SOFTWARE, "--", "sh", "-c", "exit 4").stderr)
        self.assertEqual(report["command"], ["sh", "-c", "exit 4"])
        self.assertEqual((report["mode"], report["exit"]), ("kernel", 4))
        self.assertGreater(report["wall_ns"], 0)
        event = self.event(report, "page-faults:u")
        self.assertLessEqual({"name", "value", "raw", "enabled_ns", "running_ns", "scaled", "status", "modelled", "unit"},
                             set(event))
        self.assertEqual((event["status"], event["scaled"], event["modelled"]), ("counted", False, False))
        self.assertEqual(event["value"], event["raw"])

    def test_json_tells_what_is_not_supported(self):
        (report,) = self.objects(stat("--json", "-e", "page-faults:u,software/config=0xfff/u", "--", "true").stderr)
        event = report["events"][1]
        self.assertEqual((event["status"], event["value"]), ("not-supported", None))
        self.assertTrue(event["refusal"]["cause"])

    def test_json_holds_words_that_are_not_text(self):
        (report,) = self.objects(stat("--json", "-n", "--", "true", b"\xff\"\n".decode("latin1")).stderr)
        self.assertEqual(len(report["command"]), 2)

    def test_group_without_an_uncountable_member_is_counted(self):
        (report,) = self.objects(stat("--json", "-e", "{software/config=0xfff/u,page-faults:u,minor-faults:u}", "--",
                                      "true").stderr)
        self.assertEqual([event["status"] for event in report["events"]], ["not-supported", "counted", "counted"])

    def test_file_holds_the_results_and_stderr_nothing(self):
        file = self.file("out")
        result = stat("-o", file, "-e", SOFTWARE, "--", "true")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertTrue(file.read_text().startswith("# started on "))

    def test_append_keeps_what_is_there(self):
        file = self.file("out", "before\n")
        stat("-o", file, "--append", "--csv", "-e", SOFTWARE, "--", "true")
        stat("-o", file, "--append", "--csv", "-e", SOFTWARE, "--", "true")
        text = file.read_text()
        self.assertTrue(text.startswith("before\n"))
        self.assertEqual(text.count("page-faults:u"), 2)

    def test_file_that_cannot_be_written_is_told_before_the_command_runs(self):
        mark = self.file("mark")
        self.assert_error(stat("-o", "/no/such/directory/out", "--", "touch", mark), 125, "/no/such/directory/out")
        self.assertFalse(mark.exists())

    def test_intervals_do_not_drift(self):
        lines = stat("-I", "50", "--csv", "-e", "task-clock:u", "--", "sleep", "0.52").stderr.splitlines()
        times = [float(line.split(",")[0]) for line in lines]
        self.assertEqual(times, sorted(times))
        for time in times[:-1]:
            self.assertGreaterEqual(time, 0.05)
        self.assertLessEqual(len(times), 14)
        self.assertEqual(lines[0].split(",")[3], "task-clock:u")

    def test_interval_count_ends_the_printing(self):
        lines = stat("-I", "20", "--interval-count", "2", "--csv", "-e", "task-clock:u", "--", "sleep", "0.3").stderr
        self.assertEqual(len(lines.splitlines()), 2)

    def test_json_intervals_are_an_object_a_line(self):
        reports = self.objects(stat("-I", "30", "--json", "-e", SOFTWARE, "--", "sleep", "0.1").stderr)
        self.assertGreaterEqual(len(reports), 2)
        self.assertLess(reports[0]["interval_at_ns"], reports[1]["interval_at_ns"])

    def test_repeats_have_mean_deviation_and_median(self):
        (report,) = self.objects(stat("-r", "7", "--json", "-e", "page-faults:u", "--", "true").stderr)
        runs = self.event(report, "page-faults:u")["runs"]
        self.assertEqual((report["runs"], len(runs["values"])), (7, 7))
        self.assertAlmostEqual(runs["mean"], sum(runs["values"]) / 7)
        self.assertLessEqual(runs["median_ci"][0], runs["median"])
        self.assertGreaterEqual(runs["confidence"], 0.95)

    def test_repeats_are_announced_in_the_table(self):
        text = stat("-r", "3", "-e", "page-faults:u", "--", "true").stderr
        self.assertIn("(3 runs)", text)
        self.assertRegex(text, r"page-faults:u.*± .*median")

    def test_large_numbers_have_separators_unless_told_otherwise(self):
        script = ["--", "sh", "-c", "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done"]
        self.assertRegex(stat("-e", "page-faults:u", *script).stderr, r" \d,\d{3} +page-faults:u")
        self.assertRegex(stat("--no-big-num", "-e", "page-faults:u", *script).stderr, r" \d{4} +page-faults:u")

    def test_null_measures_time_alone(self):
        text = stat("-n", "--", "true").stderr
        self.assertIn("seconds time elapsed", text)
        self.assertNotIn("not supported", text)

    def test_verbose_explains_each_refusal(self):
        text = stat("-v", "-e", "software/config=0xfff/u,page-faults:u", "--", "true").stderr
        self.assertRegex(text, r"cause: .+")


class Baseline(Case):
    def baseline(self, value):
        report = {"events": [{"name": "page-faults:u", "value": value, "status": "counted"}], "wall_ns": 1}
        return self.file("baseline.json", json.dumps(report))

    def run_gate(self, value, *gate):
        return stat("--baseline", self.baseline(value), *gate, "-e", "page-faults:u", "--", "true")

    def test_differences_are_a_table(self):
        result = self.run_gate(1)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"page-faults:u +1 +\d+ +\+\d+\.\d\d%")

    def test_growth_above_the_limit_is_1(self):
        self.assertEqual(self.run_gate(1, "--fail-above", "5").returncode, 1)
        self.assertEqual(self.run_gate(1, "--fail-above", "5%").returncode, 1)
        self.assertEqual(self.run_gate(1, "--fail-above", "page-faults:u=5").returncode, 1)

    def test_growth_below_the_limit_and_less_is_0(self):
        self.assertEqual(self.run_gate(10**9, "--fail-above", "0").returncode, 0)
        self.assertEqual(self.run_gate(1, "--fail-above", "10000000%").returncode, 0)

    def test_limit_of_one_event_beats_the_general_one(self):
        gates = ["--fail-above", "0", "--fail-above", "page-faults:u=10000000"]
        self.assertEqual(self.run_gate(1, *gates).returncode, 0)

    def test_gate_that_cannot_be_measured_does_not_pass(self):
        result = self.run_gate(1, "--fail-above", "cycles=5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cycles", result.stderr)

    def test_failure_of_the_command_comes_first(self):
        result = stat("--baseline", self.baseline(1), "--fail-above", "1", "-e", "page-faults:u", "--", "sh", "-c", "exit 7")
        self.assertEqual(result.returncode, 7)

    def test_file_of_json_is_a_baseline(self):
        file = self.file("b.json")
        stat("--json", "-o", file, "-e", "page-faults:u", "--", "true")
        result = stat("--baseline", file, "--fail-above", "50", "-e", "page-faults:u", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_json_stays_one_object_with_the_differences_in_it(self):
        (report,) = self.objects(self.run_gate(1, "--fail-above", "5", "--json").stderr)
        difference = report["differences"][0]
        self.assertEqual((difference["name"], difference["baseline"], difference["above"]), ("page-faults:u", 1, True))

    def test_bad_baselines_are_told(self):
        for text in ("", "{", "[]", "{}", '{"events": 3}', '{"events": [1]}', '{"events": [{"value": 1}]}'):
            result = stat("--baseline", self.file("b.json", text), "--", "true")
            self.assert_error(result, 125, "b.json")
        self.assert_error(stat("--baseline", "/no/such/file", "--", "true"), 125, "/no/such/file")


class BadOptions(Case):
    def test_each_is_125_and_says_what_is_wrong(self):
        for words, said in (
                (["-p", "abc"], "abc"), (["-p", "1,,2"], "-p"), (["-t", "-5"], "-5"), (["-C", "0-x", "--", "true"], "0-x"),
                (["-C", "99999999999", "true"], "99999999999"), (["--fail-above", "5", "--", "true"], "--baseline"),
                (["--baseline", "x", "--fail-above", "cycles=abc", "true"], "abc"), (["--append", "true"], "-o"),
                (["--json", "--csv", "true"], "--json"), (["--per-thread", "true"], "--per-thread"),
                (["-r", "3", "-p", "1"], "-r"), (["-e", "", "true"], ""), (["-e", "{cycles", "true"], "{cycles"),
                (["--interval-count", "3", "true"], "-I"), (["-p", "1", "-a"], "-a"), ([], "command")):
            with self.subTest(words=words):
                result = stat(*words)
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertIn(said, result.stderr)

    def test_values_out_of_range_are_125(self):
        for words in (["-r", "0", "true"], ["-r", "x", "true"], ["-I", "-1", "true"], ["-I", "0", "true"],
                      ["--timeout", "abc", "true"], ["-D", "x", "true"], ["--nonsense", "true"], ["-e"]):
            with self.subTest(words=words):
                result = stat(*words)
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertIsNone(re.search("terminate|Assertion", result.stderr))


if __name__ == "__main__":
    unittest.main()
