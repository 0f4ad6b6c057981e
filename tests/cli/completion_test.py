"""Completion of bash, zsh and fish. bash is asked for completions; scripts for shells that are not installed are only read."""
import re
import shutil
import subprocess
import unittest

from program import ANYPERF, Case


def script(shell):
    return subprocess.run([ANYPERF, "completion", shell], text=True, capture_output=True, timeout=60, check=True).stdout


def options_of(verb):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", subprocess.run([ANYPERF, verb, "--help"], text=True, capture_output=True,
                                                                     timeout=60, check=True).stdout))


class Bash(Case):
    def completions(self, line, anyperf=ANYPERF):
        """What bash offers at the end of the line. bash itself splits words at ':' and '=', too."""
        words = re.findall(r"[^\s:=]+|[:=]+", line) + ([""] if line.endswith(" ") else [])
        quoted = " ".join(f"'{word}'" for word in words)
        program = f"{script('bash')}\nCOMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({quoted})\n" \
                  f"COMP_WORDS[0]='{anyperf}'; COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _anyperf; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return subprocess.run(["bash", "-c", program], text=True, capture_output=True, timeout=60, check=True).stdout.split()

    def test_verbs_are_completed(self):
        self.assertEqual(self.completions("anyperf ex"), ["export", "explain"])
        self.assertEqual(self.completions("anyperf help ex"), ["export", "explain"])
        self.assertIn("help", self.completions("anyperf "))

    def test_options_are_completed(self):
        self.assertEqual(self.completions("anyperf list --j"), ["--json"])
        self.assertEqual(self.completions("anyperf stat -a --virt"), ["--virtual"])

    def test_events_and_their_aliases_are_completed(self):
        self.assertEqual(self.completions("anyperf encode page-f"), ["page-faults"])
        self.assertEqual(self.completions("anyperf stat -e minor-f"), ["minor-faults"])
        for name in ("cycles", "cpu-cycles", "branches", "branch-instructions"):
            self.assertIn(name, self.completions(f"anyperf stat -e {name}"))

    def test_events_are_completed_after_a_comma_or_brace(self):
        self.assertEqual(self.completions("anyperf stat -e cycles,page-f"), ["cycles,page-faults"])
        self.assertEqual(self.completions("anyperf stat -e {cycles,page-f"), ["{cycles,page-faults"])
        self.assertEqual(self.completions("anyperf stat --event=page-f"), ["page-faults"])

    def test_metrics_are_completed_after_m(self):
        self.assertIn("nothing", self.completions("anyperf stat -M no_such_met") or ["nothing"])
        names = subprocess.run([ANYPERF, "completion", "metrics"], text=True, capture_output=True, check=True).stdout.split()
        if "tma_info_thread_ipc" not in names:
            self.skipTest("this machine's CPU has no such metric")
        self.assertEqual(self.completions("anyperf stat -M tma_info_thread_ip"), ["tma_info_thread_ipc"])
        self.assertEqual(self.completions("anyperf stat --metrics=Ret,tma_info_thread_ip"), ["Ret,tma_info_thread_ipc"])

    def test_tracepoints_are_completed_after_their_colon(self):
        program = self.file("anyperf", "#!/bin/sh\necho sched:sched_switch; echo sched:sched_wakeup\n", 0o755)
        self.assertEqual(self.completions("anyperf stat -e sched:sched_swi", program), ["sched_switch"])
        self.assertEqual(self.completions("anyperf stat -e cycles,sched:sched_swi", program), ["sched_switch"])
        self.assertEqual(self.completions("anyperf stat -e cycles,sched:", program), ["sched_switch", "sched_wakeup"])

    def test_command_has_no_completions_of_the_verb(self):
        self.assertEqual(self.completions("anyperf stat -- ls --j"), [])
        self.assertEqual(self.completions("anyperf stat -e cycles ls --j"), [])
        self.assertEqual(self.completions("anyperf encode -- --j"), [])
        self.assertIn("ls", self.completions("anyperf run -- ls"))

    def test_values_of_options_are_left_to_bash(self):
        self.assertEqual(self.completions("anyperf stat -o --j"), [])


class EveryShell(Case):
    def test_has_every_verb_and_option(self):
        for shell in ("bash", "zsh", "fish"):
            text = script(shell)
            for verb in ("list", "stat", "run", "encode", "explain"):
                self.assertIn(verb, text)
                for option in options_of(verb):
                    spelling = f"-l {option[2:]}" if shell == "fish" else option
                    self.assertIn(spelling, text, f"{shell}: {verb} {option}")

    def test_hidden_verb_is_not_completed(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertNotIn("a completion", script(shell))
            self.assertNotIn("'completion:", script(shell))

    def test_script_is_valid(self):
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-fn"]), ("fish", ["fish", "--no-execute"])):
            if shutil.which(shell):
                file = self.file(shell, script(shell))
                result = subprocess.run([*check, file], text=True, capture_output=True, timeout=60, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""), shell)

    def test_other_shells_are_refused(self):
        result = subprocess.run([ANYPERF, "completion", "tcsh"], text=True, capture_output=True, timeout=60, check=False)
        self.assert_error(result, 125, "tcsh", "bash, zsh and fish")


if __name__ == "__main__":
    unittest.main()
