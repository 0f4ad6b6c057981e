"""`anyperf report --stats`, `--tasks` and `--mmaps` print what perf's report prints."""
import re
import shutil
import subprocess
import tempfile
import unittest

from perf_recording import perf_record
from program import ANYPERF, Case

# Threads, forks, forks of forks, execs and maps over maps. Names of threads change.
PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long sum;
static void* work(void* name) {
    if (name) pthread_setname_np(pthread_self(), name);
    for (long i = 0; i < 20000000; i++) sum += i;
    return 0;
}
static void child(int depth) {
    if (fork() == 0) {
        if (depth > 0) child(depth - 1);
        work(0);
        if (depth == 1) execl("/bin/true", "true", (char*)0);
        _exit(0);
    }
    wait(0);
}
int main(int count, char** words) {
    pthread_t thread[2];
    pthread_create(&thread[0], 0, work, "first worker");
    pthread_create(&thread[1], 0, work, 0);
    const int file = open(words[0], O_RDONLY);
    char* const place = mmap(0, 5 * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    mmap(place + 2 * 4096, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    mmap(place + 4096, 2 * 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file, 4096);
    child(2);
    child(0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
    return count == 0;
}
"""


@unittest.skipUnless(shutil.which("perf"), "perf is not installed")
class RecordLists(Case):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.program = f"{directory.name}/forks"
        subprocess.run(["gcc", "-O1", "-pthread", "-xc", "-", "-o", cls.program], input=PROGRAM, text=True, check=True)

    def record(self, *options, recorder=("perf",)):
        path = self.file("data")
        if recorder == ("perf",):
            return perf_record(self, path, "-e", "cpu-clock:u", *options, command=[self.program])
        subprocess.run([*recorder, "record", "-q", "-o", path, "-e", "cpu-clock:u", *options, "--", self.program], check=True, timeout=60,
                       capture_output=True, stdin=subprocess.DEVNULL)
        return path

    def list(self, program, path, option):
        return subprocess.run([program, "report", "-i", path, option], capture_output=True, text=True, timeout=60, check=True).stdout

    def assert_equal(self, path, option):
        printed = [self.list(program, path, option) for program in ("perf", ANYPERF)]
        self.assertGreater(len(printed[0].splitlines()), 8)
        self.assertEqual(printed[1], printed[0])
        return printed[1]

    def test_records_are_counted_as_by_perf(self):
        for options in ([], ["-g"], ["-z"], ["-e", "page-faults:u"], ["-e", "{cpu-clock:u,page-faults:u}:S"], ["--switch-events"]):
            with self.subTest(options=options):
                self.assert_equal(self.record(*options), "--stats")

    def test_own_recordings_are_counted_as_by_perf(self):
        self.assert_equal(self.record(recorder=[ANYPERF]), "--stats")

    def test_tasks_are_below_those_that_have_made_them(self):
        lines = self.assert_equal(self.record(), "--tasks").splitlines()
        self.assertTrue(any(line.endswith("| first worker") for line in lines), lines)
        self.assertTrue(any(line.endswith("|  true") for line in lines), lines)

    def test_maps_are_those_at_the_end(self):
        for options in ([], ["-d"]):
            with self.subTest(options=options):
                self.assert_equal(self.record(*options), "--mmaps")

    def test_files_of_records_with_build_ids_have_no_inodes(self):
        # perf takes bytes of the build id for the inode.
        path = self.record("--buildid-mmap")
        ours, theirs = (re.sub(r"( [0-9a-f]{8,} )\d+ /", r"\1INODE /", self.list(program, path, "--mmaps")) for program in (ANYPERF, "perf"))
        self.assertEqual(ours, theirs)
        self.assertRegex(self.list(ANYPERF, path, "--mmaps"), r" 0 /\S*/forks\n")

    def test_one_list_is_printed(self):
        result = subprocess.run([ANYPERF, "report", "-i", self.record(), "--stats", "--tasks"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 125)
        self.assertIn("cannot print two lists", result.stderr)


if __name__ == "__main__":
    unittest.main()
