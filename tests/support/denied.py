"""denied.py NUMBER[,NUMBER...] COMMAND...: runs a command in which these system calls fail with EPERM, as under container
runtimes, by a classic BPF filter of seccomp(2). The numbers are those of x86-64."""
import ctypes
import os
import struct
import sys

LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, EPERM = 0x7fff0000, 0x00050001
PR_SET_SECCOMP, FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38

denied = [int(number) for number in sys.argv[1].split(",")]
rows = [(LOAD_NUMBER, 0, 0, 0)]
rows += [(JUMP_IF_EQUAL, len(denied) - index, 0, number) for index, number in enumerate(denied)]
rows += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, EPERM)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
program = struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0) == 0
os.execvp(sys.argv[2], sys.argv[2:])
