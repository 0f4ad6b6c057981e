"""`anyperf run --deterministic`: reads and writes of pipes, which threads that take turns try without waiting, answer as the kernel's."""
import subprocess
import time
import unittest

from repeated_runs import ANYPERF, PYTHON, RepeatedRuns

# Each answer, in a process that is alone and in one that has a child.
CALLS = r"""
import ctypes, errno, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)

def show(name, call, *arguments):
    try: answer = call(*arguments)
    except OSError as error: answer = errno.errorcode[error.errno]
    print(name, len(answer) if isinstance(answer, bytes) and len(answer) > 9 else answer)

def raw(name, *words):
    ctypes.set_errno(0)
    got = getattr(libc, name)(*words)
    print(name, got, errno.errorcode.get(ctypes.get_errno(), 0))

for children in range(2):
    if children and (child := os.fork()) == 0: signal.pause()
    read, write = os.pipe()
    show("empty", os.read, read, 0)
    os.set_blocking(read, False)
    show("nothing", os.read, read, 5)
    show("nothing", os.readv, read, [bytearray(2)])
    os.set_blocking(read, True)
    show("wrote", os.write, write, b"abc")
    show("wrote", os.writev, write, [b"d", b"", b"ef"])
    show("none", os.write, write, b"")
    show("wrong", os.read, write, 1)
    show("wrong", os.write, read, b"x")
    parts = [bytearray(2), bytearray(1)]
    show("read", os.readv, read, parts)
    print(parts)
    show("rest", os.read, read, 100)
    os.set_blocking(write, False)
    show("filled", os.write, write, bytes(100_000))
    show("full", os.write, write, b"x")
    show("full", os.writev, write, [b"x", b"y"])
    show("some", os.read, read, 5000)
    show("partly", os.write, write, bytes(9000))
    os.set_blocking(write, True)
    os.set_blocking(read, False)
    show("all", os.read, read, 1 << 20)
    show("no more", os.read, read, 1 << 20)
    os.set_blocking(read, True)
    os.write(write, b"0123456789")
    for call, fd in (("read", read), ("write", write)):
        raw(call, fd, ctypes.c_void_p(8), 4)
        raw(call, fd, None, ctypes.c_size_t(-1))
        raw(call + "v", fd, ctypes.c_void_p(8), 1)
        raw(call + "v", fd, None, -1)
        raw(call + "v", fd, None, 5000)
    show("left", os.read, read, 100)
    # Numbers of descriptors that another file gets.
    copy = os.dup(write)
    os.close(write)
    file = os.open("/proc/self/cmdline", os.O_RDONLY)
    print(file == write)
    os.dup2(file, 200)
    os.dup2(copy, 200)
    show("copy", os.write, 200, b"copy")
    show("file", os.read, file, 1)
    os.dup2(file, 201)
    os.dup2(read, 201)
    show("other", os.read, 201, 10)
    os.close(200)
    os.close(copy)
    show("end", os.read, read, 10)
    os.dup2(file, read)
    show("now", len, os.read(read, 1))
    read, write = os.pipe()
    os.close(read)
    show("broken", os.write, write, b"x")
    show("broken", os.writev, write, [b"x"])
    os.close(write)
    show("closed", os.write, write, b"x")
os.kill(child, signal.SIGKILL)
os.wait()
"""

# Writes that are larger than a pipe.
WAITS = """
import os, signal
read, write = os.pipe()
back, there = os.pipe()
if os.fork() == 0:
    os.close(write)
    os.close(back)
    total = 0
    while block := os.read(read, 70_000): total += len(block)
    os.write(there, b"%d" % total)
    os._exit(0)
signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
print(os.writev(write, [bytes(300_000)] * 20), os.write(write, bytes(1_000_000)))
signal.alarm(3)
signal.pause()
os.close(write)
print(os.read(back, 100))
"""


class Pipes(RepeatedRuns):
    def test_answers_are_those_of_the_kernel(self):
        for program in (CALLS, WAITS):
            natively = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=True, timeout=60)
            run = subprocess.run([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", program], capture_output=True, text=True,
                                 timeout=120, check=False)
            self.assertEqual(run.stdout, natively.stdout, run.stderr)

    def test_repetitions_of_a_command_follow_each_other_at_once(self):
        def seconds():
            begun = time.monotonic()
            subprocess.run([ANYPERF, "stat", "--virtual", "--deterministic", "-r", "10", "-e", "instructions:u", "true"],
                           check=True, capture_output=True, timeout=120)
            return time.monotonic() - begun
        self.assertLess(min(seconds() for _ in range(3)), 9)  # s; once each repetition waited for a second


if __name__ == "__main__":
    unittest.main()
