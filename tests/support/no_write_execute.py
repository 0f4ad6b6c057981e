"""no_write_execute.py KIND COMMAND...: runs a command where memory cannot be writable and executable at the same time.
mdwe: by PR_SET_MDWE (prctl(2), Linux 6.3). filter: by a seccomp filter like that of systemd's MemoryDenyWriteExecute.
execmem: a filter that also refuses anonymous executable memory, with EACCES, as SELinux does without execmem."""
import ctypes
import os
import struct
import sys

LOAD, AND, JUMP_IF_EQUAL, RETURN = 0x20, 0x54, 0x15, 0x06
ALLOW, REFUSE = 0x7fff0000, 0x00050000
EPERM, EACCES = 1, 13
WRITE, EXECUTE, ANONYMOUS, SHM_EXEC = 2, 4, 0x20, 0o100000
PR_SET_SECCOMP, FILTER, PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, REFUSE_EXEC_GAIN = 22, 2, 38, 65, 1

# A system call's number, and the arguments that are refused: index, mask, value.
SYSTEMD = [(9, [(2, WRITE | EXECUTE, WRITE | EXECUTE)]),  # mmap
           (10, [(2, EXECUTE, EXECUTE)]), (329, [(2, EXECUTE, EXECUTE)]),  # mprotect, pkey_mprotect
           (30, [(2, SHM_EXEC, SHM_EXEC)])]  # shmat
EXECMEM = [*SYSTEMD, (9, [(2, EXECUTE, EXECUTE), (3, ANONYMOUS, ANONYMOUS)])]


def filter_of(rules, error):
    rows = []
    for number, conditions in rules:
        rest = 3 * len(conditions) + 1
        rows += [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, rest, number)]
        for index, mask, value in conditions:
            rest -= 3
            rows += [(LOAD, 0, 0, 16 + 8 * index), (AND, 0, 0, mask), (JUMP_IF_EQUAL, 0, rest, value)]
        rows.append((RETURN, 0, 0, REFUSE | error))
    return [*rows, (RETURN, 0, 0, ALLOW)]


libc = ctypes.CDLL(None, use_errno=True)
if sys.argv[1] == "mdwe":
    done = libc.prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) == 0
else:
    rows = filter_of(SYSTEMD, EPERM) if sys.argv[1] == "filter" else filter_of(EXECMEM, EACCES)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code))
    done = libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0) == 0
if not done:
    sys.exit(f"no_write_execute.py: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[2], sys.argv[2:])
