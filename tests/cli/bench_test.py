"""`anyperf bench` counts the commands of a TOML file, and compares them with a baseline."""
import json
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from program import ANYPERF, Case

LOOP = "i=0; while [ $i -lt {} ]; do i=$((i + 1)); done"


class Bench(Case):
    def bench(self, *words, **options):
        return subprocess.run([ANYPERF, "bench", *map(str, words)], text=True, capture_output=True, timeout=300, check=False,
                              cwd=self.directory.name, **options)

    def toml(self, text, name="anyperf.toml"):
        return self.file(name, text)

    def loops(self, **rounds):
        """A file with a bench for each name, a loop of the shell."""
        self.toml("".join(f"[[bench]]\nname = \"{name}\"\ncommand = \"{LOOP.format(count)}\"\n" for name, count in rounds.items()))


class Counts(Bench):
    def test_each_bench_has_its_counts_and_repeats(self):
        self.toml('events = ["instructions:u", "branches:u"]\n[[bench]]\nname = "few"\ncommand = ["/bin/sh", "-c", "true"]\n'
                  f'[[bench]]\nname = "many"\ncommand = "{LOOP.format(1000)}"\nevents = ["instructions:u"]\nruns = 3\n')
        result = self.bench("--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        few, many = json.loads(result.stdout)["benches"]
        self.assertEqual([few["end"], few["repeats"]], ["measured", True])
        self.assertEqual([event["name"] for event in few["report"]["events"]], ["instructions:u", "branches:u"])
        self.assertEqual(len(self.event(many["report"], "instructions:u")["runs"]["values"]), 3)
        self.assertGreater(self.event(many["report"], "instructions:u")["value"],
                           self.event(few["report"], "instructions:u")["value"])

    def test_counts_are_those_of_stat_in_the_same_environment(self):
        self.loops(loop=100)
        (measured,) = json.loads(self.bench("--json").stdout)["benches"]
        direct = subprocess.run([ANYPERF, "stat", "--virtual", "--deterministic", "--seed", "0", "-j", "-e", "instructions:u", "--",
                                 "/bin/sh", "-c", LOOP.format(100)], capture_output=True, text=True, env={}, check=True,
                                cwd=self.directory.name, stdin=subprocess.DEVNULL, stdout=None)
        self.assertEqual(self.event(measured["report"], "instructions:u")["value"],
                         self.event(json.loads(direct.stderr), "instructions:u")["value"])

    def test_environment_directory_input_and_setup_are_those_of_the_file(self):
        self.file("work").mkdir()
        self.toml('directory = "work"\nenvironment = { BOTH = "1", OURS = "top" }\n[[bench]]\nname = "a"\n'
                  'environment = { OURS = "bench" }\ninput = "words.txt"\nsetup = "echo made > made.txt"\n'
                  'command = "/usr/bin/env > seen.txt; read line; echo $line >> seen.txt; read line < made.txt; echo $line >> seen.txt"\n')
        self.file("words.txt", "from the file\n")
        result = self.bench(env={"PATH": "/usr/bin:/bin", "HIDDEN": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        seen = self.file("work/seen.txt").read_text().splitlines()
        self.assertIn("BOTH=1", seen)
        self.assertIn("OURS=bench", seen)
        self.assertNotIn("HIDDEN=1", seen)
        self.assertEqual(seen[-2:], ["from the file", "made"])

    def test_filter_and_list_choose_benches(self):
        self.loops(sort_small=1, sort_large=2, parse=3)
        self.assertEqual(self.bench("--list").stdout, "sort_small\nsort_large\nparse\n")
        names = [bench["name"] for bench in json.loads(self.bench("--json", "--filter", "sort_*").stdout)["benches"]]
        self.assertEqual(names, ["sort_small", "sort_large"])
        self.assert_error(self.bench("--filter", "parze"), 125, "no bench is called parze", "did you mean 'parse'")

    def test_counts_that_differ_name_the_first_thread(self):
        # The number of the process, which no seed fixes without turns, decides how much the command does.
        text = 'turns = {}\n[[bench]]\nname = "unsteady"\ncommand = "i=0; while [ $i -lt $(($$ % 997)) ]; do i=$((i + 1)); done"\n'
        self.toml(text.format("true"))
        self.assertTrue(json.loads(self.bench("--json").stdout)["benches"][0]["repeats"])
        self.toml(text.format("false"))
        result = self.bench("--json")
        self.assertEqual(result.returncode, 4, result.stderr)
        (bench,) = json.loads(result.stdout)["benches"]
        self.assertEqual([bench["end"], bench["repeats"]], ["not repeatable", False])
        self.assertRegex(bench["first_difference"], r"^thread 1 of process 1 \(sh\): \d+ instructions, then \d+$")


class Baseline(Bench):
    def begin(self, **rounds):
        self.loops(**rounds)
        result = self.bench("--baseline", "counts.json", "--update-baseline")
        self.assertEqual(result.returncode, 0, result.stderr)

    def ends(self, *words):
        result = self.bench("--baseline", "counts.json", "--json", *words)
        return result.returncode, {bench["name"]: bench["end"] for bench in json.loads(result.stdout)["benches"]}

    def test_one_more_round_is_above_the_limit(self):
        self.begin(same=50, grows=50, shrinks=50)
        self.assertEqual(self.ends(), (0, {"same": "passed", "grows": "passed", "shrinks": "passed"}))
        self.loops(same=50, grows=51, shrinks=49)
        status, ends = self.ends()
        # The command line is part of the identity of a run, so a changed command is not comparable.
        self.assertEqual((status, ends["same"], ends["grows"]), (4, "passed", "not comparable"))

    def test_growth_of_the_program_is_above_the_limit_and_a_limit_may_allow_it(self):
        script = self.file("work.sh", f"#!/bin/sh\n{LOOP.format(50)}\n", 0o755)
        self.toml('baseline = "counts.json"\n[[bench]]\nname = "a"\ncommand = ["./work.sh"]\n')
        self.assertEqual(self.bench("--update-baseline").returncode, 0)
        script.write_text(f"#!/bin/sh\n{LOOP.format(51)}\n")
        result = self.bench()
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"a: gate failed: 1 above its limit: instructions:u \+\d")
        self.assertIn("1 bench: 1 above its limit", result.stderr)
        self.toml('baseline = "counts.json"\nlimit = "5%"\n[[bench]]\nname = "a"\ncommand = ["./work.sh"]\n')
        self.assertEqual(self.bench().returncode, 0)

    def test_update_of_some_keeps_the_others(self):
        self.begin(one=10, two=10)
        before = {bench["name"]: bench for bench in json.loads(self.file("counts.json").read_text())["benches"]}
        self.assertEqual(self.bench("--baseline", "counts.json", "--update-baseline", "--filter", "one").returncode, 0)
        after = {bench["name"]: bench for bench in json.loads(self.file("counts.json").read_text())["benches"]}
        self.assertEqual(sorted(after), ["one", "two"])
        self.assertEqual(after["two"], before["two"])

    def test_a_bench_that_the_baseline_lacks_is_new(self):
        self.begin(old=10)
        self.loops(old=10, added=10)
        self.assertEqual(self.ends(), (0, {"old": "passed", "added": "new"}))

    def test_reports_have_each_bench(self):
        self.begin(one=10)
        self.loops(one=10, two=10)
        result = self.bench("--baseline", "counts.json", "--report", "junit=j.xml", "--report", "markdown=s.md", "--report",
                            "github=g.txt", "--report", "json=r.json", "--report", "benchmark=b.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        suite = ElementTree.parse(self.file("j.xml")).getroot()
        self.assertEqual([case.get("name") for case in suite], ["one", "two"])
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("2", "0", "0"))
        self.assertIn("| one | instructions:u |", self.file("s.md").read_text())
        self.assertIn("::notice title=anyperf bench::2 benches: 1 passed, 1 new", self.file("g.txt").read_text())
        self.assertEqual(len(json.loads(self.file("r.json").read_text())["benches"]), 2)
        self.assertEqual(json.loads(self.file("b.json").read_text())[0]["name"], "one: instructions:u")


class BadInput(Bench):
    def assert_refused(self, text, *words):
        self.toml(text)
        self.assert_error(self.bench(), 125, *words)

    def test_errors_name_line_column_and_fix(self):
        bench = '[[bench]]\nname = "a"\n'
        self.assert_refused(bench + "command = ", "line 3, column", "not valid TOML")
        self.assert_refused(bench, "line 1, column 1", "bench 'a' has no command")
        self.assert_refused(bench + 'comand = "ls"\n', "line 3, column 1", "no key 'comand'", "did you mean 'command'")
        self.assert_refused(bench + 'command = "ls"\nruns = 1\n', "line 4, column 8", "runs is not a whole number from 2")
        self.assert_refused(bench + 'command = "ls"\nlimit = "much"\n', "line 4", "a limit is not a percentage")
        self.assert_refused(bench + 'command = "ls"\nlimit = -1\n', "a limit is not a percentage")
        self.assert_refused('[[bench]]\nnmae = "a"\ncommand = "ls"\n', "line 2, column 1", "no key 'nmae'", "did you mean 'name'")
        self.assert_refused(bench + 'command = []\n', "command is not a list of strings")
        self.assert_refused(bench + 'command = ["ls", "a\\u0000b"]\n', "contains a zero byte")
        self.assert_refused(bench + 'command = "ls"\n' + bench + 'command = "ls"\n', "there are two benches 'a'")
        self.assert_refused('command = "ls"\n', "no key 'command' at the top level")
        self.assert_refused("", "it has no [[bench]]")
        self.assert_refused("bench = 3\n", "it has no [[bench]]")
        self.assert_refused(bench + 'command = "ls"\nenvironment = { "A=B" = "1" }\n', "'A=B' cannot name a variable")

    def test_a_limit_names_an_event_that_is_counted(self):
        bench = 'events = ["instructions:u", "branches:u,loads"]\n[[bench]]\nname = "a"\ncommand = "ls"\n'
        self.assert_refused(bench + 'limits = { "instrctions:u" = 0 }\n', "line 5, column 12", "no such event is counted", "did you mean 'instructions:u'")
        self.assert_refused(bench + 'limits = { cycles = 0 }\n', "line 5, column 12", "instructions:u, branches:u, loads, wall_ns", 'events = ["cycles"] adds it')
        self.toml(bench + 'limits = { instructions = "0", "branches:u" = "1%", "loads:u" = "2.5", wall_ns = 900 }\n')
        self.assertEqual(self.bench("--list").stdout, "a\n")

    def test_what_the_library_takes_for_granted_is_refused(self):
        for text in ("[;", "[ \x13", "\ufedfh", "\xe9 = 1"):
            with self.subTest(text):
                self.assert_refused(text, "not valid TOML")

    def test_names_of_machines_are_checked_before_a_command_runs(self):
        bench = '[[bench]]\nname = "a"\ncommand = "touch ran"\n'
        self.assert_refused('cpu-model = "x86-64-v9"\n' + bench, "line 1, column 13", "'x86-64-v9' is not the name of a CPU model", "x86-64-v3")
        self.assert_refused(bench + 'machine = "zen55"\n', "line 4, column 11", "'zen55' is not the name of a machine, nor a file", "did you mean 'zen5'")
        self.file("machine.json", "{")
        self.assert_refused(bench + 'machine = "machine.json"\n', "machine.json")
        self.assertFalse(self.file("ran").exists())

    def test_what_cannot_be_measured_loses_no_results(self):
        self.toml('[[bench]]\nname = "a"\ncommand = "exit 0"\n[[bench]]\nname = "b"\ncommand = "ls"\nsetup = "echo wrong; exit 3"\n'
                  '[[bench]]\nname = "c"\ncommand = "exit 0"\n')
        result = self.bench("--report", "json=r.json", "--report", "junit=j.xml", "--baseline", "counts.json", "--update-baseline")
        self.assertEqual(result.returncode, 125, result.stderr)
        self.assertRegex(result.stdout, r"(?s) a +instructions:u.* c +instructions:u.* b: cannot measure 'b': its setup failed: ")
        self.assertIn("3 benches: 1 not measured, 2 measured", result.stderr)
        self.assertIn("anyperf: cannot measure 'b': its setup failed\n", result.stderr)
        ends = [bench["end"] for bench in json.loads(self.file("r.json").read_text())["benches"]]
        self.assertEqual(ends, ["measured", "not measured", "measured"])
        self.assertEqual(ElementTree.parse(self.file("j.xml")).getroot().get("errors"), "1")
        self.assertFalse(self.file("counts.json").exists())

    def test_what_cannot_be_measured_is_named(self):
        bench = '[[bench]]\nname = "a"\n'
        self.assert_refused(bench + 'command = ["./missing"]\n', "cannot measure 'a'", "./missing")
        self.assert_refused(bench + 'command = "ls"\nevents = ["instrucions"]\n', "cannot measure 'a'", "instrucions")
        self.assert_refused(bench + 'command = "ls"\nevents = ["instrucions:u"]\n', "cannot measure 'a'", "did you mean 'instructions'")
        self.assert_refused(bench + 'command = "ls"\ndirectory = "nowhere"\n', "cannot measure 'a' in ", "nowhere", "No such file", "`directory`")
        self.assert_refused(bench + 'command = "ls"\ndirectory = "anyperf.toml"\n', "cannot measure 'a' in ", "it is no directory")
        self.assert_refused(bench + 'command = "ls"\ninput = "nowhere"\n', "cannot measure 'a' with the input", "nowhere", "No such file")
        self.assert_refused(bench + 'command = "ls"\nsetup = "echo wrong >&2; exit 3"\n', "its setup failed", "exited with 3: wrong")

    def test_a_command_that_fails_has_its_messages(self):
        self.toml('[[bench]]\nname = "a"\ncommand = "echo oops >&2; exit 7"\n[[bench]]\nname = "b"\ncommand = "exit 0"\n')
        result = self.bench("--baseline", "counts.json", "--update-baseline")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("a: the command exited with 7\noops", result.stdout)
        self.assertIn("2 benches: 1 failed, 1 measured", result.stderr)
        self.assertFalse(self.file("counts.json").exists())

    def test_files_that_are_none_are_refused(self):
        self.assert_error(self.bench(), 125, "cannot read anyperf.toml", "No such file")
        self.assert_error(self.bench("/dev/zero"), 125, "it is not a regular file")
        self.loops(a=1)
        self.file("bad.json", "{}")
        self.assert_error(self.bench("--baseline", "bad.json"), 125, "no array \"benches\"")
        self.assert_error(self.bench("--baseline", "none.json"), 125, "cannot compare with none.json", "--update-baseline --baseline none.json anyperf.toml")
        self.assert_error(self.bench("--update-baseline"), 125, "names one")
        self.assert_error(self.bench("--report", "pdf=x"), 125, "no such format")
        self.assert_error(self.bench("--report", "json=/nowhere/x"), 125, "cannot write /nowhere/x")


if __name__ == "__main__":
    unittest.main()
