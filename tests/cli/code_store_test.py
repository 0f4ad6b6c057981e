"""Translations that are kept for later runs: the same counts with and without, what is done about damage, and who can use them."""
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

ANYPERF = os.environ.get("ANYPERF", "build/bin/anyperf")
PROGRAMS = pathlib.Path(ANYPERF).resolve().parent.parent / "tests" / "programs"
OTHER_USER = 65534
TABLE = pathlib.Path(__file__).resolve().parent.parent / "engine" / "programs.tsv"


def exact_programs():
    """The engine's test programs whose counts repeat: names of files in PROGRAMS."""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return [row[0] for row in rows if row[3] == "exact"]


class CodeStore(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="anyperf-store-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.store = self.directory / "store"
        self.store.mkdir(mode=0o700)

    def run_command(self, *words, options=(), store=None, prefix=(), **more):
        environment = dict(os.environ, ANYPERF_CACHE_DIR=str(store or self.store), LC_ALL="C")
        environment.update(more.pop("environment", {}))
        return subprocess.run([*prefix, ANYPERF, "run", *options, "--", *words], capture_output=True, text=True,
                              env=environment, stdin=subprocess.DEVNULL, timeout=100, **more)

    def counts(self, *words, options=(), store=None, may_fail=False):
        """The total of all classes, of a run without address space randomisation, in which counts repeat."""
        file = self.directory / "counts"
        ran = self.run_command(*words, options=("--count", f"--count-to={file}", *options), store=store,
                               prefix=("setarch", "-R"))
        if not may_fail:
            self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(file.read_text())["total"], ran.stdout, ran.returncode

    def files(self):
        return sorted(self.store.glob("*.code"))

    def test_counts_are_the_same_cold_warm_and_without(self):
        # No shell that waits: dash takes another way if the child has ended before it looks.
        for words in (["/bin/true"], ["/bin/echo", "x"], ["/bin/sh", "-c", "exec /bin/sh -c 'exec /bin/echo x'"],
                      ["/usr/bin/sort", __file__]):
            with self.subTest(words=words):
                without = self.counts(*words, options=["--no-cache"])
                cold = self.counts(*words)
                warm = [self.counts(*words) for _ in range(3)]
                self.assertEqual(cold, without)
                self.assertEqual(warm, [without] * 3)
        self.assertGreater(len(self.files()), 3)

    def test_all_programs_have_the_same_counts_cold_warm_and_without(self):
        # Programs scan their environment, so all runs have the same one.
        for name in exact_programs():
            with self.subTest(program=name):
                words = [PROGRAMS / name]
                without = self.counts(*words, options=["--no-cache"], may_fail=True)
                runs = [self.counts(*words, may_fail=True) for _ in range(3)]
                self.assertEqual(runs, [without] * 3)
        self.assertGreater(len(self.files()), 30)

    def repeatable(self, *words, options=()):
        """Output, status and each thread's counts of a deterministic run."""
        file = self.directory / "counts"
        ran = self.run_command(*words, options=("--deterministic", "--count", f"--count-to={file}", *options))
        threads = [(process["comm"], thread["comm"], thread["counts"])
                   for process in json.loads(file.read_text())["processes"] for thread in process["threads"]]
        return ran.stdout, ran.returncode, threads

    def test_deterministic_runs_are_the_same_cold_warm_and_without(self):
        # What they print has addresses, descriptors, times and random bytes in it.
        shell = """cat /proc/self/maps; ls -l /proc/self/fd; stat -c '%i %y' /bin/sh . ; date +%N; echo $$ | cat
            for word in 1 2 3; do (exec /bin/echo $word) & done; wait"""
        python = """if 1:
            import os, sys, tempfile, threading, time
            threads = [threading.Thread(target=lambda n=n: print(n, sum(range(n * 20000)), time.monotonic_ns())) for n in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            if os.fork() == 0: os._exit(print(os.getpid(), id(sys), os.urandom(4), os.open('/', 0), flush=True) or 0)
            print(os.wait(), tempfile.mktemp())"""
        clocks = self.built("""
            #include <stdio.h>
            #include <x86intrin.h>
            int main(void) { unsigned of; unsigned long long first = __rdtsc(); printf("%llu %llu\\n", first, __rdtscp(&of) - first); }""")
        for words in (["/bin/sh", "-c", shell], ["/usr/bin/python3", "-c", python], ["/usr/bin/perl", "-e", "print keys %ENV, \\1"], [clocks]):
            with self.subTest(words=words):
                without = self.repeatable(*words, options=["--no-cache"])
                self.assertEqual(without[1], 0)
                self.assertEqual([self.repeatable(*words) for _ in range(3)], [without] * 3)
        self.assertGreater(len(self.files()), 5)

    def test_all_programs_repeat_cold_warm_and_without(self):
        for name in exact_programs():
            with self.subTest(program=name):
                without = self.repeatable(PROGRAMS / name, options=["--no-cache"])
                self.assertEqual([self.repeatable(PROGRAMS / name) for _ in range(3)], [without] * 3)

    def test_deterministic_runs_have_files_of_their_own(self):
        # Both count the same; only their translations of rdtsc differ. A run that took the file of the other kind would read the
        # other clock.
        program = self.built("""
            #include <stdio.h>
            #include <x86intrin.h>
            int main(void) { printf("%llu\\n", __rdtsc()); }""")
        counted = ["--count=instructions", f"--count-to={self.directory / 'counts'}"]
        others = {self.run_command(program, options=counted).stdout for _ in range(3)}
        repeated = {self.run_command(program, options=["--deterministic", *counted, *options]).stdout for options in ([], [], ["--no-cache"])}
        self.assertEqual((len(others), len(repeated)), (3, 1), (others, repeated))

    def test_stat_has_the_same_counts_cold_warm_and_without(self):
        def counted(*options, words):
            ran = subprocess.run(["setarch", "-R", ANYPERF, "stat", "--virtual", "--json", "-e",
                                  "instructions:u,branches:u,mem-loads:u,mem-stores:u", *options, "--", *words], capture_output=True, text=True,
                                 env=dict(os.environ, ANYPERF_CACHE_DIR=str(self.store)))
            events = json.loads(ran.stderr or ran.stdout)["events"]
            return [(event["name"], event["value"]) for event in events]

        for words in (["/bin/true"], ["/bin/sh", "-c", "exec /bin/true"], [PROGRAMS / "strings"], [PROGRAMS / "calls"],
                      [PROGRAMS / "signal_fault"], [PROGRAMS / "processes"]):
            with self.subTest(words=words):
                without = counted("--no-cache", words=words)
                self.assertEqual([counted(words=words) for _ in range(3)], [without] * 3)

    def test_an_uncounted_run_and_a_counted_one_have_files_of_their_own(self):
        self.assertEqual(self.run_command("/bin/echo", "x").stdout, "x\n")
        uncounted = self.files()
        self.counts("/bin/echo", "x")
        self.assertGreater(len(self.files()), len(uncounted))
        self.assertEqual(self.run_command("/bin/echo", "x").stdout, "x\n")

    def test_each_set_of_classes_has_files_of_its_own(self):
        program = self.built("""
            int main(void) { volatile double sum = 1; for (int i = 0; i < 1000; ++i) sum = sum * 1.5; }""")

        def counted(classes, *options):
            file = self.directory / "counts"
            self.run_command(program, options=(f"--count={classes}", f"--count-to={file}", *options), prefix=("setarch", "-R"))
            return json.loads(file.read_text())["total"]

        for last in ("scalar-double", "floating-point", "updates"):
            with self.subTest(last=last):
                without = counted(f"instructions,{last}", "--no-cache")
                self.assertGreaterEqual(without[last], 1000 if last != "updates" else 0)
                for classes in ("instructions", "instructions"):
                    counted(classes)
                self.assertEqual([counted(f"instructions,{last}") for _ in range(3)], [without] * 3)

    def test_sampling_gives_the_same_samples(self):
        def samples(*options, words):
            data = self.directory / "perf.data"
            subprocess.run(["setarch", "-R", ANYPERF, "record", "--virtual", "-e", "instructions:u", "-c", "1009", "-o", data,
                            *options, "--", *words], check=True, capture_output=True,
                           env=dict(os.environ, ANYPERF_CACHE_DIR=str(self.store)))
            return subprocess.run([ANYPERF, "script", "-i", data, "-F", "comm,ip"], check=True, capture_output=True, text=True).stdout

        # No shell: what it does with its process id depends on how many digits that has.
        for words in (["/bin/echo", "x"], *([PROGRAMS / name] for name in ("strings", "calls", "many_blocks", "flags_kept", "signal_self"))):
            with self.subTest(words=words):
                without = samples("--no-cache", words=words)
                self.assertGreater(without.count("\n"), 2)
                for _ in range(3):
                    self.assertEqual(samples(words=words), without)

    def test_no_cache_stores_nothing(self):
        self.run_command("/bin/true", options=["--no-cache"])
        self.assertEqual(self.files(), [])

    def test_a_damaged_file_is_ignored_and_replaced(self):
        expected = self.counts("/bin/echo", "x")
        for damage in ("bytes", "head", "cut", "empty", "grown"):
            with self.subTest(damage=damage):
                for file in self.files():
                    content = bytearray(file.read_bytes())
                    if damage == "bytes":
                        for at in range(0, len(content), 97):
                            content[at] ^= 0x55
                    elif damage == "head":
                        content[20] ^= 1
                    elif damage == "cut":
                        del content[len(content) // 2:]
                    elif damage == "empty":
                        content.clear()
                    else:
                        content = content * 2
                    file.write_bytes(content)
                self.assertEqual(self.counts("/bin/echo", "x"), expected)
                sizes = [file.stat().st_size for file in self.files()]
                self.assertEqual(self.counts("/bin/echo", "x"), expected)
                self.assertTrue(all(size > 1000 for size in sizes), sizes)

    def test_a_program_that_is_written_in_place_runs_as_written(self):
        # The times are those of before, so only the content tells the two apart.
        program = self.directory / "program"
        source = self.directory / "program.c"

        def build(number):
            source.write_text(f"#include <stdio.h>\nint main(void) {{ printf(\"%d\\n\", {number}); return 0; }}\n")
            made = self.directory / "made"
            subprocess.run(["gcc", "-O1", "-Wl,--build-id=none", source, "-o", made], check=True)
            return made.read_bytes()

        first, second = build(1111), build(2222)
        self.assertEqual(len(first), len(second))
        program.write_bytes(first)
        program.chmod(0o755)
        times = program.stat()
        for content, answer in ((first, "1111\n"), (second, "2222\n"), (first, "1111\n")):
            with open(program, "r+b") as file:
                file.write(content)
            os.utime(program, ns=(times.st_atime_ns, times.st_mtime_ns))
            for _ in range(2):
                self.assertEqual(self.run_command(program).stdout, answer)

    def built(self, source, *options):
        """The program made of a C text."""
        file = self.directory / "made.c"
        file.write_text(source)
        program = self.directory / f"made{len(list(self.directory.glob('made*')))}"
        subprocess.run(["gcc", "-O1", "-w", *options, file, "-o", program], check=True)
        return program

    def test_code_that_is_poked_after_its_page_was_read_runs_as_poked(self):
        # The write comes after other code of the page was executed. Nothing leads to the function but a pointer: what is
        # called directly may have been loaded with its caller.
        program = self.built("""
            #include <fcntl.h>
            #include <stdio.h>
            #include <unistd.h>
            __attribute__((noipa)) int answer(void) { __asm__ volatile(""); return 1; }
            int main(int count, char** words) {
                unsigned char* code = (unsigned char*)answer;
                while (code[0] != 0xb8 || code[1] != 1) ++code;
                if (count > 1) pwrite(open("/proc/self/mem", O_RDWR), "\\2", 1, (off_t)(code + 1));
                int (*volatile called)(void) = answer;
                printf("%d\\n", called());
            }""")
        for words, answer in (((), "1\n"), (("poke",), "2\n"), ((), "1\n"), (("poke",), "2\n"), ((), "1\n")):
            self.assertEqual(self.run_command(program, *words).stdout, answer)

    def test_another_presented_cpu_has_files_of_its_own(self):
        program = self.built("""
            #include <stdio.h>
            int main(void) {
                unsigned value = 240, bits;
                __asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0" ::: "xmm0");
                __asm__ volatile("popcnt %1, %0" : "=r"(bits) : "r"(value));
                printf("%u\\n", bits);
            }""")
        refusal = self.run_command("true", options=["--cpu-model", "x86-64-v3"]).stderr
        if "this CPU lacks" in refusal:
            self.skipTest(refusal.splitlines()[1].strip())
        with_avx = [(0, "4\n")] * 2
        refused = [(-signal.SIGILL, "")] * 2
        for model, expected in (("host", with_avx), ("x86-64-v2", refused), ("host", with_avx), ("x86-64-v3", with_avx), ("x86-64-v2", refused)):
            with self.subTest(model=model):
                runs = [self.run_command(program, options=["--cpu-model", model]) for _ in range(2)]
                self.assertEqual([(ran.returncode, ran.stdout) for ran in runs], expected)

    def test_counts_that_rdpmc_reads_are_the_same(self):
        # The first rdpmc gives the event a word of its own: what is translated from then on adds to it.
        program = self.built("""
            #include <linux/perf_event.h>
            #include <stdio.h>
            #include <sys/mman.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            __attribute__((noinline)) int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i & 3; return sum; }
            static unsigned long long counter(unsigned index) {
                unsigned low, high;
                __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
                return (unsigned long long)high << 32 | low;
            }
            int main(void) {
                struct perf_event_attr attr = {.size = sizeof attr, .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1};
                int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
                struct perf_event_mmap_page* page = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
                if (fd < 0 || page->index == 0) return 3;
                for (int n = 1; n < 5; ++n) {
                    unsigned long long before = counter(page->index - 1);
                    work(100 * n);
                    printf("%llu\\n", counter(page->index - 1) - before);
                }
            }""")
        without = self.run_command(program, options=["--no-cache"])
        self.assertEqual((without.returncode, without.stdout.count("\n")), (0, 4))
        for _ in range(4):
            self.assertEqual(self.run_command(program).stdout, without.stdout)

    def test_breakpoints_and_models_count_the_same(self):
        def counted(event, *words):
            ran = subprocess.run(["setarch", "-R", ANYPERF, "stat", "--virtual", "--json", "-e", event, *words], capture_output=True, text=True,
                                 env=dict(os.environ, ANYPERF_CACHE_DIR=str(self.store)))
            return [event["value"] for event in json.loads(ran.stderr or ran.stdout)["events"]]

        program = self.built("""
            __attribute__((noinline)) int step(int i) { __asm__ volatile(""); return i + 1; }
            int main(void) { int i = 0; while (i < 1000) i = step(i); }""", "-no-pie")
        names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        step = next(line.split()[0] for line in names.splitlines() if line.endswith(" step"))
        for event in (f"mem:0x{step}:x", "branch-misses:u,L1-dcache-load-misses:u", "cycles:u,instructions:u"):
            with self.subTest(event=event):
                without = counted(event, "--no-cache", "--", program)
                self.run_command(program)
                self.assertEqual([counted(event, "--", program) for _ in range(3)], [without] * 3)
                if event.startswith("mem"):
                    self.assertEqual(without, [1000])

    def test_a_library_that_a_program_of_the_run_writes_is_the_new_one(self):
        # The library stays mapped while it is written, and its code has been stored before.
        program = self.built("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <stdio.h>
            #include <string.h>
            #include <sys/mman.h>
            #include <unistd.h>
            int main(int count, char** words) {
                void* library = dlopen(words[1], RTLD_NOW);
                int (*first)(void) = dlsym(library, "first");
                int (*second)(void) = dlsym(library, "second");
                if (count > 2) {
                    int sum = first();
                    Dl_info about;
                    dladdr((void*)second, &about);
                    unsigned char* code = (unsigned char*)second;
                    while (code[0] != 0xb8 || code[1] != 2) ++code;
                    int fd = open(words[1], O_RDWR);
                    pwrite(fd, words[2], 1, (char*)code + 1 - (char*)about.dli_fbase);
                    printf("%d %d\\n", sum, second());
                } else printf("%d %d\\n", first(), second());
            }""")
        library = self.directory / "library.so"
        source = self.directory / "library.c"
        source.write_text("int first(void) { return 1; } int second(void) { return 2; }")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
        content = library.read_bytes()
        for words, answer in (((), "1 2\n"), ((), "1 2\n"), (("\5",), "1 5\n"), (("\5",), "1 5\n"), ((), "1 2\n")):
            library.write_bytes(content)
            self.assertEqual(self.run_command(program, library, *words).stdout, answer)

    def test_many_runs_at_once(self):
        runs = [subprocess.Popen([ANYPERF, "run", "--", "/usr/bin/perl", "-e", f"print {i} + 1"], stdout=subprocess.PIPE, text=True,
                                 env=dict(os.environ, ANYPERF_CACHE_DIR=str(self.store))) for i in range(12)]
        self.assertEqual([run.communicate(timeout=100)[0] for run in runs], [str(i + 1) for i in range(12)])
        self.assertEqual(list(self.store.glob("*.new")), [])
        self.assertEqual(self.run_command("/usr/bin/perl", "-e", "print 5").stdout, "5")

    def test_kill_while_files_are_written(self):
        for round_number in range(10):
            for file in self.files():
                file.unlink()
            run = subprocess.Popen([ANYPERF, "run", "--", "/usr/bin/perl", "-e", "1"], start_new_session=True,
                                   env=dict(os.environ, ANYPERF_CACHE_DIR=str(self.store)))
            time.sleep(0.02 * round_number)
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            self.assertEqual(self.run_command("/usr/bin/perl", "-e", "print 7").stdout, "7")

    def test_a_directory_that_others_may_use_is_refused(self):
        self.store.chmod(0o755)
        ran = self.run_command("/bin/echo", "x")
        self.assertEqual(ran.returncode, 125)
        self.assertIn("other users have rights to it", ran.stderr)

    def test_a_directory_that_is_a_link_is_refused(self):
        link = self.directory / "link"
        link.symlink_to(self.store)
        ran = self.run_command("/bin/echo", "x", store=link)
        self.assertEqual(ran.returncode, 125)
        self.assertIn("it is not a directory", ran.stderr)

    def assert_replaced(self, change):
        """Each file that `change` has made unusable is replaced by one of this user, and the counts stay the same."""
        expected = self.counts("/bin/echo", "x")
        for file in self.files():
            change(file)
        self.assertEqual(self.counts("/bin/echo", "x"), expected)
        for file in self.files():
            status = file.lstat()
            self.assertTrue(stat.S_ISREG(status.st_mode), file)
            self.assertEqual((status.st_uid, status.st_mode & 0o077), (os.geteuid(), 0))
        self.assertEqual(self.counts("/bin/echo", "x"), expected)

    def test_a_file_that_others_may_write_is_not_read(self):
        self.assert_replaced(lambda file: file.chmod(0o666))

    def test_a_file_that_is_a_link_is_not_read(self):
        def link(file):
            copy = self.directory / file.name
            shutil.copy(file, copy)
            file.unlink()
            file.symlink_to(copy)

        self.assert_replaced(link)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_a_file_of_another_user_is_not_read(self):
        self.assert_replaced(lambda file: os.chown(file, OTHER_USER, OTHER_USER))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give directories away")
    def test_a_directory_of_another_user_is_refused(self):
        os.chown(self.store, OTHER_USER, OTHER_USER)
        ran = self.run_command("/bin/echo", "x")
        self.assertEqual(ran.returncode, 125)
        self.assertIn("it belongs to another user", ran.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can change its user")
    def test_programs_of_another_user_store_nothing(self):
        self.directory.chmod(0o755)
        program = self.directory / "program"
        shutil.copy("/bin/echo", program)
        program.chmod(0o755)
        as_other = ["/usr/bin/setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
        with_rights_of_other = ["/usr/bin/python3", "-c", f"import os, sys; os.seteuid({OTHER_USER}); os.execv(sys.argv[1], sys.argv[1:])"]
        for prefix in (as_other, with_rights_of_other):
            with self.subTest(prefix=prefix):
                self.assertEqual(self.run_command(*prefix, program, "x").stdout, "x\n")
                self.assertNotIn(str(program), [file["translated"] for file in self.listed()["files"]])
        self.run_command(program, "x")
        self.assertIn(str(program), [file["translated"] for file in self.listed()["files"]])

    def listed(self, store=None):
        return json.loads(subprocess.run([ANYPERF, "cache", "--json"], check=True, capture_output=True, text=True,
                                         env=dict(os.environ, ANYPERF_CACHE_DIR=str(store or self.store))).stdout)

    def test_a_directory_that_cannot_be_made_is_an_error(self):
        ran = self.run_command("/bin/echo", "x", store="/proc/anyperf")
        self.assertEqual(ran.returncode, 125)
        self.assertIn("cannot keep translations in /proc/anyperf", ran.stderr)
        self.assertEqual(self.run_command("/bin/echo", "x", store="/proc/anyperf", options=["--no-cache"]).stdout, "x\n")

    def by_default(self, *words, environment=None):
        """The command without ANYPERF_CACHE_DIR, with a user's cache of its own."""
        of_user = {"XDG_CACHE_HOME": str(self.directory / "cache"), **(environment or {})}
        kept = {name: value for name, value in os.environ.items() if name != "ANYPERF_CACHE_DIR"}
        return subprocess.run([ANYPERF, *words], capture_output=True, text=True, check=False, env=kept | of_user)

    def test_by_default_they_are_in_the_users_cache(self):
        self.assertEqual(self.by_default("run", "--", "/bin/echo", "x").stdout, "x\n")
        kept = self.directory / "cache" / "anyperf" / "translations"
        self.assertEqual([directory.stat().st_mode & 0o777 for directory in (kept, kept.parent, kept.parent.parent)], [0o700] * 3)
        self.assertGreater(len(list(kept.glob("*.code"))), 0)
        self.assertIn(str(kept), self.by_default("cache").stdout)

    def test_nothing_is_made_in_the_home_of_another_user(self):
        home = self.directory / "home"
        home.mkdir()
        os.chown(home, OTHER_USER, OTHER_USER)
        others = {"XDG_CACHE_HOME": "", "HOME": str(home)}
        self.assertEqual(self.by_default("run", "--", "/bin/echo", "x", environment=others).stdout, "x\n")
        self.assertEqual(list(home.iterdir()), [])

    def test_a_cache_of_the_user_that_cannot_be_used_is_no_obstacle(self):
        kept = self.directory / "cache" / "anyperf" / "translations"
        kept.mkdir(parents=True)
        kept.chmod(0o755)
        self.assertEqual(self.by_default("run", "--", "/bin/echo", "x").stdout, "x\n")
        self.assertEqual(list(kept.iterdir()), [])
        shown = self.by_default("cache")
        self.assertEqual((shown.returncode, shown.stdout), (125, ""))
        self.assertIn("other users have rights to it", shown.stderr)

    def test_an_empty_variable_keeps_none(self):
        empty = {"ANYPERF_CACHE_DIR": ""}
        self.assertEqual(self.by_default("run", "--", "/bin/echo", "x", environment=empty).stdout, "x\n")
        self.assertFalse((self.directory / "cache").exists())
        self.assertIn("ANYPERF_CACHE_DIR is empty", self.by_default("cache", environment=empty).stderr)

    def test_a_program_with_threads_keeps_what_they_execute(self):
        program = ["/usr/bin/python3", "-S", "-c", "import threading\nt = threading.Thread(target=lambda: print(sorted([3, 1, 2])))\nt.start(); t.join()"]
        self.assertEqual(self.run_command(*program).stdout, "[1, 2, 3]\n")
        cold = {file["translated"]: file["blocks"] for file in self.listed()["files"]}
        alone = self.directory / "alone"
        self.run_command("/usr/bin/python3", "-S", "-c", "print(sorted([3, 1, 2]))", store=alone)
        self.assertGreater(sum(cold.values()), sum(file["blocks"] for file in self.listed(alone)["files"]))
        self.assertEqual(self.run_command(*program).stdout, "[1, 2, 3]\n")

    def test_page_faults_are_about_the_same_cold_warm_and_without(self):
        def faults(*options):
            counted = subprocess.run([ANYPERF, "stat", "--virtual", "-j", "-e", "page-faults:u", *options, "--", "/usr/bin/python3", "-S", "-c", "pass"],
                                     capture_output=True, text=True, check=True, env=dict(os.environ, ANYPERF_CACHE_DIR=str(self.store)))
            return json.loads(counted.stderr)["events"][0]["value"]

        without = min(faults("--no-cache") for _ in range(3))
        for seen in (faults(), faults(), faults()):  # the first one finds nothing
            self.assertIn(seen, range(without - without // 20, without + without // 20))

    def test_a_directory_that_can_be_read_only_is_no_obstacle(self):
        self.run_command("/bin/true")
        self.store.chmod(0o500)
        self.assertEqual(self.run_command("/bin/echo", "x").stdout, "x\n")

    def test_a_limit_on_files_is_no_obstacle(self):
        ran = self.run_command("/bin/sh", "-c", "ulimit -f 8; /bin/echo x")
        self.assertEqual((ran.returncode, ran.stdout), (0, "x\n"))

    def test_a_missing_directory_is_made(self):
        new = self.directory / "new"
        self.assertEqual(self.run_command("/bin/echo", "x", store=new).stdout, "x\n")
        self.assertEqual(new.stat().st_mode & 0o777, 0o700)
        self.assertGreater(len(list(new.glob("*.code"))), 0)

    def test_the_verb_shows_and_clears(self):
        environment = dict(os.environ, ANYPERF_CACHE_DIR=str(self.store))
        self.run_command("/bin/true")

        def cache(*options):
            return subprocess.run([ANYPERF, "cache", *options], check=True, capture_output=True, text=True, env=environment).stdout

        self.assertIn(str(self.store), cache())
        listed = json.loads(cache("--json"))
        self.assertEqual(len(listed["files"]), len(self.files()))
        self.assertTrue(any("libc" in file["translated"] for file in listed["files"]))
        self.assertIn("removed", cache("--clear"))
        self.assertEqual(self.files(), [])

    def cache(self, *options, store=None):
        return subprocess.run([ANYPERF, "cache", *options], check=False, capture_output=True, text=True,
                              env=dict(os.environ, ANYPERF_CACHE_DIR=str(store or self.store)))

    def test_the_verb_shows_no_control_sequences_of_a_file(self):
        self.run_command("/bin/true")
        stored = self.files()[0]
        stored.write_bytes(stored.read_bytes().replace(b"/usr/", b"/\x1b[2/", 1))
        self.assertIn("/?[2/", self.cache().stdout)

    def test_the_verb_fails_where_there_is_no_directory_to_read(self):
        shown = self.cache(store="/dev/null")
        self.assertEqual((shown.returncode, shown.stdout), (125, ""))
        self.assertIn("no translations are kept in /dev/null", shown.stderr)
        self.assertIn("it is not a directory", shown.stderr)
        self.assertIn(": 0 files", self.cache(store=self.directory / "new").stdout)

    def test_other_files_of_the_directory_stay(self):
        others = [self.store / name for name in ("notes.new", "lesson.code", "0123456789abcdeg.code", "0123456789abcdef.code.txt")]
        for other in others:
            other.write_bytes(b"x")
            os.utime(other, (time.time() - 10000, time.time() - 10000))
        self.run_command("/bin/true")
        self.assertIn("removed", self.cache("--clear").stdout)
        self.assertEqual([other for other in others if not other.exists()], [])

    def test_old_unfinished_files_go_when_a_run_has_stored(self):
        old = self.store / "0123456789abcdef.new"
        old.write_bytes(b"x")
        os.utime(old, (time.time() - 10000, time.time() - 10000))
        self.run_command("/bin/true")
        self.assertFalse(old.exists())


if __name__ == "__main__":
    unittest.main()
