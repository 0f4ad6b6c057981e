"""Keys of a terminal: the kernel sends their signals to the whole foreground group, so to anyperf and to the command at once."""
import os
import pty
import select
import signal
import tempfile
import time
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
INTERRUPT, QUIT, SUSPEND = b"\x03", b"\x1c", b"\x1a"
RUNS = {"run": ("run",), "run --count": ("run", "--count=instructions")}
COMMANDS = {**RUNS, "stat --virtual": ("stat", "--virtual", "-e", "instructions")}
PRINTS_COUNTS = {"run --count": r'"instructions":\s*\d+', "stat --virtual": r"\d\s+instructions"}


class Terminal:
    """A command that is the foreground group of a terminal of its own."""

    def __init__(self, test, *words):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvp(words[0], words)
        self.text = b""
        test.addCleanup(self.close)

    def close(self):
        os.close(self.terminal)
        try:
            os.kill(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def read_until(self, end, seconds=60):
        """Reads up to the text, or to the end of the terminal's last process if `end` is None."""
        limit = time.monotonic() + seconds
        while end is None or end not in self.text:
            ready, _, _ = select.select([self.terminal], [], [], max(0, limit - time.monotonic()))
            if not ready:
                raise TimeoutError(self.text)
            try:
                got = os.read(self.terminal, 65536)
            except OSError:
                got = b""
            if not got:
                break
            self.text += got
        return self.text.decode(errors="replace")

    def press(self, key):
        os.write(self.terminal, key)

    def status(self, options=0):
        """What the command has ended with, as subprocess has it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.process, options)[1])


class Keys(unittest.TestCase):
    def start(self, words, script):
        terminal = Terminal(self, ANYPERF, *words, "--", "sh", "-c", script)
        terminal.read_until(b"ready")
        return terminal

    def test_an_interrupt_ends_the_command_and_the_run(self):
        for name, words in COMMANDS.items():
            for key, number in ((INTERRUPT, signal.SIGINT), (QUIT, signal.SIGQUIT)) if name in RUNS else ((INTERRUPT, signal.SIGINT),):
                with self.subTest(name, key=key):
                    terminal = self.start(words, "ulimit -c 0; echo ready; while :; do sleep 0.05; done")
                    terminal.press(key)
                    text = terminal.read_until(None)
                    self.assertEqual(terminal.status(), -number, text)
                    self.assertRegex(text, PRINTS_COUNTS.get(name, "."))

    def test_an_interrupt_ends_a_command_that_computes(self):
        for name, words in COMMANDS.items():
            with self.subTest(name):
                terminal = self.start(words, "echo ready; while :; do :; done")
                time.sleep(0.2)
                terminal.press(INTERRUPT)
                text = terminal.read_until(None)
                self.assertEqual(terminal.status(), -signal.SIGINT, text)

    def test_a_command_that_handles_the_interrupt_gets_it_once_and_goes_on(self):
        for name, words in RUNS.items():
            with self.subTest(name):
                terminal = self.start(words, "n=0; trap 'n=$((n+1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.05; done; "
                                             "sleep 0.3; echo handled $n; exit 7")
                terminal.press(INTERRUPT)
                text = terminal.read_until(None)
                self.assertEqual(terminal.status(), 7, text)
                self.assertIn("handled 1", text)
                self.assertRegex(text, PRINTS_COUNTS.get(name, "."))

    def test_a_suspended_run_goes_on(self):
        for name, words in RUNS.items():
            with self.subTest(name):
                shell = Terminal(self, "bash", "--norc", "-c",
                                 f"set -m; {ANYPERF} {' '.join(words)} -- sh -c 'echo ready; sleep 0.5; exit 5'; echo stopped $?; fg; echo ended $?")
                shell.read_until(b"ready")
                shell.press(SUSPEND)
                text = shell.read_until(None)
                self.assertIn(f"stopped {128 + signal.SIGTSTP}", text)
                self.assertIn("ended 5", text)
                self.assertRegex(text, PRINTS_COUNTS.get(name, "."))

    def test_no_process_and_no_file_is_left(self):
        with tempfile.TemporaryDirectory() as directory:
            for words in COMMANDS.values():
                os.environ["TMPDIR"] = directory
                self.addCleanup(os.environ.pop, "TMPDIR", None)
                terminal = self.start(words, "echo ready; sleep 1000 & wait")
                terminal.press(INTERRUPT)
                terminal.read_until(None)
                terminal.status()
                # A process of its own removes them (directory_remover.h), so that nobody waits for it.
                limit = time.monotonic() + 10
                while list(Path(directory).iterdir()) and time.monotonic() < limit:
                    time.sleep(0.02)
                self.assertEqual(list(Path(directory).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
