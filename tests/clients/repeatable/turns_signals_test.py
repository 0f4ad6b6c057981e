"""`anyperf run --deterministic`: signals that the programs of a run send each other, and ends of their processes, repeat
where the receiver waits in the kernel while they are sent."""
import unittest

from repeated_runs import RepeatedRuns

# The first thread makes a process and waits for it, the second one kills it. SIGCHLD has a handler. So the kernel wakes
# the waiting thread twice: for the signal and for the end of the process. The third thread sends signals to the first one
# and goes on with a lock that the fourth one waits for.
KILLED = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile pid_t child;
static volatile int handled, sent, done;
static sem_t begun, next;
static pthread_t first;
static void handle(int signal) { handled += signal; }
static void rest(long ns) { struct timespec time = {0, ns}; nanosleep(&time, 0); }
static void* killer(void* unused) {
    for (int i = 0; i < 30; i++) {
        sem_wait(&begun);
        rest(20000 * (i % 4));
        kill(child, i % 3 ? SIGKILL : SIGTERM);
    }
    return unused;
}
static void* sender(void* unused) {
    while (!done) {
        pthread_kill(first, SIGUSR1);
        sem_post(&next);
        ++sent;
        rest(30000);
    }
    sem_post(&next);
    return unused;
}
static void* waiter(void* unused) {
    while (!done) sem_wait(&next);
    return unused;
}
int main(void) {
    pthread_t thread[3];
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &action, 0);
    sigaction(SIGUSR1, &action, 0);
    sem_init(&begun, 0, 0);
    sem_init(&next, 0, 0);
    first = pthread_self();
    pthread_create(&thread[0], 0, killer, 0);
    pthread_create(&thread[1], 0, sender, 0);
    pthread_create(&thread[2], 0, waiter, 0);
    for (int i = 0; i < 30; i++) {
        siginfo_t about;
        if (!(child = fork()))
            for (;;) pause();
        sem_post(&begun);
        waitid(P_PID, child, &about, WEXITED | WNOWAIT);
        waitpid(child, 0, 0);
    }
    done = 1;
    for (int i = 0; i < 3; i++) pthread_join(thread[i], 0);
    printf("%d %d\n", handled, sent);
    return 0;
}
"""

# A process of which one thread forks and waits for the child, while the first one has nothing to do with it.
FORKED_BY_ANOTHER = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int receiver[64], noted;
static void handle(int signal) { (void)signal; receiver[noted++ % 64] = gettid(); }
static void* work(void* unused) {
    for (int i = 0; i < 20; i++) {
        if (!fork()) _exit(0);
        wait(0);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    struct timespec time = {0, 10000};
    signal(SIGCHLD, handle);
    pthread_create(&thread, 0, work, 0);
    for (int i = 0; i < 300; i++) nanosleep(&time, 0);
    pthread_join(thread, 0);
    for (int i = 0; i < 20; i++) printf("%d ", receiver[i]);
    printf("%d\n", noted);
    return 0;
}
"""

# One thread waits beside a socket, as a server does; another one ends its turn all the time. Whoever gives the waiting
# thread the turn interrupts its wait in the kernel, and that interruption must not end the next wait.
SERVER = r"""
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static int pipes[2];
static void* tick(void* unused) {
    for (int i = 0; i < 400; i++) {
        struct timespec time = {0, 20000 << i % 5};
        nanosleep(&time, 0);
        if (i % 20 == 0) write(pipes[1], "x", 1);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    char byte;
    int woken = 0, server = socket(AF_INET, SOCK_STREAM, 0), set = epoll_create1(0);
    struct epoll_event wanted = {.events = EPOLLIN};
    listen(server, 4);
    pipe(pipes);
    epoll_ctl(set, EPOLL_CTL_ADD, server, &wanted);
    epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &wanted);
    pthread_create(&thread, 0, tick, 0);
    while (woken < 20)
        if (epoll_wait(set, &wanted, 1, 50) == 1) woken += read(pipes[0], &byte, 1);
    pthread_join(thread, 0);
    printf("%d\n", woken);
    return 0;
}
"""


class Signals(RepeatedRuns):
    def test_a_process_killed_while_its_parent_waits_is_reported_at_one_place(self):
        self.assert_repeats(self.build(KILLED))

    def test_the_thread_that_has_forked_gets_the_signal(self):
        receivers = self.assert_repeats(self.build(FORKED_BY_ANOTHER)).split()
        self.assertEqual(receivers, [b"5000002"] * 20 + [b"20"])

    def test_waits_beside_a_socket_end_only_for_what_they_wait_for(self):
        self.assertEqual(self.assert_repeats(self.build(SERVER)), b"20\n")


if __name__ == "__main__":
    unittest.main()
