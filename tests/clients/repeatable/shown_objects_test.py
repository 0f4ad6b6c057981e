"""`anyperf run --deterministic`: numbers that the kernel gives to System V objects, renamings and sockets by chance, or after what
the machine has had before, are the same in each run, and calls with them do what they do natively."""
import subprocess
import textwrap
import unittest

from repeated_runs import PYTHON, RUNS, RepeatedRuns

SYSTEM_V = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
struct message { long type; char text[8]; };
int main(void) {
    for (int round = 0; round < 2; round++) {
        const int segment = shmget(IPC_PRIVATE, 4096, 0600), semaphores = semget(IPC_PRIVATE, 2, 0600), queue = msgget(IPC_PRIVATE, 0600);
        char* const shared = shmat(segment, 0, 0);
        struct sembuf wait = {1, -1, 0}, post = {1, 1, 0};
        struct message message = {7, "words"};
        struct shmid_ds about;
        struct semid_ds about_semaphores;
        struct msqid_ds about_queue;
        const pid_t child = fork();
        if (child == 0) {
            strcpy(shared, "shared");
            msgsnd(queue, &message, sizeof message.text, 0);
            semop(semaphores, &post, 1);
            _exit(0);
        }
        waitpid(child, 0, 0);
        semop(semaphores, &wait, 1);
        message.text[0] = 0;
        msgrcv(queue, &message, sizeof message.text, 7, 0);
        const int got = shmctl(segment, IPC_STAT, &about) | semctl(semaphores, 0, IPC_STAT, &about_semaphores) | msgctl(queue, IPC_STAT, &about_queue);
        printf("%x %x %x %s %s %d: %d %ld %d %d\n", segment, semaphores, queue, shared, message.text, got, semctl(semaphores, 1, GETPID) == getpid(),
               (long)about.shm_nattch, about.shm_cpid == getpid(), about_queue.msg_lspid == child);
        printf("%d ", semctl(semaphores, 0, SETVAL, 5));
        printf("%d ", semctl(semaphores, 0, GETVAL));
        const time_t now = time(0);
        printf("%d %d %d\n", now - about.shm_ctime < 2, now - about_semaphores.sem_otime < 2, now - about_queue.msg_rtime < 2);
        shmdt(shared);
        printf("%d %d %d\n", shmctl(segment, IPC_RMID, 0), semctl(semaphores, 0, IPC_RMID), msgctl(queue, IPC_RMID, 0));
    }
    return 0;
}
"""


class ShownObjects(RepeatedRuns):
    def assert_prints(self, program, *lines):
        """In each run, whatever the machine has done in between."""
        for _ in range(RUNS):
            self.assertEqual(self.once(PYTHON, "-c", textwrap.dedent(program))[0].decode().splitlines(), list(lines))

    def test_ids_of_system_v_objects_are_counted(self):
        program = self.build(SYSTEM_V)
        expected = "".join(f"7f00000{number} " * 3 + "shared words 0: 1 1 1 1\n0 5 1 1 1\n0 0 0\n" for number in range(2))
        for _ in range(RUNS):
            self.assertEqual(self.once(program)[0].decode(), expected)
            subprocess.run([program], stdout=subprocess.DEVNULL, check=True)  # the kernel's ids grow

    def test_an_id_of_the_kernel_still_works(self):
        made = subprocess.run(["ipcmk", "-M", "4096"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.addCleanup(subprocess.run, ["ipcrm", "-m", made], check=False, stderr=subprocess.DEVNULL)
        program = f"""
            import ctypes
            libc = ctypes.CDLL(None)
            libc.shmat.restype = ctypes.c_void_p
            print(libc.shmat({made}, 0, 0) != ctypes.c_void_p(-1).value)
        """
        self.assertEqual(self.once(PYTHON, "-c", textwrap.dedent(program))[0], b"True\n")

    def test_cookies_of_renamings_are_counted(self):
        self.assert_prints("""
            import ctypes, os, shutil, struct, tempfile
            place = tempfile.mkdtemp()
            libc = ctypes.CDLL(None)
            fd = libc.inotify_init()
            libc.inotify_add_watch(fd, place.encode(), 0xc0)  # IN_MOVED_FROM, IN_MOVED_TO
            for name in "ab":
                open(f"{place}/{name}", "w").close()
                os.rename(f"{place}/{name}", f"{place}/new {name}")
            events, at = os.read(fd, 4096), 0
            while at < len(events):
                _, mask, cookie, length = struct.unpack_from("iIII", events, at)
                print(hex(mask), cookie, events[at + 16:at + 16 + length].rstrip(bytes(1)).decode())
                at += 16 + length
            shutil.rmtree(place)
        """, "0x40 1 a", "0x80 1 new a", "0x40 2 b", "0x80 2 new b")

    def test_names_of_unix_sockets_that_are_bound_to_none_are_counted(self):
        self.assert_prints("""
            import socket
            one, other, named = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(3))
            one.bind("")
            other.bind("")
            name = bytes(1) + b"abcde"
            named.bind(name)
            print(one.getsockname(), other.getsockname(), named.getsockname())
            other.sendto(b"from the other", one.getsockname())
            print(one.recvfrom(20))
            named.sendto(b"from the named", one.getsockname())
            print(one.recvfrom(20))
            other.connect(name)
            other.send(b"to the named")
            print(other.getpeername(), named.recvmsg(20)[3])
            print([line.split()[-1] for line in open("/proc/net/unix") if "@" in line])
        """, r"b'\x0000001' b'\x0000002' b'\x00abcde'", r"(b'from the other', b'\x0000002')", r"(b'from the named', b'\x00abcde')",
             r"b'\x00abcde' b'\x0000002'", "['@00001', '@00002', '@abcde']")

    def test_port_ids_of_netlink_follow_from_the_process(self):
        self.assert_prints("""
            import os, socket, struct
            one, other, third = (socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) for _ in range(3))
            one.bind((0, 0))
            other.bind((0, 0))
            print(one.getsockname(), os.getpid(), other.getsockname())
            third.sendto(struct.pack("IHHIIBBHiII", 32, 18, 0x301, 9, 0, 0, 0, 0, 0, 0, 0), (0, 0))  # RTM_GETLINK of all
            print(third.getsockname())
            answer, _, _, address = third.recvmsg(1 << 16)
            print(struct.unpack_from("IHHII", answer)[3:], address)
            try: other.bind((0, 0))
            except OSError as error: print(error.errno)
        """, "(5000001, 0) 5000001 (4294963199, 0)", "(4294963198, 0)", "(9, 4294963198) (0, 0)", "22")


if __name__ == "__main__":
    unittest.main()
