"""`anyperf run --deterministic`: ports and names that the kernel or the machine would choose."""
import glob
import os
import socket
import subprocess
import sys
import unittest

from repeated_runs import ANYPERF, PYTHON

FIRST_PORT = 61000

# A server that is bound to no port, with clients one after the other; each side prints what it sees.
PORTS = """
import os, socket
def pair(family, host):
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen()
    print("server", server.getsockname()[1])
    for n in range(3):
        client = socket.socket(family)
        client.connect(server.getsockname())
        other, peer = server.accept()
        print(client.getsockname()[1], client.getpeername()[1], peer[1], other.getpeername()[1], other.getsockname()[1])
        other.sendall(b"x")
        assert client.recv(1) == b"x"
        client.close(), other.close()
pair(socket.AF_INET, "127.0.0.1")
pair(socket.AF_INET6, "::1")
one, two = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
one.bind(("127.0.0.1", 0))
two.sendto(b"hello", one.getsockname())
data, sender = one.recvfrom(10)
one.sendto(b"answer", sender)
data, _, _, server = two.recvmsg(10)
print(data.decode(), sender[1], two.getsockname()[1], server[1])
two.sendmsg([b"more"], [], 0, one.getsockname())
print(one.recv(10).decode())
named = socket.socket()
named.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
named.bind(("127.0.0.1", int(os.environ["NAMED"])))
print(named.getsockname()[1] == int(os.environ["NAMED"]))
"""

NAMES = """
import os, platform, socket
print(socket.gethostname(), platform.release(), platform.version(), os.uname().machine)
for name in "version", "sys/kernel/osrelease", "sys/kernel/version", "sys/kernel/hostname":
    print(open("/proc/" + name).read().strip())
"""

# A server and its client by both internet protocols and by name: the lists of sockets have what the calls report.
LISTS = """
import os, socket
def listed(name, at):
    lines = open("/proc/net/" + name).read().splitlines()[1:]
    return {int(words[at]): words for words in map(str.split, lines)}
def inode(made): return os.fstat(made.fileno()).st_ino
def port(address): return int(address.rsplit(":", 1)[1], 16)
for family, host, name in (socket.AF_INET, "127.0.0.1", "tcp"), (socket.AF_INET6, "::1", "tcp6"):
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen()
    client = socket.create_connection(server.getsockname()[:2])
    accepted, _ = server.accept()
    here = listed(name, 9)
    assert set(here) == {inode(one) for one in (server, client, accepted)}, (here, inode(server))
    for one in server, client, accepted: assert port(here[inode(one)][1]) == one.getsockname()[1]
    assert port(here[inode(client)][2]) == server.getsockname()[1]
    print(open("/proc/net/" + name).read())
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
assert port(listed("udp", 9)[inode(datagrams)][1]) == datagrams.getsockname()[1]
one, two = socket.socketpair()
named = socket.socket(socket.AF_UNIX)
named.bind("\\0 a name of " + str(os.getpid()))
assert {inode(one), inode(two), inode(named)} == set(listed("unix", 6))
print(open("/proc/net/unix").read().replace("\\0", "@"), open("/proc/self/net/udp").read())
"""

# What the kernel measures of a connection, and numbers that it gives to sockets, files and processes.
MEASURED = """
import ctypes, os, select, socket, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
other, _ = server.accept()
for _ in range(20): client.send(b"ping"), other.recv(4), other.send(b"pong"), client.recv(4)
for one in server, client, other:
    print(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 300).hex(), one.getsockopt(socket.SOL_SOCKET, 57, 8).hex(),
          one.getsockopt(socket.SOL_SOCKET, 49), one.getsockopt(socket.IPPROTO_TCP, 26, 64).hex())
print(client.getsockopt(socket.IPPROTO_TCP, 24) // 10000)
adjusted = (ctypes.c_long * 32)()
print(ctypes.CDLL(None).adjtimex(adjusted), list(adjusted)[:9], adjusted[9] - int(time.time()) in (-1, 0), list(adjusted)[11:])
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b"/tmp", 2)
poll = select.epoll()
poll.register(other.fileno(), 1)
for fd in watch, poll.fileno(), os.pidfd_open(os.getpid()): print(open("/proc/self/fdinfo/%d" % fd).read(), os.fstat(fd))
print(os.listdir("/proc/self/task") == [str(os.getpid())], [os.stat("/proc/self/" + name) for name in ("cgroup", "limits", "status")])
"""


class ShownMachine(unittest.TestCase):
    def run_python(self, script, **environment):
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", script], capture_output=True, text=True, timeout=100,
                             env={**os.environ, **environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_ports_are_counted_and_both_sides_agree(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            named = str(free.getsockname()[1])
        busy = socket.socket()  # in the second run the first port is in use
        outputs = [self.run_python(PORTS, NAMED=named)]
        busy.bind(("127.0.0.1", FIRST_PORT))
        busy.listen()
        outputs.append(self.run_python(PORTS, NAMED=named))
        busy.close()
        self.assertEqual(outputs[0], outputs[1])
        at = FIRST_PORT
        expected = []
        for _ in range(2):
            server = at
            expected.append(f"server {server}")
            for _ in range(3):
                at += 1
                expected.append(f"{at} {server} {at} {at} {server}")
            at += 1
        expected += [f"answer {at + 1} {at + 1} {at}", "more", "True"]
        self.assertEqual(outputs[0].splitlines(), expected)

    def test_the_names_of_the_machine_are_the_runs(self):
        version = "#1 SMP PREEMPT_DYNAMIC"
        self.assertEqual(self.run_python(NAMES).splitlines(), [
            f"localhost 6.1.0 {version} x86_64", f"Linux version 6.1.0 (anyperf) {version}", "6.1.0", version, "localhost"])

    def test_files_about_what_the_machine_does_are_those_of_an_idle_one(self):
        names = ["vmstat", "interrupts", "softirqs", "diskstats", "buddyinfo", "pressure/cpu", "net/sockstat", "sys/fs/file-nr",
                 "sys/fs/dentry-state"]
        there = [f"/proc/{name}" for name in names if os.path.exists(f"/proc/{name}")]
        there += glob.glob("/sys/devices/system/node/node0/*stat") + glob.glob("/sys/devices/system/node/node0/meminfo")
        script = f"for name in {there}: print(name, open(name).read())"
        texts = [self.run_python(script) for _ in range(2)]
        self.assertEqual(texts[0], texts[1])
        self.assertIn("pgfault 0\n", texts[0])
        self.assertNotEqual(texts[0], subprocess.run([PYTHON, "-c", script], capture_output=True, text=True, check=True).stdout)

    def test_the_runs_sockets_are_listed(self):
        texts = []
        with socket.socket() as other:  # one that is not listed
            for _ in range(2):
                other.listen() if texts else other.bind(("127.0.0.1", 0))
                texts.append(self.run_python(LISTS))
        self.assertEqual(texts[0], texts[1])

    def test_what_the_kernel_measures_and_numbers_is_fixed(self):
        texts = [self.run_python(MEASURED) for _ in range(3)]
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])
        self.assertIn("True", texts[0])

    def test_figures_of_memory_and_lists_of_processes_are_the_runs(self):
        names = ["smaps", "smaps_rollup", "numa_maps", "sched", "schedstat", "net/netstat", "net/snmp", "net/dev"]
        there = [f"/proc/self/{name}" for name in names if os.path.exists(f"/proc/self/{name}")]
        there += ["/proc/schedstat", "/proc/zoneinfo", "/proc/slabinfo", "/proc/timer_list"]
        there += [f"/sys/fs/cgroup/{name}" for name in ("cgroup.procs", "cpu/cgroup.procs", "cpu/tasks", "cpu.pressure", "cpuacct/cpuacct.stat")]
        there = [name for name in there if os.access(name, os.R_OK)]
        script = f"for name in {there}: print(name, open(name).read())"
        texts = []
        for _ in range(2):
            with subprocess.Popen([PYTHON, "-c", "input()"], stdin=subprocess.PIPE) as other:  # a process that is not listed
                texts.append(self.run_python(script))
                other.communicate(b"\n")
        self.assertEqual(texts[0], texts[1])
        self.assertIn("python3 (5000001, #threads: 1)", texts[0])
        self.assertRegex(texts[0], r"Size: +[1-9]\d* kB\nKernelPageSize: +4 kB\nMMUPageSize: +4 kB\nRss: +0 kB\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
