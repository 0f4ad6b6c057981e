"""ctypes_client.py: calls perf_event_open(2) through ctypes: counts instructions, samples them into a ring, prints the results."""
import ctypes
import fcntl
import mmap
import os
import struct

PERF_EVENT_OPEN = 298
IOC_ENABLE, IOC_DISABLE, IOC_RESET = 0x2400, 0x2401, 0x2403
DISABLED, EXCLUDE_KERNEL, EXCLUDE_HV = 1 << 0, 1 << 5, 1 << 6
SAMPLE_IP, RECORD_SAMPLE = 1, 9
PERIOD = 10000

libc = ctypes.CDLL(None, use_errno=True)


def perf_event_open(period=0, sample_type=0):
    flags = DISABLED | EXCLUDE_KERNEL | EXCLUDE_HV
    attr = struct.pack("IIQQQQQ", 0, 112, 1, period, sample_type, 0, flags).ljust(112, b"\0")
    fd = libc.syscall(PERF_EVENT_OPEN, ctypes.c_char_p(attr), 0, -1, -1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


def measured(fd, work):
    fcntl.ioctl(fd, IOC_RESET, 0)
    fcntl.ioctl(fd, IOC_ENABLE, 0)
    work()
    fcntl.ioctl(fd, IOC_DISABLE, 0)
    return struct.unpack("Q", os.read(fd, 8))[0]


def work():
    return sum(range(20000))


counter = perf_event_open()
work()
counts = [measured(counter, work) for _ in range(5)]
print("least", min(counts))

sampler = perf_event_open(PERIOD, SAMPLE_IP)
ring = mmap.mmap(sampler, 9 * mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
count = measured(sampler, work)
head, tail, offset, size = struct.unpack_from("QQQQ", ring, 1024)
samples = 0
at = tail
while at < head:
    kind, _, length = struct.unpack_from("IHH", ring, offset + at % size)
    samples += kind == RECORD_SAMPLE
    at += length
print("samples", samples, "periods", count // PERIOD)
