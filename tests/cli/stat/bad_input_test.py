"""Damaged and hostile input to every verb: one message with the failure, its cause and a fix, the right exit status, no hang."""
import os
import subprocess
import unittest

from program import ANYPERF, Case, stat

NOISE = [b"\xff\xfe\xc0", b"%n%s%n", b"a" * 50_000, b"\x1b[31mred", b"--", b"-", b" ", b"\n", b"0", b"-1", b"1e999", b"9" * 30]


def anyperf(*words, **options):
    return subprocess.run([ANYPERF, *words], capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL, **options)


class BadInput(Case):
    def assert_one_message(self, result, *words):
        text = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, 125, text)
        self.assertEqual(text.count("anyperf: "), 1, text)
        self.assertEqual((text.count("\n  cause: "), text.count("\n  fix:   ")), (1, 1), text)
        self.assertLess(len(text), 4000)
        self.assertNotIn("\x1b", text)
        for word in words:
            self.assertIn(word, text)

    def test_unknown_verbs_are_refused(self):
        for word in [*NOISE, b"", b"lsit"]:
            self.assert_one_message(anyperf(word), "the verbs are list, stat, bench, run, record, top, report, script, annotate, diff, export, encode, explain")
        self.assert_one_message(anyperf(), "no verb")

    def test_unknown_options_are_refused(self):
        for verb in ("list", "stat", "run", "encode", "explain"):
            self.assert_one_message(anyperf(verb, *(["cycles"] if verb == "encode" else []), "--no-such-option"), "unknown option --no-such-option")

    def test_invalid_option_values_are_refused(self):
        for option in ("-I", "-r", "-p", "-t", "-C", "-D", "--timeout", "--fail-above", "--interval-count", "--counters"):
            for value in (b"x", b"99999999999999999999999", b"\xff", b"1" * 5000):
                self.assert_one_message(anyperf("stat", "-e", "page-faults:u", option, value, "--", "true"))

    def test_malformed_event_strings_are_refused(self):
        for text in [*NOISE, b"", b",", b"{", b"{}", b"cycles,", b"cycles}", b"r" + b"f" * 17, b"mem:", b"software/config=-1/",
                     b"software/config=1,config=2/", b"uprobe:/etc/passwd:main", b"skl::", b"::x", b"99999999999:1", b"{" * 9000]:
            self.assert_one_message(anyperf("encode", "--", text), "cannot use the event string")

    def test_output_files_that_cannot_be_written_are_reported(self):
        pipe = self.file("pipe")
        os.mkfifo(pipe)
        for file in (self.directory.name, pipe, "/nonexistent/x"):
            self.assert_one_message(anyperf("stat", "-e", "page-faults:u", "-o", file, "--", "true"), "cannot write")

    def test_full_disks_are_reported(self):
        self.assert_one_message(anyperf("stat", "-e", "page-faults:u", "-o", "/dev/full", "--", "true"), "No space left")
        for words in (["-e", "page-faults:u"], ["--csv", "-e", "page-faults:u"], ["-j", "-n"], ["-I", "10", "-n"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([ANYPERF, "stat", *words, "--", "true"], stderr=full, timeout=60, check=False)
            self.assertEqual(result.returncode, 125, words)
        for words in (["list"], ["encode", "cycles"], ["explain"], ["--help"], ["stat", "--help"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([ANYPERF, *words], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assert_one_message(result, "standard output", "No space left")

    def test_unusable_baselines_are_refused(self):
        pipe = self.file("pipe")
        os.mkfifo(pipe)
        deep = self.file("deep", "[" * 500_000)
        texts = ["", "x", "[]", "{}", '{"events": {}}', '{"events": [1]}', '{"events": [{"name": 1}]}', '{"events":' * 50_000]
        files = [self.file(f"f{i}", text) for i, text in enumerate(texts)]
        for file in [self.directory.name, "/nonexistent", "/dev/zero", pipe, deep, *files]:
            self.assert_one_message(anyperf("stat", "-e", "page-faults:u", "--baseline", file, "--", "true"), "cannot compare with")

    def test_baseline_may_be_a_pipe(self):
        report = stat("--json", "-e", "page-faults:u", "--", "true").stderr
        result = subprocess.run([ANYPERF, "stat", "-e", "page-faults:u", "--baseline", "/dev/stdin", "--", "true"],
                                input=report, text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("difference", result.stderr)

    def test_commands_that_cannot_be_run_are_reported(self):
        for command, status in (("", 127), ("/nonexistent", 127), ("/etc/passwd", 126), ("/", 126)):
            result = anyperf("stat", "-e", "page-faults:u", "--", command)
            self.assertEqual(result.returncode, status, command)
            self.assertEqual(result.stderr.count(b"\n"), 3, result.stderr)


if __name__ == "__main__":
    unittest.main()
