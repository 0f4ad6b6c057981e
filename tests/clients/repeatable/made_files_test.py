"""`anyperf run --deterministic`: inode numbers and times of files, and the order of directories."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from compiled_program import CompiledProgram
from repeated_runs import ANYPERF, PYTHON, Load

EPOCH = 1796083200  # of a run
FIRST_INODE = 1 << 48

# Makes, changes and removes files by many calls, and prints what the calls that report about files say.
PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static void show(const char* path) {
    struct stat plain, link;
    struct statx more;
    lstat(path, &plain);
    fstatat(AT_FDCWD, path, &link, AT_SYMLINK_NOFOLLOW);
    statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_ALL, &more);
    int same = !memcmp(&plain, &link, sizeof plain) && more.stx_ino == plain.st_ino && more.stx_mtime.tv_nsec == plain.st_mtim.tv_nsec;
    printf("%s %ju %d %ld.%09ld %ld.%09ld %ld.%09ld %lld\n", path, (uintmax_t)plain.st_ino, same, plain.st_mtim.tv_sec, plain.st_mtim.tv_nsec,
           plain.st_ctim.tv_sec, plain.st_ctim.tv_nsec, plain.st_atim.tv_sec, plain.st_atim.tv_nsec, (long long)more.stx_btime.tv_sec);
}
static void make(const char* path) { close(open(path, O_CREAT | O_WRONLY, 0600)); }
static void text(int fd) { struct timespec time = {1, 5000}; nanosleep(&time, 0); if (write(fd, "text", 4) != 4) abort(); }
int main(void) {
    int fd = open("a", O_CREAT | O_RDWR | O_TRUNC, 0600);
    show("a");
    text(fd);
    show("a");
    make("b");
    mkdir("d", 0700);
    mkfifo("d/fifo", 0600);
    symlink("b", "d/link");
    link("b", "d/second");
    show("b"), show("d"), show("d/fifo"), show("d/link"), show("d/second");
    unlink("b");
    show("d/second");
    rename("a", "d/moved");
    show("d/moved"), show("d"), show(".");
    chmod("d/moved", 0640);
    show("d/moved");
    struct timespec times[2] = {{1000, 1}, {2000, 2}};
    utimensat(AT_FDCWD, "d/moved", times, 0);
    show("d/moved");
    text(fd);
    ftruncate(fd, 1);
    show("d/moved");
    int pipes[2], pair[2], memory = memfd_create("m", 0), nameless = open("d", O_TMPFILE | O_RDWR, 0600);
    pipe(pipes), socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    int all[] = {pipes[0], pipes[1], pair[0], pair[1], memory, nameless};
    for (int i = 0; i < 6; ++i) {
        struct stat about;
        if (fstat(all[i], &about) == 0) printf("%d %ju %ld\n", i, (uintmax_t)about.st_ino, about.st_mtim.tv_sec);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("now %ld\n", now.tv_sec);
    return 0;
}
"""

# Lists a directory by both calls, with positions.
LISTING = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
struct old { unsigned long inode; long next; unsigned short bytes; char name[]; };
int main(int argc, char** argv) {
    DIR* dir = opendir(argv[1]);
    long middle = 0;
    int count = 0;
    for (struct dirent* entry; (entry = readdir(dir)) != 0;) {
        struct stat about;
        fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW);
        printf("%s %d %d\n", entry->d_name, about.st_ino == entry->d_ino || !strcmp(entry->d_name, ".."), entry->d_type);
        if (++count == 5) middle = telldir(dir);
    }
    seekdir(dir, middle);
    printf("sixth %s\n", readdir(dir)->d_name);
    rewinddir(dir);
    printf("first %s\n", readdir(dir)->d_name);
    int fd = open(argv[1], O_RDONLY | O_DIRECTORY);
    char room[200];
    for (long got; (got = syscall(SYS_getdents, fd, room, sizeof room)) > 0;)
        for (long at = 0; at < got; at += ((struct old*)(room + at))->bytes) {
            struct old* entry = (struct old*)(room + at);
            printf("old %s %d\n", entry->name, room[at + entry->bytes - 1]);
        }
    printf("small %ld\n", (lseek(fd, 0, SEEK_SET), syscall(SYS_getdents64, fd, room, 8)));
    return argc != 2;
}
"""


class MadeFiles(CompiledProgram):
    name, source, options = "files", PROGRAM, ("-O1", "-w")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run(["gcc", *cls.options, "-xc", "-", "-o", cls.directory / "listing"], input=LISTING, text=True, check=True)

    def run_in(self, place, *command, options=("--deterministic",)):
        run = subprocess.run([ANYPERF, "run", *options, "--", *map(str, command)], capture_output=True, text=True, timeout=100,
                             cwd=place, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def empty_place(self):
        place = Path(tempfile.mkdtemp(dir=self.directory))
        os.utime(place, (EPOCH - 10**7, EPOCH - 10**7))
        return place

    def test_the_numbers_and_times_of_made_files_are_the_runs(self):
        with Load(2):
            for options in ("--deterministic",), ("--deterministic", "--no-turns"):
                seen = {re.sub(r"(?m)^\. .*", ".", self.run_in(self.empty_place(), self.directory / "files", options=options))
                        for _ in range(3)}
                self.assertEqual(len(seen), 1, seen)
        lines = [line.split() for line in seen.pop().splitlines() if line != "."]
        files = [line for line in lines if len(line) == 7]
        self.assertTrue(all(line[2] == "1" for line in files), files)
        self.assertTrue(all(int(line[1]) >= FIRST_INODE for line in files), files)
        by_number = sorted({int(line[1]) for line in files})
        self.assertEqual([(line[0], by_number.index(int(line[1]))) for line in files],
                         [("a", 0), ("a", 0), ("b", 1), ("d", 2), ("d/fifo", 3), ("d/link", 4), ("d/second", 1), ("d/second", 1),
                          ("d/moved", 0), ("d", 2), ("d/moved", 0), ("d/moved", 0), ("d/moved", 0)])
        modified = [float(line[3]) for line in files]
        self.assertEqual([int(time) - EPOCH for time in modified[:11]], [0] + [1] * 10)
        self.assertEqual(modified[11], 2000.000000002)
        self.assertEqual(files[11][5], "1000.000000001")
        self.assertEqual(int(modified[12]) - EPOCH, 2)
        unnamed = [int(line[1]) - by_number[-1] for line in lines if len(line) == 3]
        self.assertEqual([number - unnamed[4] for number in unnamed], [4, 4, 2, 3, 0, 1])
        self.assertEqual(lines[-1], ["now", str(EPOCH + 2)])

    def test_a_number_is_not_used_again(self):
        script = "for i in 1 2 3; do : > x; ls -i x; rm x; done"
        numbers = [int(word) for word in self.run_in(self.empty_place(), "sh", "-c", script).split()[::2]]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_numbers_do_not_depend_on_how_the_input_was_copied(self):
        outputs = set()
        for order in "one two three", "three two one":
            place = self.empty_place()
            for name in order.split():
                (place / name).write_text(name)
            outputs.add(self.run_in(place, "sh", "-c", "ls -i; ls -id ."))
        self.assertEqual(len(outputs), 1, outputs)

    def test_files_that_are_older_than_the_run_keep_their_order_and_precede_what_it_makes(self):
        place = self.empty_place()
        now = int(time.time())
        times = {"old": 10**9 * 10**9 + 7, "newer": (now - 1000) * 10**9, "newest": (now - 999) * 10**9}
        for name, when in times.items():
            (place / name).touch()
            os.utime(place / name, ns=(when, when))
        script = ("import os; from pathlib import Path; Path('made').touch()\n"
                  "print(*[os.stat(name).st_mtime_ns for name in ('old', 'newer', 'newest', 'made')])")
        old, newer, newest, made = map(int, self.run_in(place, PYTHON, "-c", script).split())
        self.assertEqual(old, times["old"])
        self.assertTrue(newer / 1e9 < newest / 1e9 < EPOCH <= made / 1e9, (newer, newest, made))
        if now - 1000 > EPOCH:
            self.assertGreater(newer / 1e9, EPOCH - 86400)

    def test_a_copy_with_times_has_those_of_the_original(self):
        place = self.empty_place()
        (place / "original").write_text("x")
        when = int(time.time()) - 5000
        os.utime(place / "original", (when, when))
        shown = self.run_in(place, "sh", "-c", "cp -p original copy; stat -c %y original copy").splitlines()
        self.assertEqual(shown[0], shown[1])
        self.assertAlmostEqual((place / "copy").stat().st_mtime, when, delta=0.001)

    @unittest.skipIf(shutil.which("make") is None, "make is not installed")
    def test_make_makes_what_is_older_and_no_more(self):
        place = self.empty_place()
        (place / "Makefile").write_text("all: one two\n%: %.in\n\tcp $< $@; echo made $@\n")
        start = int(time.time()) - 1000
        for name, after in (("one.in", 20), ("one", 10), ("two.in", 0), ("two", 10)):
            (place / name).touch()
            os.utime(place / name, (start + after, start + after))
        script = "make -s; make -s; touch two.in; make -s"
        self.assertEqual(self.run_in(place, "sh", "-c", script).split(), ["made", "one", "made", "two"])

    def test_directories_are_sorted(self):
        names = sorted(["a", "B", "zz", "dir", "-x", "f1", "f10", "f2", "long" * 40, "pipe"])
        outputs = set()
        for order in names, names[::-1]:
            place = self.empty_place() / "listed"
            place.mkdir()
            for name in order:
                (place / name).mkdir() if name == "dir" else os.mkfifo(place / name) if name == "pipe" else (place / name).touch()
            outputs.add(self.run_in(place, self.directory / "listing", "."))
        self.assertEqual(len(outputs), 1, outputs)
        lines = [line.split() for line in outputs.pop().splitlines()]
        expected = sorted([*names, ".", ".."])
        kinds = {"dir": "4", "pipe": "1", ".": "4", "..": "4"}
        self.assertEqual([line for line in lines[:12]], [[name, "1", kinds.get(name, "8")] for name in expected])
        self.assertEqual(lines[12:14], [["sixth", expected[5]], ["first", expected[0]]])
        self.assertEqual([line for line in lines[14:-1]], [["old", name, kinds.get(name, "8")] for name in expected])
        self.assertEqual(lines[-1], ["small", "-1"])

    def test_what_is_made_while_a_directory_is_read_is_seen_by_the_next_reader(self):
        script = ("import os\nfor n in range(3000): open('f%d' % n, 'w').close()\nseen = 0\n"
                  "for entry in os.scandir('.'): seen += 1; os.unlink(entry.name)\nopen('last', 'w').close()\n"
                  "print(seen, os.listdir('.'), len(os.listdir('/proc/self/fd')))")
        self.assertEqual(self.run_in(self.empty_place(), PYTHON, "-c", script), "3000 ['last'] 4\n")

    def test_directories_that_are_open_at_once_and_one_after_another_are_sorted(self):
        place = self.empty_place()
        names = ["b", "longer name", "longer names", "a", "\xe9", "c" * 255]
        deepest = place
        for _ in range(6):
            for name in names:
                (deepest / name).mkdir()
            deepest = deepest / "b"
        script = """
import os
def walk(path, depth):
    with os.scandir(path) as entries:
        for entry in entries:
            print(depth, entry.name, entry.inode() == os.stat(entry.path).st_ino)
            walk(entry.path, depth + 1)
walk('.', 0)
again = [names for _, names, _ in os.walk('.')]
first = os.open('.', os.O_RDONLY)
second = os.dup(first)
print(again[0], os.listdir(first) == again[0], os.listdir(second), len(os.listdir('/proc/self/task')))
"""
        lines = self.run_in(place, PYTHON, "-c", script).splitlines()
        ordered = sorted(names, key=os.fsencode)
        expected = []
        def walk(depth):
            for name in ordered:
                expected.append(f"{depth} {name} True")
                if name == "b" and depth < 5:
                    walk(depth + 1)
        walk(0)
        self.assertEqual(lines[:-1], expected)
        self.assertEqual(lines[-1], f"{ordered} True {ordered} 1")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
