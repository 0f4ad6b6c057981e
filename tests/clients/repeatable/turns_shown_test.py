"""`anyperf run --deterministic`: ids of processes and threads, the machine that is shown, and schedules."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from repeated_runs import ANYPERF, PYTHON, RepeatedRuns

# Ids by every way, which have to agree with each other.
IDS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int sender, code;
static void note(int number, siginfo_t* info, void* context) { (void)number, (void)context; sender = info->si_pid; code = info->si_code; }
static pthread_mutex_t lock;
static void* work(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int owner = lock.__data.__owner;
    pthread_mutex_unlock(&lock);
    char link[64] = {0};
    readlink("/proc/thread-self", link, sizeof link - 1);
    printf("thread %d %d %s\n", gettid(), owner, link);
    return 0;
}
int main(void) {
    setvbuf(stdout, 0, _IOLBF, 0);
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGCHLD, &action, 0);
    pthread_mutexattr_t inherits;
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &inherits);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    kill(getpid(), SIGUSR1);
    printf("self %d %d %d %d\n", getpid(), gettid(), sender, getpid() == gettid());
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    int child = fork();
    if (child == 0) {
        printf("child %d of %d\n", getpid(), getppid());
        kill(getppid(), SIGUSR1);
        int one = 1;
        setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
        struct ucred mine = {getpid(), getuid(), getgid()};
        char room[CMSG_SPACE(sizeof mine)] = {0}, byte = 0;
        struct iovec data = {&byte, 1};
        struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
        struct cmsghdr* control = CMSG_FIRSTHDR(&message);
        control->cmsg_level = SOL_SOCKET, control->cmsg_type = SCM_CREDENTIALS, control->cmsg_len = CMSG_LEN(sizeof mine);
        memcpy(CMSG_DATA(control), &mine, sizeof mine);
        printf("sent %zd\n", sendmsg(pair[1], &message, 0));
        pause();
        _exit(0);
    }
    int one = 1;
    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
    char room[256], byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    while (recvmsg(pair[0], &message, 0) < 0 && errno == EINTR) continue;
    struct ucred got;
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
    printf("credentials %d sender %d\n", got.pid == child, sender == child);
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
    struct rlimit limit;
    struct timespec cpu;
    clockid_t clock;
    int found = clock_getcpuclockid(getpid(), &clock);
    printf("peer %d limit %d group %d clock %d %d\n", peer.pid == getpid(), prlimit(child, RLIMIT_NOFILE, 0, &limit), getpgid(child) == getpgrp(),
           found, clock_gettime(clock, &cpu));
    struct f_owner_ex owner = {F_OWNER_PID, child};
    fcntl(pair[0], F_SETOWN_EX, &owner);
    memset(&owner, 0, sizeof owner);
    fcntl(pair[0], F_GETOWN_EX, &owner);
    printf("owner %d %d\n", owner.pid == child, fcntl(pair[0], F_GETOWN) == child);
    char path[64], link[64] = {0};
    sprintf(path, "/proc/%d/stat", child);
    FILE* file = fopen(path, "r");
    int of_file = 0, parent = 0;
    char name[64], state;
    if (file == 0 || fscanf(file, "%d %63s %c %d", &of_file, name, &state, &parent) != 4) puts("no file");
    readlink("/proc/self", link, sizeof link - 1);
    printf("file %d %d link %d\n", of_file == child, parent == getpid(), atoi(link) == getpid());
    int descriptor = (int)syscall(SYS_pidfd_open, child, 0);
    syscall(SYS_pidfd_send_signal, descriptor, SIGTERM, 0, 0);
    siginfo_t info;
    int waited;
    while ((waited = waitid(P_PID, (id_t)child, &info, WEXITED)) != 0 && errno == EINTR) continue;
    printf("waited %d %d %d chld %d\n", waited, info.si_pid == child, info.si_status, sender == child);
    int gone = kill(child, 0);
    printf("gone %d %d\n", gone, errno == ESRCH);
    return 0;
}
"""

# A message queue that signals the process which waits for a message of its child.
MESSAGE = r"""
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sender, code;
static void note(int number, siginfo_t* info, void* context) { (void)number, (void)context; sender = info->si_pid; code = info->si_code; }
int main(void) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0);
    char name[32];
    sprintf(name, "/shown-%d", getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, 0);
    if (queue < 0) return puts("no queues") < 0;
    mq_unlink(name);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    mq_notify(queue, &event);
    int child = fork();
    if (child == 0) _exit(mq_send(queue, "x", 1, 0) != 0);
    while (waitpid(child, 0, 0) < 0) continue;
    printf("%d %d\n", sender == child, code == SI_MESGQ);
    return 0;
}
"""

MACHINE = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <unistd.h>
int main(void) {
    cpu_set_t set;
    struct sysinfo info;
    CPU_ZERO(&set);
    CPU_SET(1, &set);
    sysinfo(&info);
    printf("%d %ld %ld %lu\n", get_nprocs(), sysconf(_SC_NPROCESSORS_CONF), info.uptime, info.totalram >> 30);
    printf("%d ", sched_setaffinity(0, sizeof set, &set));
    sched_getaffinity(0, sizeof set, &set);
    printf("%d %d\n", CPU_COUNT(&set), CPU_ISSET(1, &set));
    return 0;
}
"""

# Two threads of which the first one sets what the other one uses.
RACE = r"""
#include <pthread.h>
#include <stdio.h>
static volatile int ready;
static void* set(void* unused) { for (volatile int i = 0; i < 400000; i++) continue; ready = 1; return unused; }
static void* use(void* unused) { for (volatile int i = 0; i < 400000; i++) continue; puts(ready ? "set" : "not set"); return unused; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, set, 0);
    pthread_create(&second, 0, use, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"""


class Shown(RepeatedRuns):
    def test_ids_are_counted_and_agree_with_each_other(self):
        output = self.assert_repeats(self.build(IDS)).decode()
        self.assertEqual(output.splitlines(), [
            "thread 5000002 5000002 5000001/task/5000002", "self 5000001 5000001 5000001 1", "child 5000003 of 5000001", "sent 1",
            "credentials 1 sender 1", "peer 1 limit 0 group 1 clock 0 0", "owner 1 1", "file 1 1 link 1", "waited 0 1 15 chld 1",
            "gone -1 1"])

    def test_the_sender_of_a_message_has_its_shown_id(self):
        output = self.once(self.build(MESSAGE))[0]
        if output == b"no queues\n":
            self.skipTest("the kernel has no message queues")
        self.assertEqual(output, b"1 1\n")

    def test_a_shell_and_python_see_the_same_ids(self):
        script = f"echo $$ $PPID; (kill -0 $$ && echo alive); {PYTHON} -c 'import os; print(os.getppid())'; echo $! $(ls /proc/$$/exe)"
        self.assertEqual(self.assert_repeats("bash", "-c", script).split(),
                         b"5000001 5000000 alive 5000001 /proc/5000001/exe".split())

    def test_names_by_ids_and_times_of_processes_repeat(self):
        script = ("mktemp -u; cat /proc/self/stat /proc/self/status /proc/uptime /proc/meminfo /proc/loadavg /proc/stat;"
                  "cat /sys/fs/cgroup/memory/memory.stat /sys/fs/cgroup/memory.stat 2>/dev/null; true")
        self.assertIn(b"MemTotal:        8388608 kB", self.assert_repeats("bash", "-c", script))

    def test_the_counts_of_a_run_name_processes_and_threads_by_their_shown_ids(self):
        counts = self.directory / "counts.json"
        words = [ANYPERF, "run", "--deterministic", "--count=instructions", "--count-to", counts, "--", "sh", "-c", "echo $$; /bin/true"]
        runs = [(subprocess.run(words, capture_output=True, text=True, check=True).stdout, counts.read_text()) for _ in range(2)]
        self.assertEqual(runs[0], runs[1])
        shell, child = json.loads(runs[0][1])["processes"]
        self.assertEqual([shell["pid"], shell["threads"][0]["tid"]], [int(runs[0][0])] * 2)
        self.assertEqual(child["pid"], shell["pid"] + 1)

    def test_records_have_the_ids_that_programs_see(self):
        data = self.directory / "perf.data"
        for words in ([ANYPERF, "record", "--virtual", "--deterministic"],
                      [ANYPERF, "run", "--deterministic", "--", ANYPERF, "record"]):
            run = subprocess.run([*words, "-e", "instructions:u", "-c", "10000", "-o", data, "--", "sh", "-c", "echo $$; /bin/true; :"],
                                 capture_output=True, text=True, check=True)
            shell = int(run.stdout)
            text = subprocess.run([ANYPERF, "script", "-i", data, "-F", "comm,pid,tid", "--show-task-events", "--show-mmap-events"],
                                  capture_output=True, text=True, check=True).stdout
            with self.subTest(words=words, text=text):
                ids = {int(number) for number in re.findall(r"\b(\d+)/", text)}
                # A recorder inside of the run writes a name for the time before the exec, with a trailer of zeros.
                self.assertEqual(ids - {0}, {shell, shell + 1})
                self.assertRegex(text, rf"PERF_RECORD_FORK\({shell + 1}:{shell + 1}\):\({shell}:{shell}\)")
                self.assertRegex(text, rf"PERF_RECORD_MMAP2 {shell + 1}/{shell + 1}: .*/true")

    def test_links_to_processes_have_shown_ids(self):
        script = "import os; d = os.open('/proc/self/fd', os.O_RDONLY); print(os.getpid(), os.readlink(f'/proc/self/fd/{d}'))"
        own, link = subprocess.run([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", script], capture_output=True, text=True,
                                   check=True).stdout.split()
        self.assertEqual(link, f"/proc/{own}/fd")

    def test_the_number_of_cpus_is_chosen(self):
        program = self.build(MACHINE)
        for cpus in 2, 6:
            self.assertEqual(self.once(program, options=["--cpus", str(cpus)])[0], b"%d %d 3600 8\n0 1 1\n" % (cpus, cpus))

    def test_a_schedule_is_logged_and_a_difference_found(self):
        program = self.build(RACE)
        logs = [self.directory / name for name in ("one", "same", "other")]
        for log, order in zip(logs, (1, 1, 2)):
            self.once(program, options=["--log-schedule", log, "--order", str(order)])
        self.assertEqual(logs[0].read_text(), logs[1].read_text())
        self.assertRegex(logs[0].read_text(), r"(?m)^5000001 \d+ turn 1 at 0x")
        self.assertRegex(logs[0].read_text(), r'(?m)^5000001 \d+ openat\(.*\) = 0x3 "/etc/ld.so.cache" at 0x')
        explain = [ANYPERF, "run", "--explain-difference"]
        equal = subprocess.run([*explain, logs[0], logs[1]], capture_output=True, text=True)
        self.assertEqual((equal.returncode, equal.stdout), (0, "The schedules are equal.\n"))
        other = subprocess.run([*explain, logs[0], logs[2]], capture_output=True, text=True)
        self.assertEqual(other.returncode, 1)
        self.assertRegex(other.stdout, r"The schedules part at line \d+\.\n.*thread 500000\d after \d+ instructions: ")

    def test_schedules_show_a_race_and_the_order_that_repeats_it(self):
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--schedules", "24", "--", self.build(RACE)], capture_output=True,
                             text=True, timeout=200)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("the result depends on the order", run.stdout)
        orders = re.search(r"output +2 different: .*--order (\d+), .*--order (\d+)", run.stdout)
        outputs = {self.once(self.directory / self.id().rsplit(".", 1)[1], options=["--order", order])[0] for order in orders.groups()}
        self.assertEqual(outputs, {b"set\n", b"not set\n"})

    def test_schedules_of_a_program_without_a_race_agree(self):
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--schedules", "4", "--", "sh", "-c", "echo a | cat"],
                             capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("one result", run.stdout)

    def test_the_run_ends_by_signals_from_outside_at_any_moment(self):
        for number in range(6):
            command = ["sh", "-c", "while :; do seq 500 | sort | wc -l; done"] if number % 2 else [self.build(RACE).with_suffix(""), "x"]
            command = command if number % 2 else ["sh", "-c", "sleep 1000 & wait"]
            run = subprocess.Popen([ANYPERF, "run", "--deterministic", "--", *command], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, start_new_session=True)
            try:
                run.wait(0.3 + 0.17 * number)
            except subprocess.TimeoutExpired:
                pass
            run.send_signal(signal.SIGINT if number % 3 == 0 else signal.SIGTERM)
            run.wait(timeout=30)
            run.stdin.close()

    def test_a_signal_from_outside_reaches_a_thread_that_waits_while_another_one_computes(self):
        # The child counts for some turns before it says that it has begun: its parent waits by then.
        count = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"
        script = f"trap 'kill $child; echo reached' TERM; ({count}; echo begun; while :; do :; done) & child=$!; wait $child"
        run = subprocess.Popen([ANYPERF, "run", "--deterministic", "--", "sh", "-c", script], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            self.assertEqual(run.stdout.readline(), "begun\n")
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.communicate(timeout=60)[0], "reached\n")
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            raise


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
