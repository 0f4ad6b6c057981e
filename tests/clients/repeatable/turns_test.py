"""`anyperf run --deterministic`: programs with threads and processes have one count for each thread, and one output."""
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from repeated_runs import ANYPERF, PYTHON, RUNS, RepeatedRuns

# Threads whose waits beside a socket end shortly after each other. Each looks at the clock then.
WAITS = r"""
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
static int server, noted;
static unsigned long order[1600];
static void* work(void* number) {
    for (int i = 0; i < 200; i++) {
        struct timeval time = {0, 1000 + (long)number * 7};
        struct timespec now;
        fd_set wanted;
        FD_ZERO(&wanted);
        FD_SET(server, &wanted);
        select(server + 1, &wanted, 0, 0, &time);
        clock_gettime(CLOCK_MONOTONIC, &now);
        order[noted++] = (unsigned long)now.tv_nsec * 31 + (unsigned long)number;
    }
    return 0;
}
int main(void) {
    pthread_t thread[8];
    unsigned long hash = 5381;
    server = socket(AF_INET, SOCK_STREAM, 0);
    listen(server, 4);
    for (long i = 0; i < 8; i++) pthread_create(&thread[i], 0, work, (void*)i);
    for (int i = 0; i < 8; i++) pthread_join(thread[i], 0);
    for (int i = 0; i < noted; i++) hash = hash * 33 + order[i];
    printf("%lx\n", hash);
    return 0;
}
"""

FIRST_SHOWN_ID = 5_000_001  # anyperf-run(1), --deterministic

# Each thread notes the order in which the threads got the lock; the output is a hash of that order.
LOCKS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int next, order[2000], noted;
static long shared;
static void* work(void* number) {
    long self = (long)number;
    unsigned x = (unsigned)self * 7919 + 1;
    for (int i = 0; i < 100; i++) {
        for (unsigned k = 0; k < x % 3000; k++) x = x * 1664525 + 1013904223;
        pthread_mutex_lock(&lock);
        if (i % 5 == 0) {
            while (next % 4 != self) pthread_cond_wait(&changed, &lock);
            next++;
            pthread_cond_broadcast(&changed);
        }
        order[noted++] = (int)self;
        pthread_mutex_unlock(&lock);
        if (i % 40 == 0) pthread_barrier_wait(&barrier);
        if (i % 7 != 0) {
            pthread_rwlock_rdlock(&both);
            x += (unsigned)shared;
        } else {
            pthread_rwlock_wrlock(&both);
            shared += x & 3;
        }
        pthread_rwlock_unlock(&both);
        if (i % 50 == 49) usleep(100);
    }
    return (void*)(long)x;
}
int main(void) {
    pthread_t thread[4];
    unsigned long hash = 5381;
    pthread_barrier_init(&barrier, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&thread[i], 0, work, (void*)i);
    for (int i = 0; i < 4; i++) {
        void* result;
        pthread_join(thread[i], &result);
        hash = hash * 33 + (unsigned long)result;
    }
    for (int i = 0; i < noted; i++) hash = hash * 33 + (unsigned long)order[i];
    printf("%lx %ld\n", hash, shared);
    return 0;
}
"""

RACE = r"""
#include <pthread.h>
#include <stdio.h>
static volatile long count;
static void* work(void* unused) {
    for (long i = 0; i < 2000000; i++) count++;
    return unused;
}
int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
    printf("%ld\n", count);
    return 0;
}
"""

# One thread spins without a system call for the other one, which has not begun.
SPIN = r"""
#include <pthread.h>
#include <stdio.h>
static volatile int ready;
static void* work(void* unused) {
    ready = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    while (!ready) {}
    pthread_join(thread, 0);
    puts("seen");
    return 0;
}
"""

DEADLOCK = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static void* work(void* unused) {
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&first);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&second);
    return 0;
}
"""

# PI and robust mutexes, in memory that processes share; signals between threads and processes.
SHARED = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct shared { pthread_mutex_t pi, robust; pthread_cond_t changed; int turn, order[100], noted; };
static volatile sig_atomic_t signals;
static void note(int number) { signals += number == SIGUSR1; }
int main(void) {
    struct shared* s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attr;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&s->pi, &attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s->robust, &attr);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&s->changed, &condition);
    signal(SIGUSR1, note);
    pid_t child[3];
    for (int i = 0; i < 3; i++)
        if ((child[i] = fork()) == 0) {
            for (int round = 0; round < 10; round++) {
                pthread_mutex_lock(&s->pi);
                s->order[s->noted++] = i;
                if (round == 5) usleep(1000);
                pthread_mutex_unlock(&s->pi);
                if (round == 7 && i == 1) kill(getppid(), SIGUSR1);
            }
            int locked = pthread_mutex_lock(&s->robust);
            if (locked == EOWNERDEAD) pthread_mutex_consistent(&s->robust);
            while (s->turn < i) pthread_cond_wait(&s->changed, &s->robust);
            s->turn++;
            pthread_cond_broadcast(&s->changed);
            _exit(locked);  // with the lock
        }
    while (!signals) pause();
    for (int i = 0; i < 3; i++) {
        int status;
        waitpid(child[i], &status, 0);
        printf("%d ", WEXITSTATUS(status) != 0);
    }
    for (int i = 0; i < s->noted; i++) printf("%d", s->order[i]);
    puts("");
    return 0;
}
"""


def processes_with(end):
    """The processes of the machine whose command lines end so."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().endswith(end): found.append(int(path.parent.name))
        except OSError:
            pass  # it has ended
    return found


class Turns(RepeatedRuns):
    def test_locks_of_threads_are_taken_in_one_order(self):
        self.assertTrue(self.assert_repeats(self.build(LOCKS)))

    def test_a_data_race_repeats_for_each_seed_and_differs_between_seeds(self):
        program = self.build(RACE)
        self.assert_repeats(program)
        outputs = {self.once(program, options=["--seed", str(seed)])[0] for seed in range(8)}
        self.assertGreater(len(outputs), 1)

    def test_a_spinning_thread_lets_the_other_run(self):
        self.assertEqual(self.assert_repeats(self.build(SPIN)), b"seen\n")

    def test_shared_locks_and_signals_between_processes_repeat(self):
        output = self.assert_repeats(self.build(SHARED))
        self.assertTrue(output.startswith(b"0 1 1 "), output)

    def test_a_deadlock_is_reported(self):
        program = self.build(DEADLOCK)
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 125)
        self.assertIn("all threads of the run wait for each other", run.stderr)
        self.assertEqual(run.stderr.count("waits for a futex at 0x"), 2, run.stderr)

    def test_processes_that_wait_for_each_others_pipes_are_reported(self):
        program = """if True:
            import os
            there, back = os.pipe(), os.pipe()
            child = os.fork()
            os.read((back if child else there)[0], 1)
        """
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", program], capture_output=True, text=True,
                             timeout=60, stdin=subprocess.DEVNULL, start_new_session=True)  # no terminal that could send SIGINT
        self.assertEqual(run.returncode, 125, run.stderr)
        self.assertIn("all threads of the run wait for each other", run.stderr)
        self.assertRegex(run.stderr, r"thread 5000002 of process 5000002 waits for descriptor \d+, a pipe")
        self.assertEqual(run.stderr.count(", a pipe"), 2, run.stderr)

    def test_a_child_that_waits_for_its_parent_which_waits_for_it_is_reported(self):
        program = """if True:
            import os
            read, write = os.pipe()
            child = os.fork()
            if child == 0: os.read(read, 1)
            else: os.waitpid(child, 0)
        """
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", program], capture_output=True, text=True,
                             timeout=60, stdin=subprocess.DEVNULL, start_new_session=True)
        self.assertEqual(run.returncode, 125, run.stderr)
        self.assertIn("thread 5000001 of process 5000001 waits for a child", run.stderr)

    def test_a_pipe_with_a_name_may_be_written_from_outside(self):
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        program = f"""if True:
            import os
            fd = os.open({str(fifo)!r}, os.O_RDWR)
            child = os.fork()
            if child == 0: print(os.read(fd, 5).decode())
            else: os.waitpid(child, 0)
        """
        run = subprocess.Popen([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", program], stdout=subprocess.PIPE,
                               text=True, stdin=subprocess.DEVNULL)
        time.sleep(4)
        fifo.write_bytes(b"later")
        self.assertEqual(run.communicate(timeout=60)[0], "later\n")
        self.assertEqual(run.returncode, 0)

    def test_a_process_that_has_had_no_turn_when_the_run_ends_is_not_listed(self):
        program = """if True:
            import os
            if os.fork() != 0: os._exit(0)
        """
        for _ in range(RUNS):
            _, threads = self.once(PYTHON, "-c", program)
            self.assertEqual(len(threads), 1, threads)

    def test_pipelines_repeat(self):
        command = "for i in $(seq 3000); do echo $i; done | sort -r | tee /dev/null | awk '{s += $1; print s}' | gzip -c | gunzip | md5sum"
        native = subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout
        self.assertEqual(self.assert_repeats("bash", "-c", command), native)

    def test_a_large_write_into_a_pipe_of_the_run_ends(self):
        program = """if True:
            import os
            read, write = os.pipe()
            if os.fork() == 0:
                os.close(read)
                print(os.write(write, bytes(300_000)), flush=True)
                os._exit(0)
            os.close(write)
            total = 0
            while block := os.read(read, 7000): total += len(block)
            os.wait()
            print(total)
            """
        self.assertEqual(self.assert_repeats(PYTHON, "-c", program), b"300000\n300000\n")

    def test_python_threads_repeat(self):
        program = """if True:
            import threading
            order = []
            def work(number):
                for i in range(2000):
                    if i % 400 == 0: order.append(number)
            threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(order)
            """
        self.assert_repeats(PYTHON, "-c", program)

    def test_select_and_poll_wait_for_threads_and_time(self):
        program = """if True:
            import os, select, threading, time
            read, write = os.pipe()
            def later():
                time.sleep(1000)
                os.write(write, b"x")
            thread = threading.Thread(target=later)
            thread.start()
            begun = time.monotonic()
            print(select.select([read], [], [], 10), round(time.monotonic() - begun))
            poll = select.poll()
            poll.register(read, select.POLLIN)
            print(len(poll.poll()), round(time.monotonic() - begun), os.read(read, 1))
            thread.join()
            """
        begun = time.monotonic()
        self.assertEqual(self.once(PYTHON, "-c", program)[0], b"([], [], []) 10\n1 1000 b'x'\n")
        self.assertLess(time.monotonic() - begun, 100)

    def test_waits_beside_a_socket_end_in_the_order_of_their_deadlines(self):
        # A client from outside could connect, so the clock is not advanced at once: the waits take real time.
        program = """if True:
            import select, socket, threading, time
            server = socket.create_server(("127.0.0.1", 0))
            order = []
            def wait():
                for i in range(60): select.select([server], [], [], 0.002), order.append("s")
            def sleep():
                for i in range(60): time.sleep(0.00205), order.append("t")
            threads = [threading.Thread(target=one) for one in (wait, sleep)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print("".join(order))
            """
        self.assert_repeats(PYTHON, "-c", program)

    def test_waits_of_many_threads_beside_a_socket_end_in_one_order(self):
        self.assert_repeats(self.build(WAITS))

    def test_select_takes_numbers_of_descriptors_as_the_kernel(self):
        # The last one differs from the kernel, which looks at no descriptor above the size of the process's table.
        program = """if True:
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            read, write = os.pipe()
            os.write(write, b"x")
            bits = (ctypes.c_ulong * 2000)()
            bits[read // 64] = 1 << read % 64
            now = (ctypes.c_long * 2)()
            for count in (-1, 20000, read + 1):
                print(count < 0, libc.select(count, bits, None, None, now), ctypes.get_errno())
            bits[190] = 1
            print(libc.select(20000, bits, None, None, now), ctypes.get_errno())
            """
        self.assertEqual(self.once(PYTHON, "-c", program)[0], b"True -1 22\nFalse 1 22\nFalse 1 22\n-1 14\n")

    def test_a_thread_that_is_killed_gives_up_its_turn(self):
        program = """if True:
            import os, signal, time
            child = os.fork()
            if child == 0:
                while True: pass
            time.sleep(0.001)
            os.kill(child, signal.SIGKILL)
            print(os.waitpid(child, 0)[1])
            child = os.fork()
            if child == 0: os.kill(os.getpid(), signal.SIGTERM)
            print(os.waitpid(child, 0)[1])
            """
        self.assertEqual(self.assert_repeats(PYTHON, "-c", program), b"9\n15\n")

    def test_a_blocked_signal_that_the_engine_keeps_is_waited_for_and_stays_over_an_exec(self):
        program = """if True:
            import os, signal, sys
            wanted = {signal.SIGSEGV, signal.SIGBUS}
            if len(sys.argv) == 1:
                signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
                os.kill(os.getpid(), signal.SIGSEGV)
                print(signal.sigtimedwait(wanted, 0).si_signo, signal.sigtimedwait(wanted, 0), flush=True)
                os.kill(os.getpid(), signal.SIGBUS)
                os.execv(sys.executable, [sys.executable, "-c", PROGRAM, "again"])
            print(signal.sigtimedwait(wanted, 0).si_signo)
            """
        program = f"PROGRAM = {program!r}; exec(PROGRAM)"
        self.assertEqual(self.assert_repeats(PYTHON, "-c", program), b"11 None\n7\n")

    def test_a_descriptor_of_signals_shows_those_that_the_engine_keeps(self):
        program = """if True:
            import ctypes, os, select, signal, time
            wanted = {signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP}
            signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
            mask = ctypes.c_ulong(sum(1 << (number - 1) for number in wanted))
            fd = ctypes.CDLL(None).signalfd(-1, ctypes.byref(mask), 0)
            poll, epoll = select.poll(), select.epoll()
            poll.register(fd, select.POLLIN)
            epoll.register(fd, select.EPOLLIN)
            waits = (lambda: None, poll.poll, epoll.poll, lambda: select.select([fd], [], []))
            for number in sorted(wanted):
                for wait in waits:
                    if os.fork() == 0:
                        time.sleep(0.01)
                        os.kill(os.getppid(), number)
                        os._exit(0)
                    wait()
                    print(os.read(fd, 128)[0], os.wait()[1], poll.poll(0))
            """
        expected = "".join(f"{number} 0 []\n" * 4 for number in (5, 7, 11))
        self.assertEqual(self.assert_repeats(PYTHON, "-c", program), expected.encode())

    def test_a_process_killed_from_outside_lets_the_others_go_on(self):
        # The program's id is the run's own: outside of it, the process is found by its command line.
        script = "sh -c ': endless; while :; do :; done'; echo ended $?"
        run = subprocess.Popen([ANYPERF, "run", "--deterministic", "--", "sh", "-c", script], cwd=self.directory,
                               stdout=subprocess.PIPE, text=True)
        while not (found := processes_with(b": endless; while :; do :; done\0")): time.sleep(0.05)
        os.kill(found[0], signal.SIGKILL)
        self.assertEqual(run.communicate(timeout=60)[0], "ended 137\n")

    def test_input_from_outside_is_waited_for(self):
        run = subprocess.Popen([ANYPERF, "run", "--deterministic", "--", "bash", "-c", "cat | tr a-z A-Z"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        time.sleep(0.5)
        self.assertEqual(run.communicate("hello\n", timeout=60)[0], "HELLO\n")

    def test_repeated_measurements_of_stat_are_equal(self):
        program = self.build(LOCKS)
        run = subprocess.run([ANYPERF, "stat", "--virtual", "--deterministic", "-r", "3", "-e", "instructions:u", "--", program],
                             capture_output=True, text=True, check=True, timeout=60)
        self.assertIn("± 0.00 =", run.stderr)

    def test_without_turns_ids_are_those_of_the_kernel(self):
        command = [ANYPERF, "run", "--deterministic", "--no-turns", "--", "sh", "-c", "echo $$"]
        printed = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        self.assertLess(printed, FIRST_SHOWN_ID)
        printed = int(subprocess.run([word for word in command if word != "--no-turns"], capture_output=True, text=True, check=True).stdout)
        self.assertGreaterEqual(printed, FIRST_SHOWN_ID)

    def test_the_options_need_a_deterministic_run(self):
        for option in "--turns", "--no-turns", "--order=1", "--schedules=2", "--log-schedule=/dev/null":
            with self.subTest(option=option):
                run = subprocess.run([ANYPERF, "run", option, "--", "true"], capture_output=True, text=True)
                self.assertEqual(run.returncode, 125)
                self.assertIn("requires --deterministic", run.stderr)

    def test_an_order_and_no_turns_exclude_each_other(self):
        for option in "--turns", "--order=1", "--schedules=2", "--log-schedule=/dev/null":
            with self.subTest(option=option):
                run = subprocess.run([ANYPERF, "run", "--deterministic", "--no-turns", option, "--", "true"], capture_output=True, text=True)
                self.assertEqual(run.returncode, 125)
                self.assertIn("--no-turns", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
