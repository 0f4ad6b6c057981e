// table.cpp: see table.h.
#include "engine/syscalls/table.h"

#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>
#include <array>

#include "engine/attached.h"
#include "engine/log.h"
#include "engine/memory/changed_code.h"
#include "engine/syscalls/descriptor_arguments.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/names.h"

namespace anyperf::engine {

namespace {

using enum Treatment;

constexpr std::array kRows{
    SyscallRow{__NR_open, "open", emulate, handlers::open, "/proc/self/exe and maps are the program's"},
    SyscallRow{__NR_stat, "stat", emulate, handlers::path_first, "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_lstat, "lstat", watch, handlers::lstat, "/proc/self/fd without the run's own"},
    SyscallRow{__NR_mmap, "mmap", watch, handlers::mmap, "what may be executed"},
    SyscallRow{__NR_mprotect, "mprotect", watch, handlers::mprotect, "what may be executed"},
    SyscallRow{__NR_munmap, "munmap", watch, handlers::munmap, "translated code goes with its memory"},
    SyscallRow{__NR_brk, "brk", watch, handlers::brk, "RLIMIT_AS is of the program's memory"},
    SyscallRow{__NR_rt_sigaction, "rt_sigaction", emulate, handlers::rt_sigaction,
               "the kernel's handlers are the engine's"},
    SyscallRow{__NR_rt_sigprocmask, "rt_sigprocmask", emulate, handlers::rt_sigprocmask,
               "the engine's own signals are never blocked in the kernel"},
    SyscallRow{__NR_rt_sigreturn, "rt_sigreturn", emulate, handlers::rt_sigreturn, "from the application's frame"},
    SyscallRow{__NR_access, "access", emulate, handlers::path_first, "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_mremap, "mremap", watch, handlers::mremap, "translated code goes with its memory"},
    SyscallRow{__NR_madvise, "madvise", watch, handlers::madvise, "MADV_DONTNEED empties code"},
    SyscallRow{__NR_shmat, "shmat", watch, handlers::shmat, "SHM_EXEC"},
    SyscallRow{__NR_dup2, "dup2", watch, handlers::dup_onto, "the run's own descriptor stays"},
    SyscallRow{__NR_clone, "clone", emulate, handlers::clone, "a thread gets an engine stack of its own"},
    SyscallRow{__NR_fork, "fork", emulate, handlers::fork, "the engine goes with it"},
    SyscallRow{__NR_vfork, "vfork", emulate, handlers::vfork, "shares memory and waits, as it should"},
    SyscallRow{__NR_execve, "execve", emulate, handlers::execve, "into the engine"},
    SyscallRow{__NR_exit, "exit", emulate, handlers::exit, "the thread's counts are kept"},
    SyscallRow{__NR_wait4, "wait4", watch, handlers::wait4, "a tracee's stops for its engine are none"},
    SyscallRow{__NR_shmdt, "shmdt", watch, handlers::shmdt, "SHM_EXEC"},
    SyscallRow{__NR_readlink, "readlink", emulate, handlers::readlink, "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_getrlimit, "getrlimit", watch, handlers::getrlimit, "RLIMIT_AS is of the program's memory"},
    SyscallRow{__NR_ptrace, "ptrace", watch, handlers::ptrace, "registers and code would be the translation's"},
    SyscallRow{__NR_rt_sigpending, "rt_sigpending", emulate, handlers::rt_sigpending,
               "with those that the engine keeps"},
    SyscallRow{__NR_rt_sigsuspend, "rt_sigsuspend", emulate, handlers::rt_sigsuspend,
               "its mask lasts until the delivery"},
    SyscallRow{__NR_sigaltstack, "sigaltstack", emulate, handlers::sigaltstack, "the kernel's is the engine's"},
    SyscallRow{__NR_prctl, "prctl", watch, handlers::prctl, "PR_SET_NAME names the thread in the books; seccomp"},
    SyscallRow{__NR_arch_prctl, "arch_prctl", emulate, handlers::arch_prctl, "gs is the engine's; no shadow stack"},
    SyscallRow{__NR_setrlimit, "setrlimit", watch, handlers::setrlimit, "RLIMIT_AS is of the program's memory"},
    SyscallRow{__NR_getdents64, "getdents64", watch, handlers::getdents64, "/proc/self/fd without the run's own"},
    SyscallRow{__NR_exit_group, "exit_group", emulate, handlers::exit_group, "counts are kept"},
    SyscallRow{__NR_waitid, "waitid", watch, handlers::waitid, "a tracee's stops for its engine are none"},
    SyscallRow{__NR_openat, "openat", emulate, handlers::openat, "/proc/self/exe and maps are the program's"},
    SyscallRow{__NR_newfstatat, "newfstatat", emulate, handlers::newfstatat,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_readlinkat, "readlinkat", emulate, handlers::readlinkat,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_faccessat, "faccessat", emulate, handlers::path_second,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_pselect6, "pselect6", emulate, handlers::pselect6, "its mask lasts until the delivery"},
    SyscallRow{__NR_ppoll, "ppoll", emulate, handlers::ppoll, "its mask lasts until the delivery"},
    SyscallRow{__NR_epoll_pwait, "epoll_pwait", emulate, handlers::epoll_pwait, "its mask lasts until the delivery"},
    SyscallRow{__NR_dup3, "dup3", watch, handlers::dup_onto, "the run's own descriptor stays"},
    SyscallRow{__NR_prlimit64, "prlimit64", watch, handlers::prlimit64, "RLIMIT_AS is of the program's memory"},
    SyscallRow{__NR_seccomp, "seccomp", refuse, handlers::not_there, "its filter would judge the engine's calls, too"},
    SyscallRow{__NR_execveat, "execveat", emulate, handlers::execveat, "into the engine"},
    SyscallRow{__NR_pkey_mprotect, "pkey_mprotect", watch, handlers::mprotect, "what may be executed"},
    SyscallRow{__NR_statx, "statx", emulate, handlers::statx, "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_rseq, "rseq", refuse, handlers::not_there, "an abort would go to code that never runs in place"},
    SyscallRow{__NR_clone3, "clone3", emulate, handlers::clone3, "as clone"},
    SyscallRow{__NR_close_range, "close_range", watch, handlers::close_range, "the run's own descriptor stays"},
    SyscallRow{__NR_openat2, "openat2", emulate, handlers::openat2, "/proc/self/exe and maps are the program's"},
    SyscallRow{__NR_faccessat2, "faccessat2", emulate, handlers::path_second,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_epoll_pwait2, "epoll_pwait2", emulate, handlers::epoll_pwait, "its mask lasts until the delivery"},
};

static_assert(std::ranges::is_sorted(kRows, {}, &SyscallRow::number));
static_assert(std::ranges::all_of(kRows, [](const SyscallRow& row) { return row.name == syscall_name(row.number); }));

long pass_on(Call& call) {
    return call.pass();
}

/// All numbers: the rows above, and for the others that the kernel does them and the engine takes no part.
constexpr auto kTable = [] {
    std::array<SyscallRow, kFirstShared + kSharedSyscalls.size()> table{};
    for (std::size_t number = 0; number < table.size(); ++number)
        table[number] = {static_cast<std::uint16_t>(number), syscall_name(number), pass, pass_on, ""};
    for (const SyscallRow& row : kRows) table[row.number] = row;
    return table;
}();

/// By its row's handler; a number that no kernel knew when this was written is the kernel's business as well.
long run_engine_row(Call& call) {
    const auto run = [&] { return call.number < kTable.size() ? kTable[call.number].handle(call) : call.pass(); };
    const long answer = run();
    // The kernel may have been stopped by a page that only the engine protects.
    return answer == -EFAULT && open_all_code(call.engine) ? run() : answer;
}

/// Says in the thread's page that it is in the kernel, so that who wants its attention need not interrupt a wait.
class InKernel {
  public:
    explicit InKernel(Thread& thread) : thread_(thread) {
        __atomic_store_n(&thread_.page.in_kernel, 1, __ATOMIC_RELAXED);
    }
    ~InKernel() {
        // Whole before the look: who sets `attention` reads `in_kernel` after it.
        __atomic_store_n(&thread_.page.in_kernel, 0, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&thread_.page.attention, __ATOMIC_SEQ_CST) != 0) thread_.pending = 1;
    }
    InKernel(const InKernel&) = delete;
    InKernel& operator=(const InKernel&) = delete;

  private:
    Thread& thread_;
};

long run_row(Call& call) {
    const InKernel in_kernel{call.thread};
    if (names_hidden(call)) return -EBADF;
    const long answer = run_engine_row(call);
    attached::called(call, answer);
    return answer;
}

}  // namespace

long run_syscall(Call& call) {
    ThreadPage& page = call.thread.page;
    if (page.traced != 0) [[unlikely]]
        attached::entering_call(call);
    long answer = 0;
    if (!attached::system_call(call, answer)) answer = run_row(call);
    if (log_wants(call.engine, log::kSyscalls)) [[unlikely]]
        log_syscall(call, answer);
    // A wait that the alarm has interrupted is begun again first, undisturbed: the timer is set when it has ended.
    if (call.thread.alarmed && answer != kBeginAgain) call.thread.pending = 1;
    if (page.traced != 0 || page.attention != 0) [[unlikely]]
        attached::left_call(call, answer);
    return answer;
}

}  // namespace anyperf::engine
