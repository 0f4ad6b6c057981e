"""Code with separate writes: by wish, and where the kernel refuses memory that is writable and executable. No mapping of a
program is both, and programs, forks and counts are as without."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PYTHON = "/usr/bin/python3"
NO_WRITE_EXECUTE = Path(__file__).resolve().parents[2] / "support" / "no_write_execute.py"
KINDS = ["mdwe", "filter", "execmem"]

# Four processes: a parent, its child, its grandchild, and a program that the child of another fork executes. Each names
# itself, waits for the end of standard input, and then runs code that it has not run before.
FAMILY = r"""
import os, sys
def finish():
    import json, re, hashlib
    text = json.dumps({str(i): i * i for i in range(300)})
    return hashlib.sha256(re.sub(r"\d+", lambda m: m.group()[::-1], text).encode()).hexdigest()[:8]
def name():
    os.write(1, f"{os.getpid()}\n".encode())
child = os.fork()
if child == 0:
    grandchild = os.fork()
    others = [grandchild] if grandchild else []
else:
    other = os.fork()
    if other == 0:
        os.execv("/bin/sh", ["sh", "-c", "echo $$; read line; x=1; for i in 1 2 3; do x=$((x * 7)); done; echo sum $x"])
    others = [child, other]
name()
sys.stdin.read()
os.write(1, f"sum {finish()}\n".encode())
sys.exit(any(os.waitpid(child, 0)[1] for child in others))
"""


class SeparateWrites(unittest.TestCase):
    def run_of(self, *command, wish=True, kind=None):
        """The words and the environment of a run."""
        prefix = [sys.executable, str(NO_WRITE_EXECUTE), kind] if kind else []
        environment = {**os.environ, "ANYPERF_ENGINE_SEPARATE_WRITES": "1" if wish else "0"}
        return [*prefix, ANYPERF, *command], environment

    def check_family(self, **how):
        words, environment = self.run_of("run", "--", PYTHON, "-c", FAMILY, **how)
        run = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE, bufsize=1)
        self.addCleanup(run.kill)
        processes = [run.stdout.readline().strip() for _ in range(4)]
        if not all(processes):
            self.fail(run.communicate()[1])
        both = []
        for process in processes:
            maps = Path(f"/proc/{process}/maps").read_text().splitlines()
            self.assertGreater(len(maps), 20)
            both += [line for line in maps if "w" in line.split()[1] and "x" in line.split()[1]]
        out, error = run.communicate("x\n", timeout=100)
        self.assertEqual((run.returncode, error), (0, ""))
        sums = sorted(line for line in out.splitlines() if line.startswith("sum"))
        self.assertEqual(len(sums), 4)
        self.assertEqual(len(set(sums)), 2, sums)
        return both

    def need(self, kind):
        made = subprocess.run([sys.executable, str(NO_WRITE_EXECUTE), kind, "true"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(made.stderr.strip())

    def test_no_mapping_is_writable_and_executable(self):
        self.assertEqual(self.check_family(), [])
        self.assertNotEqual(self.check_family(wish=False), [])

    def test_it_needs_no_wish_where_the_kernel_refuses_such_mappings(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.need(kind)
                self.assertEqual(self.check_family(wish=False, kind=kind), [])

    def counts(self, *words, **how):
        """The name and the counts of each process of a deterministic run."""
        with tempfile.NamedTemporaryFile() as file:
            command, environment = self.run_of("run", "--deterministic", "--count=all", "--count-to", file.name, "--", *words, **how)
            subprocess.run(command, env=environment, check=True, capture_output=True, timeout=100)
            processes = json.loads(Path(file.name).read_text(encoding="utf-8"))["processes"]
        return sorted(f"{process['comm']} {thread['counts']}" for process in processes for thread in process["threads"])

    def test_counts_are_the_same(self):
        words = ["sh", "-c", "for i in 1 2 3; do (x=$i; while [ $x -lt 400 ]; do x=$((x + 1)); done); done; /bin/true"]
        self.assertEqual(self.counts("env", "-i", *words), self.counts("env", "-i", *words, wish=False))

    def test_a_cache_that_is_emptied_again_and_again_serves(self):
        words, environment = self.run_of("run", "--", PYTHON, "-c", "import os, json; os.fork(); os.write(1, b'%d\\n' % len(json.dumps([1] * 1000)))")
        answer = subprocess.run(words, env={**environment, "ANYPERF_ENGINE_CACHE": "500K"}, capture_output=True, text=True,
                                check=False, timeout=100)
        self.assertEqual((answer.returncode, answer.stdout, answer.stderr), (0, "3000\n3000\n", ""))

    def test_models_run_their_code(self):
        words, environment = self.run_of("stat", "--virtual", "-j", "-e", "L1-dcache-load-misses:u", "sh", "-c",
                                         "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done")
        answer = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertGreater(int(json.loads(answer.stderr.splitlines()[0])["events"][0]["value"]), 100)

    def test_another_value_is_refused(self):
        words, environment = self.run_of("run", "true")
        environment["ANYPERF_ENGINE_SEPARATE_WRITES"] = "yes"
        answer = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 125)
        self.assertIn("ANYPERF_ENGINE_SEPARATE_WRITES=yes is neither 0 nor 1", answer.stderr)


if __name__ == "__main__":
    unittest.main()
