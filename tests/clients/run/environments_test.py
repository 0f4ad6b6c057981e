"""A run works, and counts the same, in restricted environments: without privileges, files, system calls or resources."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PYTHON = "/usr/bin/python3"  # not an interpreter in a home directory, since user nobody must be able to run it

DENIED = Path(__file__).resolve().parents[2] / "support" / "denied.py"

# Only the file shows the level 4. If a kernel enforced it, perf_event_open would fail as with DENYING.
READ_ONLY = """
mount -o remount,ro,bind /proc && mount -o remount,ro,bind /sys || exit 99
echo 4 > LEVEL && mount --bind LEVEL /proc/sys/kernel/perf_event_paranoid || exit 99
exec "$@"
"""

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all", "--no-new-privs"]
DENYING = [PYTHON, str(DENIED), "298,321,101"]  # perf_event_open, bpf, ptrace
NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--net", "--ipc",
              "--uts"]

PROGRAM = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"
COUNT_INSTRUCTIONS = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
attr = ctypes.create_string_buffer(struct.pack("IIQ24xQ", 0, 128, 1, 1 << 5 | 1 << 6).ljust(128, b"\\0"))
fd = libc.syscall(298, attr, 0, -1, -1, 8)
assert fd >= 0, os.strerror(ctypes.get_errno())
print(struct.unpack("Q", os.read(fd, 8))[0])
"""

# A child that is process 1 of a new pid namespace, and another process for its parent.
CHILD_OF_A_NEW_NAMESPACE = """
import ctypes, os
assert ctypes.CDLL(None).unshare(0x20000000) == 0
child = os.fork()
if child == 0: os._exit(os.getpid())
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_minflt)
"""


class Environments(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.directory.chmod(0o777)

    def inside(self, prefix, *words):
        return subprocess.run([*prefix, *words], text=True, capture_output=True, check=False, timeout=100, cwd="/")

    def mounted(self):
        """The command prefix for a mount namespace with read-only /proc and /sys and a paranoid level of 4."""
        script = READ_ONLY.replace("LEVEL", str(self.directory / "level"))
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]

    def need(self, prefix):
        if os.geteuid() != 0:
            self.skipTest("needs root to take rights away")
        made = self.inside(prefix, ANYPERF, "--version")
        if made.returncode != 0:
            self.skipTest(f"cannot be made here: {made.stderr.strip()}")

    def assert_runs(self, prefix):
        """With this command prefix, programs in a run can count, and stat, run --count and perf stat give the expected counts."""
        self.need(prefix)
        own = self.inside(prefix, ANYPERF, "run", "--", PYTHON, "-c", COUNT_INSTRUCTIONS)
        self.assertGreater(int(own.stdout or 0), 100, own.stderr)
        report = self.inside(prefix, ANYPERF, "stat", "--virtual", "--json", "-e", "instructions:u", "--", "sh", "-c", PROGRAM)
        event = json.loads(report.stderr)["events"][0]
        self.assertEqual(event["status"], "counted")
        counts = self.directory / "counts"
        counted = self.inside(prefix, ANYPERF, "run", "--count=instructions", "--count-to", counts, "--", "sh", "-c", PROGRAM)
        self.assertEqual(counted.returncode, 0, counted.stderr)
        total = json.loads(counts.read_text())["total"]["instructions"]
        self.assertLess(abs(event["value"] - total), total / 1000)
        if shutil.which("perf") is not None:
            stat = self.inside(prefix, ANYPERF, "run", "--", "perf", "stat", "-x,", "-e", "instructions:u", "--", "true")
            self.assertRegex(stat.stderr, r"(?m)^\d+,,instructions:u,")

    def test_runs_as_nobody_without_capabilities(self):
        self.assert_runs(NOBODY)

    def test_runs_with_perf_event_open_bpf_and_ptrace_denied(self):
        self.assert_runs(DENYING)

    def test_runs_with_proc_and_sys_read_only_and_paranoid_4(self):
        self.assert_runs(self.mounted())

    def test_runs_in_new_namespaces(self):
        self.assert_runs([*NOBODY[:-2], *NAMESPACES])

    def test_processes_of_two_pid_namespaces_with_one_id_are_told_apart(self):
        prefix = ["unshare", "--pid", "--fork", "--mount-proc"]
        self.need(prefix)
        # The second process 1 begins after the first one, and runs while that looks at its parent's program.
        script = f"""
            {" ".join(prefix)} sh -c 'echo > begun; while [ ! -e other ]; do sleep 0.1; done; readlink /proc/1/exe; echo > read' &
            while [ ! -e begun ]; do sleep 0.1; done
            {" ".join(prefix)} {PYTHON} -c 'import os, time
open("other", "w").close()
while not os.path.exists("read"): time.sleep(0.1)'
            wait"""
        seen = subprocess.run([ANYPERF, "run", "--", "sh", "-c", script], text=True, capture_output=True, check=True, timeout=100,
                              cwd=self.directory)
        self.assertEqual(seen.stdout.strip(), os.path.realpath(shutil.which("sh")), seen.stderr)

    def test_the_usage_of_an_ended_child_in_a_new_pid_namespace_is_that_of_the_program(self):
        self.need(["unshare", "--pid", "--fork"])
        # A deterministic run reports no page faults, because the kernel's differ from run to run.
        seen = self.inside([], ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", CHILD_OF_A_NEW_NAMESPACE)
        self.assertEqual(seen.stdout, "1 0\n", seen.stderr)

    def test_runs_with_all_of_these_restrictions(self):
        self.assert_runs([*self.mounted(), *NOBODY, *DENYING])

    def test_runs_with_few_descriptors_and_no_locked_memory(self):
        self.assert_runs(["prlimit", "--nofile=24:24", "--memlock=0:0", "--"])

    def test_runs_with_dev_shm_full(self):
        full = "mount -t tmpfs -o size=4k none /dev/shm && ! head -c 8k /dev/zero > /dev/shm/full 2> /dev/null"
        self.assert_runs(["unshare", "-m", "sh", "-c", full + ' && exec "$@"', "sh"])

    def test_runs_with_a_soft_file_size_limit_of_0(self):
        self.assert_runs(["prlimit", "--fsize=0:", "--"])

    def test_reports_the_cause_if_a_run_cannot_start(self):
        for limit, cause in (("--fsize=0:0", "File too large"), ("--as=300000000", "Cannot allocate memory"),
                             ("--nofile=4", "Too many open files")):
            for verb in (["run"], ["stat", "--virtual", "-e", "instructions:u"]):
                with self.subTest(limit=limit, verb=verb[0]):
                    result = self.inside(["prlimit", limit, "--"], ANYPERF, *verb, "--", "true")
                    self.assertEqual(result.returncode, 125, result.stderr)
                    self.assertIn(cause, result.stderr)
                    self.assertIn("fix:", result.stderr)

    def test_runs_with_standard_streams_closed(self):
        self.need([])
        result = subprocess.run(["sh", "-c", f'exec 0<&- 2>&-; {ANYPERF} run -- sh -c "echo out"'], text=True,
                                stdout=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual((result.returncode, result.stdout), (0, "out\n"))


if __name__ == "__main__":
    unittest.main()
