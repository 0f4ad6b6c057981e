"""The output of stat and where it goes: tables, CSV, JSON, files, intervals, repeats, the regression gate."""
import json
import re
import unittest
from pathlib import Path
from xml.etree import ElementTree

from program import SOFTWARE, Case, stat


def lines_of(result):
    """The lines of CSV output, without the comment that names the counting mode."""
    return [line for line in result.stderr.splitlines() if not line.startswith("#")]


class Output(Case):
    def test_default_events_are_those_of_perf(self):
        result = stat("--kernel", "--csv", "--", "true")
        names = [line.split(",")[2].removesuffix(":u") for line in lines_of(result)]
        self.assertEqual(names, ["task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles",
                                 "instructions", "branches", "branch-misses"])

    def test_detail_adds_events(self):
        counts = [len(lines_of(stat("--kernel", "--csv", *["-d"] * times, "--", "true"))) for times in range(4)]
        self.assertEqual(counts, [8, 12, 18, 20])
        self.assertEqual(len(lines_of(stat("--kernel", "--csv", "-ddd", "--", "true"))), 20)

    def test_one_line_below_the_table_says_why_events_are_not_supported(self):
        result = stat("--kernel", "-e", "task-clock:u,cycles:u,instructions:u,branches:u", "--", "true")
        if "<not supported>" not in result.stderr:
            self.skipTest("this machine has a PMU: everything is supported")
        why = [line for line in result.stderr.splitlines() if line.startswith(" <not supported>")]
        self.assertEqual(len(why), 1, result.stderr)

    def test_events_of_the_kernel_alone_are_marked_always_0_with_modifier_u(self):
        self.assertIn("context-switches:u: always 0", stat("-e", "context-switches:u", "--", "true").stderr)
        self.assertNotIn("always 0", stat("-e", SOFTWARE, "--", "true").stderr)

    def test_duration_time_is_the_time_elapsed(self):
        report = self.objects(stat("--kernel", "--json", "-e", "{page-faults:u,duration_time}", "--", "true").stderr)[0]
        event = self.event(report, "duration_time")
        self.assertEqual((event["value"], event["unit"], event["status"]), (report["wall_ns"], "ns", "counted"))

    def test_metrics_alone_need_counts_with_a_ratio(self):
        self.assertIn("no counted event has a ratio", stat("--metric-only", "-e", SOFTWARE, "--", "true").stderr)
        self.assert_error(stat("--metric-only", "-r", "2", "--", "true"), 125, "--metric-only")

    def test_csv_fields_are_in_the_order_of_perf(self):
        fields = stat("-x", ";", "-e", SOFTWARE, "--", "true").stderr.splitlines()[0].split(";")
        self.assertEqual(len(fields), 7)
        self.assertTrue(fields[0].isdigit())
        self.assertEqual((fields[1], fields[2], fields[4]), ("", "page-faults:u", "100.00"))

    def test_json_is_one_object_with_the_documented_keys(self):
        (report,) = self.objects(stat("--json", "-e", SOFTWARE, "--", "sh", "-c", "exit 4").stderr)
        self.assertEqual(report["command"], ["sh", "-c", "exit 4"])
        self.assertEqual((report["mode"], report["exit"]), ("kernel", 4))
        self.assertGreater(report["wall_ns"], 0)
        event = self.event(report, "page-faults:u")
        self.assertLessEqual({"name", "value", "raw", "enabled_ns", "running_ns", "scaled", "status", "modelled", "unit"},
                             set(event))
        self.assertEqual((event["status"], event["scaled"], event["modelled"]), ("counted", False, False))
        self.assertEqual(event["value"], event["raw"])

    def test_json_has_the_cause_for_an_unsupported_event(self):
        (report,) = self.objects(stat("--json", "-e", "page-faults:u,software/config=0xfff/u", "--", "true").stderr)
        event = report["events"][1]
        self.assertEqual((event["status"], event["value"]), ("not-supported", None))
        self.assertTrue(event["refusal"]["cause"])

    def test_json_accepts_unusual_characters_in_arguments(self):
        (report,) = self.objects(stat("--json", "-n", "--", "true", b"\xff\"\n".decode("latin1")).stderr)
        self.assertEqual(len(report["command"]), 2)

    def test_group_is_counted_without_its_unsupported_member(self):
        (report,) = self.objects(stat("--json", "-e", "{software/config=0xfff/u,page-faults:u,minor-faults:u}", "--",
                                      "true").stderr)
        self.assertEqual([event["status"] for event in report["events"]], ["not-supported", "counted", "counted"])

    def test_results_go_to_the_file_and_not_to_stderr(self):
        file = self.file("out")
        result = stat("-o", file, "-e", SOFTWARE, "--", "true")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertTrue(file.read_text().startswith("# started on "))

    def test_append_keeps_the_previous_contents(self):
        file = self.file("out", "before\n")
        stat("-o", file, "--append", "--csv", "-e", SOFTWARE, "--", "true")
        stat("-o", file, "--append", "--csv", "-e", SOFTWARE, "--", "true")
        text = file.read_text()
        self.assertTrue(text.startswith("before\n"))
        self.assertEqual(text.count("page-faults:u"), 2)

    def test_file_that_cannot_be_written_is_reported_before_the_command_runs(self):
        mark = self.file("mark")
        self.assert_error(stat("-o", "/no/such/directory/out", "--", "touch", mark), 125, "/no/such/directory/out")
        self.assertFalse(mark.exists())

    def test_results_go_to_the_descriptor_of_log_fd(self):
        file = self.file("out", "before\n")
        for append, expected in ((["--append"], ["before"]), ([], [])):
            with open(file, "ab" if append else "wb") as out:
                result = stat("--log-fd", out.fileno(), *append, "--csv", "-e", "page-faults:u", "--", "true",
                              pass_fds=[out.fileno()])
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            lines = file.read_text().splitlines()
            self.assertEqual((lines[:-1], lines[-1].split(",")[2]), (expected, "page-faults:u"))

    def test_descriptors_that_cannot_be_written_are_refused(self):
        self.assert_error(stat("--log-fd", "77", "--", "true"), 125, "descriptor 77", "not open")
        with open("/dev/null", "rb") as null:
            self.assert_error(stat("--log-fd", null.fileno(), "--", "true", pass_fds=[null.fileno()]), 125, "for reading only")
        with open("/dev/full", "wb") as full:
            self.assert_error(stat("--log-fd", full.fileno(), "-n", "--", "true", pass_fds=[full.fileno()]), 125, "No space left")
        self.assert_error(stat("--log-fd", "2", "-o", self.file("out"), "--", "true"), 125, "--log-fd")
        for number in ("0", "-1", "x", "", "99999999999"):
            self.assert_error(stat("--log-fd", number, "--", "true"), 125, "--log-fd")

    def test_quiet_prints_nothing_but_errors(self):
        file = self.file("out")
        for words in ([], ["--csv"], ["--json"], ["-I", "5"], ["-v"], ["-o", file], ["--virtual"]):
            result = stat("--quiet", *words, "-e", "page-faults:u", "--", "sh", "-c", "echo mine; exit 3")
            self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "mine\n", ""), words)
        self.assertFalse(file.exists())
        self.assert_error(stat("--quiet", "-e", "page-fualts", "--", "true"), 125, "page-fualts")

    def test_quiet_keeps_the_status_of_the_gate(self):
        baseline = self.file("b.json", '{"events": [{"name": "page-faults:u", "value": 1}]}')
        result = stat("--quiet", "--baseline", baseline, "--fail-above", "5", "-e", "page-faults:u", "--", "true")
        self.assertEqual((result.returncode, result.stderr), (3, ""))

    def test_summary_is_the_sum_of_the_intervals(self):
        script = ["--", "sh", "-c", "for i in 1 2 3 4; do /bin/true; sleep 0.03; done"]
        words = ["-I", "20", "--summary", "-e", "page-faults:u"]
        *intervals, summary = self.objects(stat(*words, "--json", *script).stderr)
        parts = sum(self.event(report, "page-faults:u")["raw"] or 0 for report in intervals)
        self.assertEqual((self.event(summary, "page-faults:u")["raw"], summary["summary"]), (parts, True))
        self.assertNotIn("interval_at_ns", summary)
        self.assertIn("Performance counter stats for 'sh", stat(*words, *script).stderr)

    def test_summary_has_a_field_of_its_own_in_csv(self):
        words = ["-I", "20", "--summary", "-x,", "-e", "page-faults:u"]
        last = stat(*words, "--", "sleep", "0.05").stderr.splitlines()[-1]
        self.assertRegex(last, r"^         summary,\d+,,page-faults:u,")
        last = stat(*words, "--no-csv-summary", "--", "sleep", "0.05").stderr.splitlines()[-1]
        self.assertRegex(last, r"^\d+,,page-faults:u,")

    def test_summary_needs_intervals(self):
        self.assert_error(stat("--summary", "--", "true"), 125, "-I MS")
        self.assert_error(stat("--no-csv-summary", "-x,", "--", "true"), 125, "--summary")
        self.assert_error(stat("--no-csv-summary", "--summary", "-I", "10", "--", "true"), 125, "-x SEP")

    def test_screen_is_cleared_before_each_interval(self):
        text = stat("-I", "50", "--interval-count", "2", "--interval-clear", "-e", "page-faults:u", "--", "sleep", "1").stderr
        self.assertEqual(text.count("\x1b[H\x1b[2J#"), 2, "each screen has the headings")
        for words in (["--interval-clear"], ["--interval-clear", "-I", "50", "--json"]):
            self.assert_error(stat(*words, "--", "true"), 125, "bad --interval-clear")

    def test_json_has_the_name_that_perf_gives_it(self):
        (report,) = self.objects(stat("--json-output", "-n", "--", "true").stderr)
        self.assertEqual(report["command"], ["true"])

    def test_intervals_do_not_drift(self):
        lines = stat("-I", "50", "--csv", "-e", "task-clock:u", "--", "sleep", "0.52").stderr.splitlines()
        times = [float(line.split(",")[0]) for line in lines]
        self.assertEqual(times, sorted(times))
        for time in times[:-1]:
            self.assertGreaterEqual(time, 0.05)
        # One report an interval, and one at the end, however late a busy machine makes them.
        self.assertLessEqual(len(times), times[-1] / 0.05 + 2)
        self.assertEqual(lines[0].split(",")[3], "task-clock:u")

    def test_interval_count_limits_the_output(self):
        lines = stat("-I", "20", "--interval-count", "2", "--csv", "-e", "task-clock:u", "--", "sleep", "0.3").stderr
        self.assertEqual(len(lines.splitlines()), 2)

    def test_json_intervals_are_one_object_per_line(self):
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

    def test_large_numbers_have_separators_except_with_no_big_num(self):
        script = ["--", "sh", "-c", "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done"]
        self.assertRegex(stat("-e", "page-faults:u", *script).stderr, r" \d,\d{3} +page-faults:u")
        self.assertRegex(stat("--no-big-num", "-e", "page-faults:u", *script).stderr, r" \d{4} +page-faults:u")

    def test_null_measures_time_alone(self):
        text = stat("-n", "--", "true").stderr
        self.assertIn("seconds time elapsed", text)
        self.assertNotIn("not supported", text)

    def test_null_says_in_every_format_that_events_are_ignored(self):
        note = "-n counts no events: -e is ignored"
        ignored = ["-n", "-e", "page-faults:u"]
        self.assertIn(note, stat(*ignored, "--", "true").stderr)
        self.assertEqual(stat(*ignored, "--csv", "--", "true").stderr, f"# {note}\n")
        self.assertEqual(self.objects(stat(*ignored, "--json", "--", "true").stderr)[0]["notes"], [note])
        for form in ([], ["--csv"]):
            self.assertEqual(stat(*ignored, *form, "--metric-only", "--", "true").stderr.count(note), 1)
            self.assertEqual(stat(*ignored, *form, "-I", "10", "--", "sleep", "0.05").stderr.count(note), 1)
        self.assertIn(note, self.objects(stat(*ignored, "--json", "-I", "10", "--", "sleep", "0.05").stderr)[0]["notes"])
        self.assertNotIn("ignored", stat("-n", "--", "true").stderr)

    def test_run_that_a_signal_ended_is_left_out_of_the_statistics(self):
        script = f"echo x >> {self.file('runs')}; [ $(wc -l < {self.file('runs')}) -lt 4 ] || kill -INT $$"
        result = stat("-r", "9", "--json", "-e", "page-faults:u", "--", "sh", "-c", script)
        (report,) = self.objects(result.stderr)
        self.assertEqual((result.returncode, report["runs"], len(report["wall_runs"]["values"])), (-2, 3, 3))
        self.assertEqual(len(self.event(report, "page-faults:u")["runs"]["values"]), 3)
        self.file("runs").unlink()
        self.assertIn("signal 2 ended run 4, which is left out", stat("-r", "9", "-n", "--", "sh", "-c", script).stderr)

    def test_only_run_is_reported_though_a_signal_ended_it(self):
        result = stat("-r", "9", "--json", "-e", "page-faults:u", "--", "sh", "-c", "kill -INT $$")
        self.assertEqual(self.objects(result.stderr)[0]["runs"], 1)

    def test_verbose_explains_each_refusal(self):
        text = stat("-v", "-e", "software/config=0xfff/u,page-faults:u", "--", "true").stderr
        self.assertRegex(text, r"cause: .+")

    def test_verbose_leaves_json_one_object(self):
        words = ("-v", "--json", "-e", "software/config=0xfff/u,page-faults:u")
        report = json.loads(stat(*words, "--", "true").stderr)
        self.assertTrue(any("cause: " in note for note in report["notes"]), report["notes"])
        result = stat(*words, "-o", self.file("out.json"), "--", "true")
        self.assertEqual(json.loads(self.file("out.json").read_text())["command"], ["true"])
        self.assertRegex(result.stderr, r"cause: .+")

    def test_results_go_to_standard_output_if_the_file_is_a_dash(self):
        result = stat("--json", "-o", "-", "-e", "page-faults:u", "--", "true", cwd=self.directory.name)
        self.assertEqual(json.loads(result.stdout)["command"], ["true"])
        self.assertEqual(result.stderr, "")
        self.assertFalse(self.file("-").exists())


class Baseline(Case):
    def baseline(self, value):
        report = {"events": [{"name": "page-faults:u", "value": value, "status": "counted"}], "wall_ns": 1}
        return self.file("baseline.json", json.dumps(report))

    def run_gate(self, value, *gate):
        return stat("--baseline", self.baseline(value), *gate, "-e", "page-faults:u", "--", "true")

    def test_differences_are_printed_as_a_table(self):
        result = self.run_gate(1)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"page-faults:u +1 +\d+ +\+\d+ +\+\d+\.\d\d%")

    def test_growth_above_the_limit_exits_with_3(self):
        self.assertEqual(self.run_gate(1, "--fail-above", "5").returncode, 3)
        self.assertEqual(self.run_gate(1, "--fail-above", "5%").returncode, 3)
        self.assertEqual(self.run_gate(1, "--fail-above", "page-faults:u=5").returncode, 3)

    def test_growth_below_the_limit_exits_with_0(self):
        self.assertEqual(self.run_gate(10**9, "--fail-above", "0").returncode, 0)
        self.assertEqual(self.run_gate(1, "--fail-above", "10000000%").returncode, 0)

    def test_limit_of_one_event_overrides_the_general_one(self):
        gates = ["--fail-above", "0", "--fail-above", "page-faults:u=10000000"]
        self.assertEqual(self.run_gate(1, *gates).returncode, 0)

    def test_limit_of_an_event_that_is_not_counted_is_refused_before_the_run(self):
        result = stat("--baseline", self.baseline(1), "--fail-above", "page-fault:u=5", "-e", "page-faults:u", "--", "touch", self.file("ran"))
        self.assert_error(result, 125, "did you mean 'page-faults:u'")
        self.assertFalse(Path(self.file("ran")).exists())

    def test_gate_that_cannot_be_measured_does_not_pass(self):
        other = self.file("other.json", '{"events": [{"name": "context-switches:u", "value": 1}]}')
        result = stat("--baseline", other, "--fail-above", "page-faults:u=5", "-e", "page-faults:u", "--", "true")
        self.assertEqual(result.returncode, 4)
        self.assertEqual(result.stderr.splitlines()[-1], "anyperf: not comparable: page-faults:u was not counted in both runs")

    def test_last_line_is_the_verdict(self):
        failed = self.run_gate(1, "--fail-above", "5").stderr.splitlines()[-1]
        self.assertRegex(failed, r"^anyperf: gate failed: 1 above its limit: page-faults:u \+\d+\.\d\d% \(\+\d+\), limit 5%$")
        self.assertRegex(self.run_gate(10**9, "--fail-above", "5").stderr.splitlines()[-1], "^anyperf: gate passed: nothing with a limit grew$")

    def test_baseline_is_made_and_updated(self):
        file = Path(self.directory.name) / "new.json"
        words = ["--baseline", file, "--update-baseline", "-e", "page-faults:u", "--"]
        self.assertEqual(stat(*words, "true").returncode, 0)
        first = json.loads(file.read_text())
        self.assertEqual((first["command"], "identity" in first, "differences" in first), (["true"], True, False))
        self.assertEqual(stat(*words, "false").returncode, 1)
        self.assertEqual(json.loads(file.read_text()), first, "a command that fails changes nothing")
        self.assertEqual(stat("--fail-above", "0", *words, "true", "x").returncode, 0)
        self.assertEqual(json.loads(file.read_text())["command"], ["true", "x"])
        self.assertEqual(sorted(path.name for path in file.parent.iterdir() if "new.json" in path.name), ["new.json"])
        self.assert_error(stat("--baseline", "/nonexistent/b.json", "--update-baseline", "-e", "page-faults:u", "--", "true"), 125, "No such file")

    def test_runs_that_differ_in_more_than_the_program_are_not_comparable(self):
        file = self.file("b.json")
        stat("--virtual", "--deterministic", "--json", "-o", file, "-e", "instructions:u", "--", "true", "a", env={"PATH": "/usr/bin:/bin"})

        def gate(*command, options=("--virtual", "--deterministic"), **variables):
            return stat(*options, "--baseline", file, "--fail-above", "90", "-e", "instructions:u", "--", *command,
                        env={"PATH": "/usr/bin:/bin", **variables})
        same = gate("true", "a")
        self.assertEqual(same.returncode, 0, same.stderr)
        for result, expected in ((gate("true", "b"), "the arguments differ: 'true a' then, 'true b' now"),
                                 (gate("echo", "a"), "the command differs"), (gate("true", "a", X="1"), "the environment differs"),
                                 (gate("true", "a", options=("--virtual",)), "the presented machine differs: '--deterministic' then, '' now")):
            with self.subTest(expected):
                self.assertEqual(result.returncode, 4, result.stderr)
                self.assertIn("anyperf: not comparable: ", result.stderr.splitlines()[-1])
                self.assertIn(expected, result.stderr.splitlines()[-1])

    def test_what_repeats_may_not_grow_at_all(self):
        file = self.file("b.json")
        words = ["--virtual", "--deterministic", "-r", "2", "-e", "instructions:u"]
        script = ["--", "sh", "-c", "for i in 1 2 3; do :; done"]
        environment = {"PATH": "/usr/bin:/bin"}
        stat(*words, "--json", "-o", file, *script, env=environment)
        self.assertEqual(stat(*words, "--baseline", file, *script, env=environment).returncode, 0)
        report = json.loads(Path(file).read_text())
        report["events"][0]["value"] -= 1
        Path(file).write_text(json.dumps(report))
        grown = stat(*words, "--baseline", file, *script, env=environment)
        self.assertEqual(grown.returncode, 3)
        self.assertIn("(+1), limit 0%", grown.stderr.splitlines()[-1])

    def test_result_is_written_for_ci_systems(self):
        def report(form, *more):
            path = Path(self.directory.name) / form
            result = self.run_gate(1, "--fail-above", "5", "--gate-report", f"{form}={path}", *more)
            self.assertEqual(result.returncode, 3, result.stderr)
            return path.read_text()
        for times in (1, 2):
            markdown = report("markdown")
            self.assertEqual(markdown.count("### anyperf: `true`"), times, "parts of other steps stay")
        self.assertRegex(markdown, r"\| page-faults:u \| 1 \| \d+ \| \+\d+ \| \*\*\+\d+\.\d\d%\*\* \| 5% \|")
        for line in report("github").splitlines():
            self.assertRegex(line, "^::error title=anyperf::")
        suite = ElementTree.fromstring(report("junit"))
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("1", "1", "0"))
        self.assertEqual(suite.find("testcase").get("name"), "page-faults:u")
        rows = json.loads(report("benchmark"))
        self.assertEqual({row["name"] for row in rows}, {"true: page-faults:u", "true: wall_ns"})
        standard = self.run_gate(1, "--fail-above", "5", "--gate-report", "github=-")
        self.assertTrue(standard.stdout.startswith("::error title=anyperf::true: gate failed"))
        for wrong in ("pdf=x", "markdown", "markdown="):
            self.assert_error(self.run_gate(1, "--gate-report", wrong), 125, "markdown=FILE")
        self.assert_error(self.run_gate(1, "--gate-report", "junit=/nonexistent/x"), 125, "/nonexistent/x")
        self.assert_error(stat("--gate-report", "junit=x", "--", "true"), 125, "--baseline")

    def test_exit_status_of_a_failed_command_takes_precedence(self):
        result = stat("--baseline", self.baseline(1), "--fail-above", "1", "-e", "page-faults:u", "--", "sh", "-c", "exit 7")
        self.assertEqual(result.returncode, 7)

    def test_json_output_file_is_a_valid_baseline(self):
        file = self.file("b.json")
        stat("--json", "-o", file, "-e", "page-faults:u", "--", "true")
        result = stat("--baseline", file, "--fail-above", "50", "-e", "page-faults:u", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_json_with_differences_is_still_one_object(self):
        (report,) = self.objects(self.run_gate(1, "--fail-above", "5", "--json").stderr)
        difference = report["differences"][0]
        self.assertEqual((difference["name"], difference["baseline"], difference["above"]), ("page-faults:u", 1, True))

    def test_csv_has_the_differences_in_comments_alone(self):
        result = self.run_gate(1, "--fail-above", "5", "--csv")
        self.assertEqual(result.returncode, 3)
        self.assertEqual([line.split(",")[2] for line in lines_of(result)], ["page-faults:u"], result.stderr)
        self.assertIn("above 5%", result.stderr)

    def test_csv_file_has_no_differences(self):
        file = self.file("out")
        result = self.run_gate(1, "--csv", "-o", file)
        self.assertIn("difference", result.stderr)
        self.assertNotIn("difference", file.read_text())

    def test_bad_baselines_are_refused(self):
        for text in ("", "{", "[]", "{}", '{"events": 3}', '{"events": [1]}', '{"events": [{"value": 1}]}'):
            result = stat("--baseline", self.file("b.json", text), "--", "true")
            self.assert_error(result, 125, "b.json")
        self.assert_error(stat("--baseline", "/no/such/file", "--", "true"), 125, "/no/such/file")

    def test_baselines_with_other_values_than_counts_are_refused_with_the_place(self):
        for text, cause in (('{"events": [{"name": "a", "value": 1}, {"name": "b", "value": -5}]}', "events[1].value is -5, below 0"),
                            ('{"events": [{"name": "a", "value": "7"}]}', "events[0].value is string, not a number"),
                            ('{"events": [{"name": "a", "value": 7, "runs": {"values": [7, -1]}}]}', "events[0].runs.values[1] is -1"),
                            ('{"events": [], "wall_ns": -1.5}', "wall_ns is -1.5, below 0"),
                            ('{"events": [{"value": 1}]}', "events[0] has no name"),
                            ('{"events":\n  [3,]}', "line 2, column 6"), ('{"events": []} {}', "line 1, column 16")):
            with self.subTest(text=text):
                self.assert_error(stat("--baseline", self.file("b.json", text), "--", "true"), 125, cause)


class BadOptions(Case):
    def test_each_exits_with_125_and_names_the_mistake(self):
        for words, expected in (
                (["-p", "abc"], "abc"), (["-p", "1,,2"], "-p"), (["-t", "-5"], "-5"), (["-C", "0-x", "--", "true"], "0-x"),
                (["-C", "99999999999", "true"], "99999999999"), (["--fail-above", "5", "--", "true"], "--baseline"),
                (["--baseline", "x", "--fail-above", "cycles=abc", "true"], "abc"), (["--append", "true"], "-o"),
                (["--json", "--csv", "true"], "--json"), (["--per-thread", "true"], "--per-thread"),
                (["-C", "0", "--per-thread", "true"], "-C and -G count CPUs"), (["-G", "/", "--per-thread"], "-C and -G count CPUs"),
                (["-a", "--per-thread", "-r", "2", "true"], "other"), (["-a", "-A", "--per-core", "true"], "-A, --per-core"),
                (["-a", "--per-die", "--per-node", "true"], "one line"), (["--per-socket"], "command"),
                (["-r", "3", "-p", "1"], "-r"), (["-e", "", "true"], ""), (["-e", "{cycles", "true"], "{cycles"),
                (["--interval-count", "3", "true"], "-I"), (["-p", "1", "-a"], "-a"), ([], "command")):
            with self.subTest(words=words):
                result = stat(*words)
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertIn(expected, result.stderr)

    def test_values_out_of_range_exit_with_125(self):
        for words in (["-r", "x", "true"], ["-I", "-1", "true"], ["-I", "0", "true"],
                      ["--timeout", "abc", "true"], ["-D", "x", "true"], ["--nonsense", "true"], ["-e"]):
            with self.subTest(words=words):
                result = stat(*words)
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertIsNone(re.search("terminate|Assertion", result.stderr))


if __name__ == "__main__":
    unittest.main()
