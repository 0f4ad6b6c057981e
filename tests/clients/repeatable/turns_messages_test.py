"""`anyperf run --deterministic`: calls that write or receive more than one range or message, between threads that take turns."""
import subprocess
import sys
import unittest

from repeated_runs import RepeatedRuns

# Large writes of several ranges, to a pipe and to a socket that a slow thread reads.
RANGES = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static int from;
static void* take(void* unused) {
    static char room[7000];
    long total = 0, sum = 0, got;
    while ((got = read(from, room, sizeof room)) > 0)
        for (long i = (total += got, 0); i < got; i++) sum = sum * 31 + room[i];
    printf("read %ld %lx\n", total, (unsigned long)sum);
    return unused;
}
static void show(const char* name, long answer) {
    if (answer < 0) printf("%s %s\n", name, strerror(errno));
    else printf("%s %ld\n", name, answer);
}
int main(void) {
    static char data[300000];
    struct iovec ranges[20];
    for (int i = 0; i < 300000; i++) data[i] = (char)(i * 7 / 3);
    for (int i = 0; i < 20; i++) ranges[i] = (struct iovec){data + i * 15000, 15000};
    for (int kind = 0; kind < 3; kind++) {
        int ends[2];
        pthread_t thread;
        kind == 0 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
        from = ends[0];
        pthread_create(&thread, 0, take, 0);
        struct msghdr message = {.msg_iov = ranges, .msg_iovlen = 20};
        show("wrote", kind == 2 ? sendmsg(ends[1], &message, MSG_NOSIGNAL) : writev(ends[1], ranges, 20));
        struct iovec bad = {(void*)8, 5};
        show("bad range", writev(ends[1], &bad, 1));
        struct iovec* volatile nowhere = (struct iovec*)8;
        show("bad ranges", writev(ends[1], nowhere, 1));
        show("nothing", writev(ends[1], ranges, 0));
        close(ends[1]);
        pthread_join(thread, 0);
        close(ends[0]);
    }
    return 0;
}
"""

# Datagrams, several in a call, received while another thread sends them one by one.
MESSAGES = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static int one, two;
static struct sockaddr_in address_of(int fd) {
    struct sockaddr_in at = {0};
    getsockname(fd, (struct sockaddr*)&at, &(socklen_t){sizeof at});
    return at;
}
static void* send_slowly(void* count) {
    for (long i = 0; i < (long)count; i++) {
        struct timespec time = {0, 30000000};
        nanosleep(&time, 0);
        char text[2] = {'a', (char)('0' + i)};
        send(two, text, 2, 0);
    }
    return 0;
}
static void receive(const char* what, long sent, int flags, struct timespec* time) {
    pthread_t thread;
    char text[3][8] = {{0}};
    struct sockaddr_in from[3];
    struct iovec range[3];
    struct mmsghdr message[3] = {{{0}}};
    for (int i = 0; i < 3; i++) {
        range[i] = (struct iovec){text[i], 8};
        message[i].msg_hdr = (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof from[i], .msg_iov = &range[i], .msg_iovlen = 1};
    }
    pthread_create(&thread, 0, send_slowly, (void*)sent);
    int got = recvmmsg(one, message, 3, flags, time);
    printf("%s %d", what, got < 0 ? -errno : got);
    for (int i = 0; i < got; i++)
        printf(" %.*s %u %d", (int)message[i].msg_len, text[i], message[i].msg_len, from[i].sin_port == address_of(two).sin_port);
    if (time) printf(" left %ld", (long)time->tv_nsec / 1000000);
    puts("");
    pthread_join(thread, 0);
    while (recv(one, text, 8, MSG_DONTWAIT) > 0) {}
}
int main(void) {
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    one = socket(AF_INET, SOCK_DGRAM, 0), two = socket(AF_INET, SOCK_DGRAM, 0);
    bind(one, (struct sockaddr*)&any, sizeof any), bind(two, (struct sockaddr*)&any, sizeof any);
    struct sockaddr_in to = address_of(one);
    connect(two, (struct sockaddr*)&to, sizeof to);
    printf("port %d\n", ntohs(to.sin_port));
    receive("all", 3, 0, 0);
    receive("first", 3, MSG_WAITFORONE, 0);
    receive("none", 0, MSG_DONTWAIT, 0);
    receive("time", 3, 0, &(struct timespec){0, 50000000});
    receive("bad time", 0, 0, &(struct timespec){0, -1});
    struct iovec range[2] = {{"hello", 5}, {"all", 3}};
    struct mmsghdr message[2] = {{{.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &range[0], .msg_iovlen = 1}, 0},
                                 {{.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &range[1], .msg_iovlen = 1}, 0}};
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    printf("sent %d", sendmmsg(other, message, 2, 0));
    printf(" %u %u\n", message[0].msg_len, message[1].msg_len);
    for (int i = 0; i < 2; i++) {
        char text[8];
        struct sockaddr_in from;
        long got = recvfrom(one, text, 8, 0, (struct sockaddr*)&from, &(socklen_t){sizeof from});
        printf("%.*s %d\n", (int)got, text, from.sin_port == address_of(other).sin_port);
    }
    printf("bad %d\n", sendmmsg(other, (struct mmsghdr*)8, 2, 0) < 0 ? errno : 0);
    return 0;
}
"""


class TurnsMessages(RepeatedRuns):
    def test_large_writes_of_ranges_are_complete(self):
        program = self.build(RANGES)
        native = subprocess.run([program], capture_output=True, check=True, timeout=60).stdout
        self.assertEqual(sorted(self.assert_repeats(program).splitlines()), sorted(native.splitlines()))

    def test_messages_of_one_call_are_awaited_and_their_ports_translated(self):
        # The second message comes after 60 ms, so the timeout of 50 ms has passed. Natively all is the same but the port.
        self.assertEqual(self.assert_repeats(self.build(MESSAGES)).decode().splitlines(), [
            "port 61000", "all 3 a0 2 1 a1 2 1 a2 2 1", "first 1 a0 2 1", "none -11", "time 2 a0 2 1 a1 2 1 left 0", "bad time -22 left 0",
            "sent 2 5 3", "hello 1", "all 1", "bad 14"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
