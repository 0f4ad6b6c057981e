// handlers.h: the handlers that table.cpp names, by family; each family is a file.
#pragma once

#include "engine/syscalls/table.h"

namespace anyperf::engine::handlers {

// memory.cpp
long mmap(Call&);
long munmap(Call&);
long mprotect(Call&);
long mremap(Call&);
long shmat(Call&);
long shmdt(Call&);
long madvise(Call&);

// limits.cpp
long getrlimit(Call&);
long setrlimit(Call&);
long prlimit64(Call&);
long brk(Call&);

// process.cpp
long exit(Call&);
long exit_group(Call&);

// clone.cpp
long clone(Call&);
long clone3(Call&);
long fork(Call&);
long vfork(Call&);

// descriptors.cpp
long close_range(Call&);
long getdents64(Call&);
long dup_onto(Call&);

// exec.cpp
long execve(Call&);
long execveat(Call&);

// signals.cpp
long rt_sigaction(Call&);
long rt_sigprocmask(Call&);
long rt_sigpending(Call&);
long rt_sigreturn(Call&);
long rt_sigsuspend(Call&);
long sigaltstack(Call&);
long ppoll(Call&);
long pselect6(Call&);
long epoll_pwait(Call&);

// identity.cpp
long arch_prctl(Call&);
long readlink(Call&);
long readlinkat(Call&);
long path_first(Call&);
long path_second(Call&);
long open(Call&);
long openat(Call&);
long openat2(Call&);
long lstat(Call&);
long newfstatat(Call&);
long statx(Call&);

// tracing.cpp
long ptrace(Call&);
long wait4(Call&);
long waitid(Call&);

// refused.cpp
long not_there(Call&);
long prctl(Call&);

}  // namespace anyperf::engine::handlers
