// handlers.h: the handlers that table.cpp names. Each family is a file, and the file says what its calls have in
// common. A handler takes the call as the application made it and returns the value for rax, or kRestartSyscall.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::engine::handlers {

// memory.cpp: what may be executed, and which translations are stale
long mmap(Call&);
long munmap(Call&);
long mprotect(Call&);
long mremap(Call&);
long shmat(Call&);
long shmdt(Call&);
long madvise(Call&);
long process_madvise(Call&);
long mlockall(Call&);
long munlockall(Call&);
long userfaultfd(Call&);
long ioctl(Call&);

// limits.cpp: RLIMIT_AS counts the program's memory only
long getrlimit(Call&);
long setrlimit(Call&);
long prlimit64(Call&);
long brk(Call&);

// usage.cpp: page faults are the program's own
long getrusage(Call&);

// process.cpp: the end of threads and processes. Neither returns
long exit(Call&);
long exit_group(Call&);

// clone.cpp: new threads and processes
long clone(Call&);
long clone3(Call&);
long fork(Call&);
long vfork(Call&);

// descriptors.cpp: the engine's descriptors are neither closed nor listed
long close_range(Call&);
long getdents(Call&);
long getdents64(Call&);
// names.cpp: a deterministic run has names of its own
long uname(Call&);
long sethostname(Call&);
// directories.cpp: a deterministic run sorts directories
long lseek(Call&);
long dup_onto(Call&);  ///< dup2 and dup3

// process.cpp: programs of different users do not share run memory
long change_ids(Call&);  ///< setuid, setgid, setreuid, setregid, setresuid, setresgid, capset
/// Gives a process its user's run memory if that could not be done when its ids changed. The process has one thread: it
/// is the child of a fork, or has executed a program.
void catch_up_with_ids(Thread& thread);

// exec.cpp: the next program runs in the engine, too
long execve(Call&);
long execveat(Call&);

// signals.cpp: actions, masks, alternate stacks and waits with a mask
long rt_sigaction(Call&);
long rt_sigprocmask(Call&);
long rt_sigpending(Call&);
long signalfd(Call&);      ///< and signalfd4
long rt_sigreturn(Call&);  ///< does not return
long rt_sigsuspend(Call&);
long sigaltstack(Call&);
long ppoll(Call&);
long pselect6(Call&);
long epoll_pwait(Call&);  ///< and epoll_pwait2

// identity.cpp: what a program sees of itself
long arch_prctl(Call&);
long readlink(Call&);
long readlinkat(Call&);
long path_in_first_argument(Call&);   ///< stat, access
long path_in_second_argument(Call&);  ///< faccessat, faccessat2
long open(Call&);
long openat(Call&);
long openat2(Call&);
long creat(Call&);
long truncate(Call&);
long memfd_create(Call&);
long lstat(Call&);
long newfstatat(Call&);
long statx(Call&);

// randomness.cpp: random bytes by the run's seed. Without --deterministic all of them are passed to the kernel
long getrandom(Call&);
long read(Call&);   ///< and pread64
long readv(Call&);  ///< and preadv, preadv2
long splice(Call&);
long sendfile(Call&);
long io_uring_setup(Call&);

// submission_queues.cpp: requests of rings to close the engine's descriptors
long io_uring_enter(Call&);

// time: the time of a deterministic run. Without --deterministic all of them are the kernel's
long clock_gettime(Call&);
long clock_getres(Call&);
long adjtimex(Call&);
long clock_adjtime(Call&);
long getsockopt(Call&);
long gettimeofday(Call&);
long time(Call&);
long times(Call&);
long sysinfo(Call& call);
long sched_getaffinity(Call& call);
long sched_setaffinity(Call& call);
long getcpu(Call&);
long nanosleep(Call&);
long clock_nanosleep(Call&);
long futex(Call&);
long timed_wait(Call&);
long rt_sigtimedwait(Call&);
long rt_tgsigqueueinfo(Call&);
/// Makes a call that waits, by `wait`. In a deterministic run its timeout is one of the virtual clock. `wait` is called
/// once, with the timeout for the kernel in the arguments.
long wait_with_timeout(Call& call, long (*wait)(Call&));
long set_timer(Call&);  ///< alarm, setitimer, timer_settime, timerfd_settime

// tracing.cpp: ptrace between processes of a run
long ptrace(Call&);
long wait4(Call&);
long waitid(Call&);

// refused.cpp: what would be done to the engine as well
long not_implemented(Call&);  ///< ENOSYS
long prctl(Call&);

}  // namespace anyperf::engine::handlers
