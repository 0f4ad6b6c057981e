"""The command that stat runs: exit status, streams, signals, inherited state, and commands that can't be run."""
import os
import signal
import subprocess
import time
import unittest

from program import ANYPERF, SOFTWARE, Case, stat


class Command(Case):
    def test_exit_status_is_the_commands_own(self):
        for status in (0, 1, 3, 125, 255):
            self.assertEqual(stat("-e", SOFTWARE, "--", "sh", "-c", f"exit {status}").returncode, status)

    def test_streams_are_the_commands_own(self):
        result = stat("-e", SOFTWARE, "--", "sh", "-c", "cat; echo to-stderr >&2", input="through\n")
        self.assertEqual(result.stdout, "through\n")
        self.assertIn("to-stderr", result.stderr)

    def test_words_after_the_command_are_its_arguments(self):
        result = stat("-e", SOFTWARE, "echo", "-e", "-x", "--json", "--", "-p")
        self.assertEqual(result.stdout.split()[-3:], ["--json", "--", "-p"])
        result = stat("-e", SOFTWARE, "--", "echo", "[a,b]", "{}", "%%", "", "--")
        self.assertEqual(result.stdout, "[a,b] {} %%  --\n")

    def test_command_may_have_the_name_of_a_verb(self):
        program = self.file("list", "#!/bin/sh\necho mine\n", 0o755)
        path = f"{program.parent}:{os.environ['PATH']}"
        self.assertEqual(stat("-e", SOFTWARE, "list", env={**os.environ, "PATH": path}).stdout, "mine\n")

    def test_absent_command_exits_with_127(self):
        self.assert_error(stat("--", "anyperf-no-such-command"), 127, "anyperf-no-such-command", "PATH")
        self.assert_error(stat("--", "/no/such/file"), 127, "no such file")

    def test_absent_interpreter_is_named(self):
        script = self.file("script", "#!/no/such/interpreter -x\n", 0o755)
        self.assert_error(stat("--", script), 127, "/no/such/interpreter")

    def test_file_that_is_not_executable_exits_with_126(self):
        self.assert_error(stat("--", self.file("text", "hello")), 126, "not marked as executable", "chmod +x")

    def test_script_without_an_interpreter_is_run_by_a_shell(self):
        script = self.file("script", "echo \"ran $1\"\n", 0o755)
        self.assertEqual(stat("-n", "--", script, "here").stdout, "ran here\n")

    def test_path_is_searched_beyond_a_file_without_permission(self):
        (self.file("a")).mkdir()
        (self.file("b")).mkdir()
        self.file("a/program", "#!/bin/sh\necho a\n", 0o644)
        self.file("b/program", "#!/bin/sh\necho b\n", 0o755)
        path = f"{self.file('a')}:{self.file('b')}"
        self.assertEqual(stat("-n", "--", "program", env={**os.environ, "PATH": path}).stdout, "b\n")
        self.assertEqual(stat("-n", "--", "program", env={**os.environ, "PATH": str(self.file("a"))}).returncode, 126)

    def test_directory_exits_with_126(self):
        self.assert_error(stat("--", self.directory.name), 126, "directory")

    def test_death_by_a_signal_is_passed_on(self):
        result = stat("-e", SOFTWARE, "--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(result.returncode, -signal.SIGTERM)
        self.assertIn("page-faults", result.stderr)

    def test_shell_reports_128_plus_the_signal(self):
        script = f"{ANYPERF} stat -n -- sh -c 'kill -KILL $$'; echo status=$?"
        result = subprocess.run(["sh", "-c", script], text=True, capture_output=True, check=False)
        self.assertIn("status=137", result.stdout)

    def started(self, script):
        process = subprocess.Popen([ANYPERF, "stat", "-e", SOFTWARE, "--", "sh", "-c", script], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_signal_to_stat_alone_goes_to_the_command(self):
        process = self.started("trap 'echo got; exit 9' TERM; echo ready; while :; do sleep 0.05; done")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (9, "got\n"))
        self.assertIn("page-faults", err)

    def test_counts_are_printed_after_an_interrupt(self):
        process = self.started("echo ready; while :; do sleep 0.05; done")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("page-faults", err)

    def test_ignored_signals_stay_ignored(self):
        script = "trap '' HUP INT; exec " + ANYPERF + " stat -n -- sh -c 'kill -HUP $$; kill -INT $$; echo lives'"
        result = subprocess.run(["sh", "-c", script], text=True, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (0, "lives\n"))

    def test_signal_mask_is_inherited_unchanged(self):
        result = stat("-n", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
        plain = subprocess.run(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], text=True, capture_output=True,
                               check=False)
        self.assertEqual(result.stdout, plain.stdout)

    def test_command_inherits_no_descriptor_of_anyperf(self):
        result = stat("-e", SOFTWARE, "--", "ls", "/proc/self/fd")
        plain = subprocess.run(["ls", "/proc/self/fd"], text=True, capture_output=True, check=False)
        self.assertEqual(result.stdout, plain.stdout)

    def test_descriptor_limit_is_inherited_unchanged(self):
        result = subprocess.run(["sh", "-c", f"ulimit -Sn 100; {ANYPERF} stat -n -- sh -c 'ulimit -Sn'"], text=True,
                                capture_output=True, check=False)
        self.assertEqual(result.stdout, "100\n")

    def test_timeout_ends_the_command(self):
        start = time.monotonic()
        result = stat("-e", SOFTWARE, "--timeout", "100", "--", "sleep", "30")
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(result.returncode, 0)
        self.assertIn("page-faults", result.stderr)

    def test_delay_excludes_the_beginning(self):
        result = stat("--json", "-e", "page-faults:u", "-D", "60000", "--", "true")
        self.assertEqual(self.event(self.objects(result.stderr)[0], "page-faults:u")["status"], "not-counted")

    def test_command_does_not_run_if_an_event_is_unknown(self):
        mark = self.file("mark")
        result = stat("-e", "page-fualts", "--", "touch", mark)
        self.assert_error(result, 125, "page-fualts", "page-faults")
        self.assertFalse(mark.exists())


if __name__ == "__main__":
    unittest.main()
