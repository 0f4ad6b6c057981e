"""Under `anyperf run`, software events are the program's: without the engine's own page faults, waits and time."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PYTHON = "/usr/bin/python3"
DENIED = Path(__file__).resolve().parents[2] / "support" / "denied.py"
MADVISE = "28"
PERF_EVENT_OPEN = "298"
TOUCHES = "import mmap; m = mmap.mmap(-1, 4096 * 1000, flags=34); [m.__setitem__(4096 * i, 1) for i in range(1000)]"


def run(*words, prefix=()):
    return subprocess.run([*prefix, ANYPERF, "run", "--", *words], text=True, capture_output=True, timeout=200)


def sampled_faults(prefix=()):
    """The samples of page faults with period 1, as perf counts them, of a program that touches a thousand pages."""
    with tempfile.TemporaryDirectory() as directory:
        data = str(Path(directory) / "perf.data")
        recorded = run("perf", "record", "-e", "page-faults:u", "-c", "1", "-o", data, "--", PYTHON, "-S", "-c", TOUCHES,
                       prefix=prefix)
        samples = re.search(r"\((\d+) samples\)", recorded.stderr)
        return int(samples[1]) if samples else recorded.stderr


FAULTS_OF_CHILDREN = """
import os, resource
for command in (["/bin/true"], ["/usr/bin/python3", "-S", "-c", "pass"]):
    child = os.posix_spawn(command[0], command, os.environ)
    print(os.wait4(child, 0)[2].ru_minflt)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt, resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
child = os.posix_spawn("/bin/true", ["true"], os.environ)
os.waitid(os.P_PID, child, os.WEXITED)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)
"""


def faults_reported(*run_by):
    """Page faults of true and of python as wait4 reports them, of both together, of the process itself, and of all
    children, one more of which it has waited for by waitid."""
    done = subprocess.run([*run_by, PYTHON, "-S", "-c", FAULTS_OF_CHILDREN], text=True, capture_output=True, check=True)
    return [int(word) for word in done.stdout.split()]


# Each of 512 functions touches a page of its own and is run once, so the engine translates between any two faults. The
# functions are read first: then the pages of code are there.
COLD_CODE = """
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define F(n) __attribute__((noipa)) static void f##n(char* page) { page[(n) & 63] = (char)(n); }
#define F8(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define F64(n) F8(n##0) F8(n##1) F8(n##2) F8(n##3) F8(n##4) F8(n##5) F8(n##6) F8(n##7)
#define A(n) f##n,
#define A8(n) A(n##0) A(n##1) A(n##2) A(n##3) A(n##4) A(n##5) A(n##6) A(n##7)
#define A64(n) A8(n##0) A8(n##1) A8(n##2) A8(n##3) A8(n##4) A8(n##5) A8(n##6) A8(n##7)
F64(10) F64(11) F64(12) F64(13) F64(14) F64(15) F64(16) F64(17)
static void (*const all[])(char*) = {A64(10) A64(11) A64(12) A64(13) A64(14) A64(15) A64(16) A64(17)};
enum { kPages = sizeof all / sizeof *all, kPage = 4096 };
static char* memory(void) {
    char* pages = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, kPages * kPage, MADV_NOHUGEPAGE);
    return pages;
}
static int event(void) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_PAGE_FAULTS,
                                   .exclude_kernel = 1, .disabled = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
static void* count(void* half) {
    long long faults = 0;
    char* const pages = memory();
    const int fd = event(), first = half == NULL ? 0 : kPages / 2;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = first; i < first + kPages / 2; ++i) all[i](pages + i * kPage);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, &faults, sizeof faults) != sizeof faults) faults = -1;
    printf("%lld\\n", faults);
    fflush(stdout);
    return NULL;
}
int main(int argc, char** argv) {
    pthread_t thread;
    volatile char code = 0;
    (void)argv;
    for (int i = 0; i < kPages; ++i) code += *(const char*)all[i];
    if (argc > 1 && fork() != 0) return wait(NULL) < 0;
    count(NULL);
    pthread_create(&thread, NULL, count, &thread);
    return pthread_join(thread, NULL);
}
"""


class ColdCode(CompiledProgram):
    name = "cold"
    source = COLD_CODE
    options = ("-O1", "-pthread")

    def assert_faults(self, *words, **options):
        done = run(str(self.program), *words, **options)
        with self.subTest(words=words):
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["256", "256"]), done.stderr)

    def test_of_which_each_function_touches_a_page_has_that_many_faults(self):
        self.assert_faults()
        self.assert_faults("in a child")

    def test_has_them_where_the_kernel_makes_no_pages_ready(self):
        self.assert_faults(prefix=[sys.executable, str(DENIED), MADVISE])


class Usage(unittest.TestCase):
    def test_page_faults_of_processes_leave_out_the_engine(self):
        for native, seen in zip(faults_reported(), faults_reported(ANYPERF, "run", "--")):
            self.assertIn(seen, range(native // 2, native + native // 2 + 100))


@unittest.skipUnless(shutil.which("perf"), "perf is not installed")
class PageFaults(unittest.TestCase):
    def test_those_of_an_executed_program_leave_out_the_engine(self):
        counted = run("perf", "stat", "-x,", "-e", "page-faults:u", "/bin/true")
        faults = int(counted.stderr.split(",")[0])
        self.assertIn(faults, range(10, 200), counted.stderr)

    def test_each_is_sampled(self):
        self.assertIn(sampled_faults(), range(1000, 3000))

    def test_each_is_sampled_where_the_kernel_refuses_events(self):
        self.assertIn(sampled_faults([sys.executable, str(DENIED), PERF_EVENT_OPEN]), range(1000, 3000))


if __name__ == "__main__":
    unittest.main()
