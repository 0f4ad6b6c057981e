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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
