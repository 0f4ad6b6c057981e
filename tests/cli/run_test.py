"""Commands that `anyperf run` and `anyperf stat --virtual` start as perf does, or refuse with the reason."""
import json
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from program import ANYPERF, Case

VERBS = (["run"], ["stat", "--virtual", "-n"])


def anyperf(*words, **options):
    return subprocess.run([ANYPERF, *map(str, words)], text=True, capture_output=True, timeout=60, check=False, **options)


NAMES = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, b"\\xff\\xfe,\\n\\"", 0, 0, 0)
"""


class Names(Case):
    """Names of threads and programs are bytes. They never cost the counts."""

    def test_counts_with_a_name_that_is_not_utf_8(self):
        to = self.file("counts")
        for words in (["--count=instructions"], ["--count", "--count-to", to]):
            result = anyperf("run", *words, "--", "python3", "-S", "-c", NAMES, errors="replace")
            self.assertEqual(result.returncode, 0, result.stderr)
            text = to.read_text() if "--count-to" in words else result.stderr
            counts = json.loads(text)
            self.assertGreater(counts["total"]["instructions"], 100_000)
            self.assertEqual(counts["processes"][0]["comm"], '\ufffd\ufffd,\n"')

    def test_counts_of_a_program_with_a_path_that_is_not_utf_8(self):
        program = os.fsencode(self.directory.name) + b"/\xff\xc3"
        shutil.copy("/bin/true", program)
        for words in (["run", "--count"], ["stat", "--virtual", "--json", "-e", "instructions:u"], ["stat", "--json", "-n"]):
            result = subprocess.run([ANYPERF, *words, "--", program], capture_output=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            json.loads(result.stderr.decode("utf-8"))

    def test_tables_show_threads_with_such_names(self):
        script = NAMES + "print('ready', flush=True); sys.stdin.read()"
        for words in (["--json"], ["--csv"], []):
            with subprocess.Popen(["python3", "-S", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
                program.stdout.readline()
                result = subprocess.run([ANYPERF, "stat", *words, "--per-thread", "-e", "page-faults:u", "-p", str(program.pid), "--timeout",
                                         "50"], capture_output=True, timeout=60, check=False)
                program.stdin.close()
            self.assertEqual(result.returncode, 0, result.stderr)
            line = next(line for line in result.stderr.splitlines() if b"page-faults" in line)
            self.assertIn(f"-{program.pid}".encode(), line)


class Commands(Case):
    def assert_refused(self, command, status, *words, **options):
        for verb in VERBS:
            result = anyperf(*verb, "--", command, **options)
            text = "\n".join(line for line in result.stderr.splitlines() if "counting in user space" not in line)
            self.assertEqual(result.returncode, status, text)
            self.assertTrue(text.startswith(f"anyperf: cannot run {command}\n"), text)
            for word in words:
                self.assertIn(word, text)

    def test_absent_interpreter_is_named(self):
        script = self.file("script", "#!/no/such/interpreter -x\n", 0o755)
        self.assert_refused(script, 127, "the interpreter /no/such/interpreter, which doesn't exist", "fix:")
        path = f"{script.parent}:{os.environ['PATH']}"
        self.assert_refused("script", 127, "/no/such/interpreter", env={**os.environ, "PATH": path})

    def test_interpreter_that_is_not_executable_is_named(self):
        text = self.file("text", "")
        self.assert_refused(self.file("script", f"#!{text}\n", 0o755), 126, f"the interpreter {text}, which is not executable")

    def test_directory_is_named_as_such(self):
        self.assert_refused(self.directory.name, 126, "it is a directory")

    def test_file_with_impossible_segments_is_refused(self):
        program = bytearray(Path("/bin/true").read_bytes())
        headers, = struct.unpack_from("<Q", program, 32)
        count, = struct.unpack_from("<H", program, 56)
        kind_at, file_size_at, memory_size_at = 0, 32, 40  # offsets in Elf64_Phdr
        last = max(headers + 56 * i for i in range(count) if struct.unpack_from("<I", program, headers + 56 * i + kind_at)[0] == 1)
        memory_size, = struct.unpack_from("<Q", program, last + memory_size_at)
        for at, value in ((file_size_at, memory_size + 0x100000), (memory_size_at, 2**64 - 0x1000), (memory_size_at, 2**47)):
            damaged = bytearray(program)
            struct.pack_into("<Q", damaged, last + at, value)
            path = self.file("damaged")
            path.write_bytes(damaged)
            path.chmod(0o755)
            with self.subTest(at=at, value=value):
                self.assertEqual(subprocess.run([path], check=False).returncode, -11)
                self.assert_error(anyperf("run", "--", path), 126, "cannot run", "not a program")

    def test_file_that_is_not_executable_has_a_fix(self):
        self.assert_refused(self.file("text", "hello"), 126, "not marked as executable", "chmod +x")

    def test_absent_command_has_a_fix(self):
        self.assert_refused("/no/such/file", 127, "no such file", "check the path")
        self.assert_refused("anyperf-no-such-command", 127, "not found in PATH", "install it")

    def test_script_without_an_interpreter_is_run_by_the_shell(self):
        script = self.file("script", "echo \"$0 $1\"; exit 5\n", 0o755)
        for verb in VERBS:
            result = anyperf(*verb, "--", script, "word")
            self.assertEqual((result.returncode, result.stdout), (5, f"{script} word\n"), result.stderr)
        result = anyperf("run", "--", "script", env={**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"})
        self.assertEqual((result.returncode, result.stdout), (5, f"{script} \n"), result.stderr)

    def test_empty_script_succeeds(self):
        self.assertEqual(anyperf("run", "--", self.file("script", "", 0o755)).returncode, 0)

    def test_run_inside_a_run_reports_the_same(self):
        script = self.file("script", "#!/no/such/interpreter\n", 0o755)
        result = anyperf("run", "--", ANYPERF, "run", "--", script)
        self.assert_error(result, 127, "the interpreter /no/such/interpreter, which doesn't exist")


class Counts(Case):
    def test_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            status = subprocess.run([ANYPERF, "run", "--count", "--", "true"], stderr=full, timeout=60, check=False).returncode
        self.assertEqual(status, 125)


if __name__ == "__main__":
    unittest.main()
