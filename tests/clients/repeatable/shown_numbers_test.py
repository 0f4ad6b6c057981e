"""`anyperf run --deterministic`: numbers of devices and mounts are the run's own, and agree wherever a program sees them."""
import os
import re
import subprocess
import tempfile
import unittest

from repeated_runs import ANYPERF, PYTHON

# Prints what the calls and files that report devices, mounts and inode numbers say about a file in the directory.
PROGRAM = r"""
import ctypes, mmap, os, re, sys
path = os.path.join(sys.argv[1], "file")
with open(path, "wb") as made:
    made.write(b"x" * 4096)
fd = os.open(path, os.O_RDWR)
about = os.fstat(fd)
print("stat", os.major(about.st_dev), os.minor(about.st_dev), about.st_ino)
more = ctypes.create_string_buffer(256)
assert ctypes.CDLL(None).statx(fd, b"", 0x1000, 0x1fff, more) == 0
print("statx", int.from_bytes(more[136:140], "little"), int.from_bytes(more[140:144], "little"), int.from_bytes(more[32:40], "little"))
mount = int.from_bytes(more[144:152], "little")
mapping = mmap.mmap(fd, 4096)
mapped = [line.split() for line in open("/proc/self/maps") if line.rstrip().endswith("/file")][0]
print("maps", *(int(part, 16) for part in mapped[3].split(":")), mapped[4])
print("smaps", any(line.split()[3:5] == mapped[3:5] for line in open("/proc/self/smaps") if line.rstrip().endswith("/file")))
print("name begins at", {line.index(line.split()[5]) for line in open("/proc/self/maps") if len(line.split()) > 5 and len(line.split()[4]) < 17})
facts = dict(line.split(":\t") for line in open(f"/proc/self/fdinfo/{fd}").read().splitlines())
print("fdinfo", int(facts["mnt_id"]) == mount, facts["ino"])
mounts = {line.split()[4]: line.split() for line in open("/proc/self/mountinfo")}
there = mounts.get(sys.argv[1])
print("mountinfo", there and (int(there[0]) == mount, there[2]))
print("ids", [line[:3] + line[6:line.index("-")] for line in mounts.values()] if there else None)
both = os.pipe()
print("pipe", os.readlink(f"/proc/self/fd/{both[0]}") == f"pipe:[{os.fstat(both[0]).st_ino}]", os.fstat(both[0]).st_dev, os.fstat(both[0]).st_ino)
short = ctypes.create_string_buffer(6)
print("cut off", ctypes.CDLL(None).readlink(f"/proc/self/fd/{both[0]}".encode(), short, 6), short.raw)
space = os.readlink("/proc/self/ns/mnt")
print("namespace", space == f"mnt:[{os.stat('/proc/self/ns/mnt').st_ino}]", space)
system = os.statvfs(sys.argv[1])
print("statfs", system.f_blocks * system.f_bsize, system.f_bavail * system.f_bsize, system.f_files, system.f_ffree, system.f_fsid)
print(open("/proc/self/io").read(), open("/proc/self/schedstat").read().split()[1:])
"""

# Makes some file systems, so that the kernel has another device for the last one each time, and runs the command there.
MOUNTED = r"""
mount --make-rprivate / && place=$1 && shift || exit 77
for n in $(seq $1); do mount -t tmpfs x "$place" || exit 77; done
shift
exec "$@"
"""


class ShownNumbers(unittest.TestCase):
    def run_program(self, place, *before):
        run = subprocess.run([*before, ANYPERF, "run", "--deterministic", "--", PYTHON, "-I", "-S", "-c", PROGRAM, place],
                             capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
        if run.returncode == 77 or "unshare" in run.stderr:
            self.skipTest("no file system can be mounted here")
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def check(self, output):
        lines = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
        major, minor, inode = lines["stat"].split()
        self.assertEqual(major, "0")
        self.assertLess(int(minor), 20)
        self.assertGreaterEqual(int(inode), 1 << 48)
        self.assertEqual(lines["statx"], lines["stat"])
        self.assertEqual(lines["maps"], lines["stat"])
        self.assertEqual(lines["smaps"], "True")
        self.assertEqual(lines["name"], "begins at {73}")
        self.assertEqual(lines["fdinfo"], f"True {inode}")
        self.assertTrue(lines["pipe"].startswith("True "), lines)
        self.assertEqual(lines["cut"], "off 6 b'pipe:['")
        self.assertTrue(lines["namespace"].startswith("True mnt:[28"), lines)
        self.assertIn("rchar: 0\nwchar: 0\n", output)
        return minor, lines

    def test_all_that_report_a_device_agree(self):
        with tempfile.TemporaryDirectory() as place:
            self.run_program(place)  # the first one may compile modules
            outputs = {self.run_program(place) for _ in range(3)}
        self.assertEqual(len(outputs), 1, outputs)
        self.check(outputs.pop())

    def test_they_do_not_depend_on_what_was_mounted_before(self):
        with tempfile.TemporaryDirectory() as place:
            self.run_program(place)
            outputs = {self.run_program(place, "unshare", "-m", "sh", "-c", MOUNTED, "sh", place, str(count)) for count in (1, 4)}
        # With other mounts, numbers that are seen after those of all mounts differ.
        for output in outputs:
            minor, lines = self.check(output)
            self.assertEqual(lines["mountinfo"], f"(True, '0:{minor}')")
            self.assertEqual(lines["statfs"].split()[:4], [str(64 << 30), str(32 << 30), str(4 << 20), str(2 << 20)])
        self.assertEqual(len({re.sub(r"(?m)^(ids|statfs) .*", "", output) for output in outputs}), 1, outputs)


if __name__ == "__main__":
    unittest.main()
