"""What main does for every verb: version, help, and suggestions for misspelt verbs and options."""
import subprocess
import unittest

from program import ANYPERF, Case


def anyperf(*words):
    return subprocess.run([ANYPERF, *words], text=True, capture_output=True, timeout=60, check=False)


class Version(Case):
    def test_version_has_a_short_option(self):
        self.assertEqual(anyperf("-V").stdout, anyperf("--version").stdout)
        self.assertRegex(anyperf("-V").stdout, r"^anyperf \d+\.\d+\.\d+\n$")


class Help(Case):
    def test_help_of_a_verb_is_that_of_its_option(self):
        for verb in ("list", "stat", "run", "encode", "explain"):
            result = anyperf("help", verb)
            self.assertEqual((result.returncode, result.stdout), (0, anyperf(verb, "--help").stdout), verb)
        self.assertEqual(anyperf("help").stdout, anyperf("--help").stdout)

    def test_help_of_an_unknown_verb_suggests_a_near_one(self):
        self.assert_error(anyperf("help", "lsit"), 125, "unknown verb lsit", "did you mean 'list'?")

    def test_help_names_itself(self):
        self.assertIn("anyperf help VERB", anyperf("--help").stdout)


class DidYouMean(Case):
    def test_misspelt_verbs_have_a_suggestion(self):
        self.assert_error(anyperf("stta", "--", "true"), 125, "unknown verb stta", "did you mean 'stat'?")
        self.assert_error(anyperf("zzzzzz"), 125, "anyperf --help describes them")

    def test_misspelt_options_have_a_suggestion(self):
        self.assert_error(anyperf("list", "--jsno"), 125, "unknown option --jsno", "did you mean '--json'?")
        self.assert_error(anyperf("stat", "--virtaul", "--", "true"), 125, "did you mean '--virtual'?")
        self.assert_error(anyperf("run", "--deterministc", "--", "true"), 125, "did you mean '--deterministic'?")
        self.assert_error(anyperf("stat", "--outptu=x", "--", "true"), 125, "unknown option --outptu\n", "did you mean '--output'?")
        self.assert_error(anyperf("--versoin"), 125, "unknown option --versoin", "did you mean '--version'?")

    def test_short_options_have_no_similar_ones(self):
        self.assertNotIn("did you mean", anyperf("stat", "-q", "--", "true").stderr)


class BadValues(Case):
    """Errors name the option and the mistake, not types of the program."""

    def test_a_missing_value_is_named(self):
        for words in (["stat", "-e"], ["report", "-i"]):
            self.assert_error(anyperf(*words), 125, "bad --", "its value is missing")

    def test_a_value_that_is_not_a_number_is_refused(self):
        for words, what in ((["report", "--percent-limit", "x"], "bad --percent-limit x"),
                            (["record", "-F", "x", "--", "true"], "bad -F x")):
            self.assert_error(anyperf(*words), 125, what)


    def test_a_value_out_of_range_is_refused(self):
        for verb in ("report", "annotate", "diff"):
            for value in ("-5", "100.5", "nan", "inf"):
                self.assert_error(anyperf(verb, f"--percent-limit={value}"), 125, "bad --percent-limit", "0 to 100")
        for verb in ("run", "stat"):
            for value in ("-1", "18446744073709551616", "x", "1.5", "--"):
                self.assert_error(anyperf(verb, "--deterministic", f"--seed={value}", "--", "true"), 125, "bad --seed",
                                  f"'{value}' is not a whole number from 0 to 18446744073709551615")
            self.assert_error(anyperf(verb, "--deterministic", "--cpus", "4294967297", "--", "true"), 125, "from 1 to 64")
            self.assert_error(anyperf(verb, "--deterministic", "--epoch", "", "--", "true"), 125, "'' is not", "from 0 to 8589934592")
            self.assert_error(anyperf(verb, "--deterministic", "--seed=", "--", "true"), 125, "bad --seed", "its value is missing")
        self.assertEqual(anyperf("run", "--deterministic", "--seed", "18446744073709551615", "--", "true").returncode, 0)

    def test_the_end_of_the_options_is_no_value(self):
        for words in (["run", "--deterministic", "--log-schedule"], ["run", "--explain-difference", "a"], ["stat", "-e"], ["record", "-o"]):
            self.assert_error(anyperf(*words, "--", "true"), 125, "bad --", "its value is missing: -- ends the options")

    def test_words_of_a_command_are_its_own(self):
        for verb in ("run", "stat"):
            self.assertEqual(anyperf(verb, "echo", "--see", "5", "--coun", "--").stdout, "--see 5 --coun --\n")


class NoRecording(Case):
    def test_fix_names_no_option_that_the_verb_lacks(self):
        absent = str(self.file("absent"))
        for words in (["report", "-i", absent], ["diff", absent, absent], ["script", "-i", absent]):
            result = anyperf(*words)
            self.assert_error(result, 125, "cannot open", "anyperf record")
            self.assertNotIn(" -i", result.stderr)

    def test_empty_pipe_is_called_so(self):
        result = subprocess.run([ANYPERF, "report", "-i", "-"], text=True, capture_output=True, timeout=60, check=False, input="")
        self.assert_error(result, 125, "cannot read standard input", "nothing was written to it")


class FullDisk(Case):
    """Output that cannot be written is an error with status 125, whichever verb wrote it."""

    def run_with(self, words, **streams):
        with open("/dev/full", "wb") as full:
            streams = {name: full if stream == "full" else stream for name, stream in streams.items()}
            return subprocess.run([ANYPERF, *map(str, words)], text=True, timeout=60, check=False, **streams)

    def test_results_that_standard_output_does_not_take_are_an_error(self):
        saved = self.file("saved")
        for words in (["--help"], ["--version"], ["help", "stat"], ["list", "sw"], ["list", "--json", "sw"], ["list", "--all", "zen4"],
                      ["encode", "cycles"], ["encode", "--json", "cycles"], ["encode", "--c", "cycles"], ["explain"],
                      ["explain", "--json"], ["explain", "--save", saved], ["completion", "bash"], ["completion", "events"]):
            result = self.run_with(words, stdout="full", stderr=subprocess.PIPE)
            self.assert_error(result, 125, "cannot write the results to standard output", "No space left on device")

    def test_results_that_standard_error_does_not_take_are_an_error(self):
        for words in (["stat", "-n", "--", "true"], ["stat", "--virtual", "--", "true"], ["stat", "--csv", "-e", "page-faults:u", "--", "true"],
                      ["stat", "--json", "-n", "--", "true"], ["stat", "-I", "50", "-e", "page-faults:u", "--", "sleep", "0.2"],
                      ["stat", "-v", "-r", "2", "-n", "--", "true"], ["run", "--count", "--", "true"]):
            result = self.run_with(words, stdout=subprocess.PIPE, stderr="full")
            self.assertEqual((result.returncode, result.stdout), (125, ""), words)

    def test_results_that_a_file_does_not_take_are_an_error(self):
        for words in (["stat", "-o", "/dev/full", "-n", "--", "true"], ["run", "--count-to", "/dev/full", "--", "true"]):
            result = self.run_with(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 125, words)
            self.assertIn("/dev/full", result.stderr)
            self.assertIn("fix:   free disk space", result.stderr)

    def test_errors_keep_their_status(self):
        for words in (["lsit"], ["stat", "--no-such-option"], ["list", "--root", "/no/such/directory"], ["encode", "no-such-event"]):
            self.assertEqual(self.run_with(words, stdout="full", stderr="full").returncode, 125, words)

    def test_command_that_prints_nothing_of_anyperf_is_not_disturbed(self):
        self.assertEqual(self.run_with(["run", "--", "true"], stdout="full", stderr="full").returncode, 0)


if __name__ == "__main__":
    unittest.main()
