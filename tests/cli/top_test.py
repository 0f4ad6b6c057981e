"""`anyperf top`: the screen, in a terminal that tmux emulates, and tables where there is no terminal."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import ANYPERF, Case

# Works for SECONDS, of which `hot` takes nine tenths, then ends with status 3.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noipa)) unsigned hot(unsigned n) { unsigned x = 1; for (unsigned i = 0; i < n; ++i) x = x * 1664525u + i; return x; }
__attribute__((noipa)) unsigned warm(unsigned n) { unsigned x = 7; for (unsigned i = 0; i < n; ++i) x ^= x << 5 ^ i; return x; }
__attribute__((noipa)) unsigned both(void) { return hot(900000) + warm(100000); }
int main(int count, char** words) {
    unsigned sum = 0;
    for (time_t end = time(NULL) + atoi(words[count - 1]); time(NULL) < end;) sum += both() + 1;
    printf("the sum is %u\n", sum);
    return 3;
}
"""
DEADLINE = 60  # seconds: how long a busy machine may take


def child_of(parent):
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:  # proc(5): the name may have spaces; the state and the parent's id come after it
            if int(entry.read_text().rpartition(") ")[2].split()[1]) == parent:
                return int(entry.parent.name)
        except OSError:  # it has ended meanwhile
            continue
    raise AssertionError(f"{parent} has no child")


class Measured(Case):
    """With a program whose hottest function is known."""

    def setUp(self):
        super().setUp()
        self.program = self.file("program")
        source = self.file("program.c", PROGRAM)
        subprocess.run(["cc", "-g", "-O0", "-o", self.program, source], check=True, timeout=60)


class Tables(Measured):
    def top(self, *words):
        return subprocess.run([ANYPERF, "top", *map(str, words)], text=True, capture_output=True, timeout=DEADLINE, check=False,
                              stdin=subprocess.DEVNULL)

    def test_numbers_and_filters_are_those_that_are_asked_for(self):
        result = self.top("--virtual", "-ns", "comm,symbol", "--show-total-period", "--percent-limit", "40", "-d", "1", "--", self.program, 3)
        table = result.stdout.split("# Overhead")[-1].splitlines()
        self.assertRegex(table[0], r"^ +Samples +Period  Command +Symbol$")
        self.assertEqual(len(table), 2, table)
        self.assertRegex(table[1], r"^ +[89]\d\.\d\d% +[1-9]\d* +[1-9]\d* +program +\[\.\] hot$")
        result = self.top("--virtual", "--symbols", "warm", "-d", "1", "--", self.program, 3)
        rows = [line for line in result.stdout.split("# Overhead")[-1].splitlines()[1:] if line]
        self.assertRegex(rows[0], r"^ +\d\.\d\d% .*\[\.\] warm$")
        self.assertEqual(len(rows), 1)

    def test_tables_show_the_hottest_function_first(self):
        result = self.top("--virtual", "-d", "0.3", "--", self.program, 3)
        self.assertEqual(result.returncode, 3, "the exit status is the command's")
        self.assertIn("the sum is", result.stderr, "the command's output does not mix with the tables")
        tables = result.stdout.split("# Overhead")[1:]
        self.assertGreater(len(tables), 1, "tables come while the command runs")
        for table in tables[1:]:  # the first one may have little but the program's start
            rows = [re.match(r"\s+(\d+\.\d\d)%\s+program\s+(\S+)\s+\[\.\] (\S+)$", line) for line in table.splitlines()[1:]]
            found = [(row[3], float(row[1])) for row in rows if row]
            self.assertEqual([name for name, _ in found[:2]], ["hot", "warm"])
            self.assertGreater(found[0][1], 70)

    def test_with_callers_a_table_has_totals(self):
        result = self.top("--virtual", "-g", "--iterations", 1, "-s", "symbol", "--", self.program, 20)
        self.assertEqual(result.returncode, 0, "the tables were asked for, not the command's end")
        row = re.search(r"^\s+(\d+\.\d\d)%\s+(\d+\.\d\d)%\s+\[\.\] both$", result.stdout, re.M)
        self.assertTrue(row, result.stdout)
        self.assertGreater(float(row[1]), 90)
        self.assertLess(float(row[2]), 5)

    def test_a_process_that_already_runs(self):
        with subprocess.Popen([self.program, "30"], stdout=subprocess.DEVNULL) as process:
            try:
                result = self.top("--kernel", "-e", "cpu-clock:u", "-p", process.pid, "--iterations", 1, "-d", "0.5")
            finally:
                process.kill()
        if "not permitted" in result.stderr or "refused" in result.stderr:
            self.skipTest(f"this kernel does not sample: {result.stderr.strip()}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\d%\s+program\s+program\s+\[\.\] hot")

    def test_with_zero_each_sample_is_in_one_table(self):
        for options in (["-z"], []):
            result = self.top("--virtual", "-d", "0.5", *options, "--", self.program, 3)
            shown = sum(int(count) for count in re.findall(r"^# (\d+) samples", result.stdout, re.M))
            recorded = int(re.search(r"^anyperf: (\d+) samples", result.stderr, re.M)[1])
            with self.subTest(options=options):
                if options:
                    self.assertEqual(shown, recorded)
                else:
                    self.assertGreater(shown, recorded, "older samples are still shown")

    def test_wrong_words_are_one_message(self):
        for words, message in ((["-s", "colour"], "cannot sort by 'colour'"), (["-p", "0"], "bad -p 0"), (["-p", "4000000"], "no such process"),
                               (["-e", "nothing"], "nothing"), (["-d", "0"], "--delay"), (["-o", "file"], "-o"),
                               (["--", "/not/there"], "/not/there")):
            with self.subTest(words=words):
                result = self.top(*words)
                self.assertIn(result.returncode, (125, 127), result)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stdout, "")


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Screen(Measured):
    """On a screen of 100 columns and 24 lines."""

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.file("socket"), "-f", "/dev/null", *map(str, words)], text=True, capture_output=True,
                              timeout=DEADLINE, check=True).stdout

    def start(self, *words, term="screen"):
        command = " ".join(f"'{word}'" for word in (ANYPERF, "top", "--virtual", "-d", "0.3", *map(str, words)))
        self.tmux("new-session", "-d", "-x", "100", "-y", "24", f"TERM={term} {command}; echo ended with $?; sleep {DEADLINE}")
        self.addCleanup(self.tmux, "kill-server")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def await_screen(self, pattern):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            screen = self.tmux("capture-pane", "-p")
            if re.search(pattern, screen, re.M):
                return screen
            time.sleep(0.1)
        self.fail(f"{pattern} does not appear in:\n{screen}")

    def test_keys_lead_to_code_callers_filter_and_back(self):
        self.start("-g", "--", self.program, DEADLINE)
        self.await_screen(r"^ *\d+\.\d\d% +\d+\.\d\d%  program .*\[\.\] hot$")
        self.press("/", "h", "o", "t", "Enter")
        self.assertNotIn("warm", self.await_screen(r"with 'hot'"))
        self.press("Enter")
        self.await_screen(r"^ *\d+\.\d\d : .*imul")
        self.press("q")
        self.await_screen(r"Children +Self")
        self.press("c")
        self.await_screen(r"callers of \[\.\] hot\n +\d+\.\d\d%  both\n +\d+\.\d\d%  main")
        self.press("Escape")
        self.await_screen(r"Children +Self")
        self.press("s")
        self.await_screen(r"Children +Self +Symbol$")
        self.press("/", *["BSpace"] * 3, "Enter")
        self.await_screen(r"\[\.\] warm$")
        self.press("?")
        self.await_screen(r"^c +its callers")
        self.press("q", "q")
        self.await_screen(r"ended with 0")

    def test_the_screen_stays_after_the_command_and_its_output_comes_last(self):
        self.start("--", self.program, 1)
        self.assertNotIn("the sum is", self.await_screen(r"the recording has ended").splitlines()[0])
        self.press("q")
        self.await_screen(r"^the sum is \d+\nended with 3$")

    def test_the_screen_fits_a_window_that_shrinks_and_grows(self):
        self.start("--", self.program, DEADLINE)
        self.await_screen(r"\[\.\] hot$")
        self.tmux("resize-window", "-x", "40", "-y", "5")
        self.await_screen(r"\A.{1,40}\nOverhead")
        self.tmux("resize-window", "-x", "100", "-y", "24")
        self.await_screen(r"\[\.\] warm$")
        self.press("C-c")
        self.await_screen(r"ended with 0")

    def test_ctrl_c_is_the_users_end_even_if_the_command_has_ended_first(self):
        self.start("--", self.program, DEADLINE)
        self.await_screen(r"\[\.\] hot$")
        shell = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        threads = Path("/proc", str(child_of(shell)), "task")
        self.press("C-s")  # the terminal takes no more output, so top waits in its next change of the screen
        time.sleep(1)  # for that change, which nothing else shows: after a shorter time the test proves less
        os.killpg(shell, signal.SIGINT)
        end = time.monotonic() + DEADLINE
        while len(list(threads.iterdir())) > 1 and time.monotonic() < end:  # the thread that reads the recording
            time.sleep(0.05)
        self.press("C-q")
        self.await_screen(r"ended with 0")

    def test_an_unknown_terminal_is_named(self):
        self.start("--", self.program, 1, term="no-such-terminal")
        self.await_screen(r"TERM=no-such-terminal")
        self.await_screen(r"ended with 125")


if __name__ == "__main__":
    unittest.main()
