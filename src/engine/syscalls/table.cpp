// table.cpp: the table of system calls, and the steps that are common to all of them. The rows are in the order of
// their numbers. Each number has a row, and each row the name of data/syscalls/syscalls.tsv: the compiler checks both.
#include "engine/syscalls/table.h"
#include "engine/syscalls/file_kinds.h"

#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "engine/hooks.h"
#include "engine/log.h"
#include "engine/memory/protected_code.h"
#include "engine/syscalls/descriptor_arguments.h"
#include "engine/syscalls/directories.h"
#include "engine/syscalls/file_writes.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/made_files.h"
#include "engine/syscalls/messages.h"
#include "engine/syscalls/objects.h"
#include "engine/syscalls/own_memory_file.h"
#include "engine/syscalls/ports.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/time/virtual_clock.h"
#include "engine/tracee_stops.h"

namespace anyperf::engine {

namespace {

using enum Treatment;

/// A system call of x86-64.
struct KnownSyscall {
    std::uint16_t number;
    std::string_view name;
};

/// All of them as of Linux 6.18, from data/syscalls/syscalls.tsv, in the order of their numbers.
constexpr auto kKnownSyscalls = std::to_array<KnownSyscall>({
#include "syscall_names.inc"
});

constexpr std::string_view kUsers = "programs of different users do not share run memory";
constexpr std::string_view kWritten = "code of files that are written is compared when it is entered";
constexpr std::string_view kVirtualTime = "a deterministic run has a clock of its own";

/// Calls that the kernel does not simply do as the application asks for them.
constexpr std::array kRows{
    SyscallRow{__NR_read, "read", observe, handlers::read, "a deterministic run gives the bytes of the random devices"},
    SyscallRow{__NR_open, "open", emulate, handlers::open, "/proc/self/exe and maps show the program, not the engine"},
    SyscallRow{__NR_stat, "stat", emulate, handlers::path_in_first_argument,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_lstat, "lstat", observe, handlers::lstat, "/proc/self/fd hides the engine's descriptors"},
    SyscallRow{__NR_poll, "poll", observe, handlers::timed_wait, kVirtualTime},
    SyscallRow{__NR_lseek, "lseek", observe, handlers::lseek, "a deterministic run sorts directories"},
    SyscallRow{__NR_mmap, "mmap", observe, handlers::mmap, "the engine keeps a map of executable memory"},
    SyscallRow{__NR_mprotect, "mprotect", observe, handlers::mprotect, "the engine keeps a map of executable memory"},
    SyscallRow{__NR_munmap, "munmap", observe, handlers::munmap, "translations of unmapped code are removed"},
    SyscallRow{__NR_brk, "brk", observe, handlers::brk, "RLIMIT_AS counts the program's memory only"},
    SyscallRow{__NR_rt_sigaction, "rt_sigaction", emulate, handlers::rt_sigaction,
               "the handlers in the kernel are the engine's"},
    SyscallRow{__NR_rt_sigprocmask, "rt_sigprocmask", emulate, handlers::rt_sigprocmask,
               "the engine's own signals are never blocked in the kernel"},
    SyscallRow{__NR_rt_sigreturn, "rt_sigreturn", emulate, handlers::rt_sigreturn,
               "returns from the frame that the engine made"},
    SyscallRow{__NR_ioctl, "ioctl", observe, handlers::ioctl, "the program may fill pages of code by userfaultfd"},
    SyscallRow{__NR_pread64, "pread64", observe, handlers::read,
               "a deterministic run gives the bytes of the random devices"},
    SyscallRow{__NR_readv, "readv", observe, handlers::readv,
               "a deterministic run gives the bytes of the random devices"},
    SyscallRow{__NR_access, "access", emulate, handlers::path_in_first_argument,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_select, "select", observe, handlers::timed_wait, kVirtualTime},
    SyscallRow{__NR_mremap, "mremap", observe, handlers::mremap, "translations of unmapped code are removed"},
    SyscallRow{__NR_madvise, "madvise", observe, handlers::madvise, "an advice may discard code"},
    SyscallRow{__NR_shmat, "shmat", observe, handlers::shmat, "a segment may be executable (SHM_EXEC)"},
    SyscallRow{__NR_dup2, "dup2", observe, handlers::dup_onto, "the engine's descriptors stay open"},
    SyscallRow{__NR_nanosleep, "nanosleep", observe, handlers::nanosleep, kVirtualTime},
    SyscallRow{__NR_alarm, "alarm", observe, handlers::set_timer, kVirtualTime},
    SyscallRow{__NR_setitimer, "setitimer", observe, handlers::set_timer, kVirtualTime},
    SyscallRow{__NR_sendfile, "sendfile", observe, handlers::sendfile,
               "a deterministic run refuses random devices; programs go on with read"},
    SyscallRow{__NR_getsockopt, "getsockopt", observe, handlers::getsockopt,
               "a deterministic run has a network without times"},
    SyscallRow{__NR_clone, "clone", emulate, handlers::clone, "a new thread needs a %gs block and an engine stack"},
    SyscallRow{__NR_fork, "fork", emulate, handlers::fork, "the child has a copy of the engine"},
    SyscallRow{__NR_vfork, "vfork", emulate, handlers::vfork, "the child shares memory and needs an engine stack"},
    SyscallRow{__NR_execve, "execve", emulate, handlers::execve, "the next program runs in the engine, too"},
    SyscallRow{__NR_exit, "exit", emulate, handlers::exit, "the thread's counts are recorded"},
    SyscallRow{__NR_wait4, "wait4", observe, handlers::wait4, "engine-internal stops of a tracee are hidden"},
    SyscallRow{__NR_uname, "uname", observe, handlers::uname, "a deterministic run shows the same machine"},
    SyscallRow{__NR_shmdt, "shmdt", observe, handlers::shmdt, "a segment may be executable (SHM_EXEC)"},
    SyscallRow{__NR_truncate, "truncate", observe, handlers::truncate, kWritten},
    SyscallRow{__NR_getdents, "getdents", observe, handlers::getdents,
               "/proc/self/fd hides the engine's descriptors; a deterministic run sorts directories"},
    SyscallRow{__NR_creat, "creat", observe, handlers::creat, kWritten},
    SyscallRow{__NR_readlink, "readlink", emulate, handlers::readlink, "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_gettimeofday, "gettimeofday", observe, handlers::gettimeofday, kVirtualTime},
    SyscallRow{__NR_getrlimit, "getrlimit", observe, handlers::getrlimit, "RLIMIT_AS counts the program's memory only"},
    SyscallRow{__NR_getrusage, "getrusage", observe, handlers::getrusage, "page faults of the engine are left out"},
    SyscallRow{__NR_sysinfo, "sysinfo", observe, handlers::sysinfo, "a deterministic run shows the same machine"},
    SyscallRow{__NR_times, "times", observe, handlers::times, kVirtualTime},
    SyscallRow{__NR_ptrace, "ptrace", observe, handlers::ptrace, "registers and code are those of the translation"},
    SyscallRow{__NR_setuid, "setuid", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_setgid, "setgid", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_setreuid, "setreuid", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_setregid, "setregid", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_setresuid, "setresuid", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_setresgid, "setresgid", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_capset, "capset", observe, handlers::change_ids, kUsers},
    SyscallRow{__NR_rt_sigpending, "rt_sigpending", emulate, handlers::rt_sigpending,
               "adds signals that the engine has queued"},
    SyscallRow{__NR_rt_sigtimedwait, "rt_sigtimedwait", observe, handlers::rt_sigtimedwait,
               "signals that the engine has queued; and with a virtual clock"},
    SyscallRow{__NR_rt_sigsuspend, "rt_sigsuspend", emulate, handlers::rt_sigsuspend,
               "its mask stays in force until the signal is delivered"},
    SyscallRow{__NR_sigaltstack, "sigaltstack", emulate, handlers::sigaltstack,
               "the stack in the kernel is the engine's"},
    SyscallRow{__NR_mlockall, "mlockall", emulate, handlers::mlockall, "only the program's memory is locked"},
    SyscallRow{__NR_munlockall, "munlockall", observe, handlers::munlockall, "the engine locks future mappings itself"},
    SyscallRow{__NR_prctl, "prctl", observe, handlers::prctl,
               "PR_SET_NAME renames the thread's record; seccomp is refused"},
    SyscallRow{__NR_arch_prctl, "arch_prctl", emulate, handlers::arch_prctl, "%gs is the engine's; no shadow stack"},
    SyscallRow{__NR_adjtimex, "adjtimex", observe, handlers::adjtimex, kVirtualTime},
    SyscallRow{__NR_setrlimit, "setrlimit", observe, handlers::setrlimit, "RLIMIT_AS counts the program's memory only"},
    SyscallRow{__NR_sethostname, "sethostname", observe, handlers::sethostname, "programs see the name from then on"},
    SyscallRow{__NR_time, "time", observe, handlers::time, kVirtualTime},
    SyscallRow{__NR_futex, "futex", observe, handlers::futex, kVirtualTime},
    SyscallRow{__NR_sched_setaffinity, "sched_setaffinity", observe, handlers::sched_setaffinity,
               "a run with --cpus has CPUs of its own"},
    SyscallRow{__NR_sched_getaffinity, "sched_getaffinity", observe, handlers::sched_getaffinity,
               "a run with --cpus has CPUs of its own"},
    SyscallRow{__NR_getdents64, "getdents64", observe, handlers::getdents64,
               "/proc/self/fd hides the engine's descriptors; a deterministic run sorts directories"},
    SyscallRow{__NR_semtimedop, "semtimedop", observe, handlers::timed_wait, kVirtualTime},
    SyscallRow{__NR_timer_settime, "timer_settime", observe, handlers::set_timer, kVirtualTime},
    SyscallRow{__NR_clock_gettime, "clock_gettime", observe, handlers::clock_gettime, kVirtualTime},
    SyscallRow{__NR_clock_getres, "clock_getres", observe, handlers::clock_getres, kVirtualTime},
    SyscallRow{__NR_clock_nanosleep, "clock_nanosleep", observe, handlers::clock_nanosleep, kVirtualTime},
    SyscallRow{__NR_exit_group, "exit_group", emulate, handlers::exit_group,
               "the thread's counts and the exit status are recorded"},
    SyscallRow{__NR_epoll_wait, "epoll_wait", observe, handlers::timed_wait, kVirtualTime},
    SyscallRow{__NR_mq_timedsend, "mq_timedsend", observe, handlers::timed_wait, kVirtualTime},
    SyscallRow{__NR_mq_timedreceive, "mq_timedreceive", observe, handlers::timed_wait, kVirtualTime},
    SyscallRow{__NR_waitid, "waitid", observe, handlers::waitid, "engine-internal stops of a tracee are hidden"},
    SyscallRow{__NR_openat, "openat", emulate, handlers::openat,
               "/proc/self/exe and maps show the program, not the engine"},
    SyscallRow{__NR_newfstatat, "newfstatat", emulate, handlers::newfstatat,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_readlinkat, "readlinkat", emulate, handlers::readlinkat,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_faccessat, "faccessat", emulate, handlers::path_in_second_argument,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_pselect6, "pselect6", emulate, handlers::pselect6,
               "its mask stays in force until the signal is delivered"},
    SyscallRow{__NR_ppoll, "ppoll", emulate, handlers::ppoll, "its mask stays in force until the signal is delivered"},
    SyscallRow{__NR_splice, "splice", observe, handlers::splice,
               "a deterministic run refuses random devices; programs go on with read"},
    SyscallRow{__NR_epoll_pwait, "epoll_pwait", emulate, handlers::epoll_pwait,
               "its mask stays in force until the signal is delivered"},
    SyscallRow{__NR_signalfd, "signalfd", observe, handlers::signalfd,
               "the kernel never blocks the engine's signals; the engine keeps those"},
    SyscallRow{__NR_timerfd_settime, "timerfd_settime", observe, handlers::set_timer, kVirtualTime},
    SyscallRow{__NR_signalfd4, "signalfd4", observe, handlers::signalfd,
               "the kernel never blocks the engine's signals; the engine keeps those"},
    SyscallRow{__NR_dup3, "dup3", observe, handlers::dup_onto, "the engine's descriptors stay open"},
    SyscallRow{__NR_preadv, "preadv", observe, handlers::readv,
               "a deterministic run gives the bytes of the random devices"},
    SyscallRow{__NR_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", observe, handlers::rt_tgsigqueueinfo,
               "marks what a thread of this process gets"},
    SyscallRow{__NR_prlimit64, "prlimit64", observe, handlers::prlimit64, "RLIMIT_AS counts the program's memory only"},
    SyscallRow{__NR_clock_adjtime, "clock_adjtime", observe, handlers::clock_adjtime, kVirtualTime},
    SyscallRow{__NR_getcpu, "getcpu", observe, handlers::getcpu, "a deterministic run shows the first CPU"},
    SyscallRow{__NR_seccomp, "seccomp", refuse, handlers::not_implemented,
               "a filter would apply to the engine's calls, too"},
    SyscallRow{__NR_getrandom, "getrandom", observe, handlers::getrandom, "a deterministic run gives the bytes"},
    SyscallRow{__NR_memfd_create, "memfd_create", observe, handlers::memfd_create, kWritten},
    SyscallRow{__NR_execveat, "execveat", emulate, handlers::execveat, "the next program runs in the engine, too"},
    SyscallRow{__NR_userfaultfd, "userfaultfd", observe, handlers::userfaultfd,
               "the program may fill pages of code by it"},
    SyscallRow{__NR_preadv2, "preadv2", observe, handlers::readv,
               "a deterministic run gives the bytes of the random devices"},
    SyscallRow{__NR_pkey_mprotect, "pkey_mprotect", observe, handlers::mprotect,
               "the engine keeps a map of executable memory"},
    SyscallRow{__NR_statx, "statx", emulate, handlers::statx, "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_rseq, "rseq", refuse, handlers::not_implemented,
               "the kernel's abort would jump to untranslated code"},
    SyscallRow{__NR_io_uring_setup, "io_uring_setup", observe, handlers::io_uring_setup,
               "a deterministic run has none: it moves bytes past the engine"},
    SyscallRow{__NR_io_uring_enter, "io_uring_enter", observe, handlers::io_uring_enter,
               "the engine's descriptors stay open"},
    SyscallRow{__NR_clone3, "clone3", emulate, handlers::clone3, "a new thread needs a %gs block and an engine stack"},
    SyscallRow{__NR_close_range, "close_range", observe, handlers::close_range, "the engine's descriptors stay open"},
    SyscallRow{__NR_openat2, "openat2", emulate, handlers::openat2,
               "/proc/self/exe and maps show the program, not the engine"},
    SyscallRow{__NR_faccessat2, "faccessat2", emulate, handlers::path_in_second_argument,
               "/proc/self/exe is the program, not the engine"},
    SyscallRow{__NR_process_madvise, "process_madvise", observe, handlers::process_madvise,
               "an advice may discard code"},
    SyscallRow{__NR_epoll_pwait2, "epoll_pwait2", emulate, handlers::epoll_pwait,
               "its mask stays in force until the signal is delivered"},
};

static_assert(std::ranges::is_sorted(kRows, {}, &SyscallRow::number));
// A call that the kernel does as asked needs no row; every other row says why it exists.
static_assert(std::ranges::none_of(kRows,
                                   [](const SyscallRow& row) { return row.treatment == pass || row.note.empty(); }));

long pass_through(Call& call) {
    return call.pass_to_kernel();
}

/// By number: the rows above; every other call is passed through. A number between two calls has no name.
constexpr auto kTable = [] {
    std::array<SyscallRow, kKnownSyscalls.back().number + 1> table{};
    for (std::size_t number = 0; number < table.size(); ++number)
        table[number] = {static_cast<std::uint16_t>(number), "", pass, pass_through, ""};
    for (const KnownSyscall& call : kKnownSyscalls) table[call.number].name = call.name;
    for (const SyscallRow& row : kRows) table[row.number] = row;
    return table;
}();

constexpr bool has_row(const KnownSyscall& call) {
    const SyscallRow& row = kTable[call.number];
    return row.number == call.number && row.name == call.name && row.handle != nullptr;
}
static_assert(std::ranges::all_of(kKnownSyscalls, has_row));
// No row has a name that is not a call's.
static_assert(std::ranges::count(kTable, std::string_view{}, &SyscallRow::name) ==
              static_cast<std::ptrdiff_t>(kTable.size() - kKnownSyscalls.size()));

/// Marks the thread as being in the kernel, so that a safepoint request need not interrupt a call that waits.
///
/// Two threads write one word each and read the other's. At the end of the call the thread clears `in_kernel`, then
/// reads `safepoint_requested`; the requester sets `safepoint_requested`, then reads `in_kernel`
/// (RunHost::request_safepoint), and sends a signal if that is zero. These four accesses are sequentially consistent,
/// so at least one side sees the other: no request is lost.
class InKernel {
  public:
    explicit InKernel(Thread& thread) : thread_(thread) {
        __atomic_store_n(&thread_.page.in_kernel, 1, __ATOMIC_RELAXED);
    }
    ~InKernel() {
        __atomic_store_n(&thread_.page.in_kernel, 0, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&thread_.page.safepoint_requested, __ATOMIC_SEQ_CST) != 0) thread_.pending = 1;
    }
    InKernel(const InKernel&) = delete;
    InKernel& operator=(const InKernel&) = delete;

  private:
    Thread& thread_;
};

long run_row(Call& call) {
    const InKernel in_kernel{call.thread};  // also while a handler runs that makes no call that waits
    if (uses_hidden_descriptor(call)) return -EBADF;
    const long answer = run_engine_row(call);
    hooks::after_engine_syscall(call, answer);
    return answer;
}

/// A call of a thread that takes turns.
long run_in_turns(Call& call) {
    turn_calls::IdTranslation ids{call};
    long answer = 0;
    if (!turn_calls::before_call(call, answer) && !hooks::handle_syscall(call, answer)) answer = run_row(call);
    turns::come_back(call.thread);
    turn_calls::after_call(call, answer);
    if (turns::is_asked_to_share(call.thread)) turns::share_turn(call.thread);
    answer = ids.answer_of(answer);
    if (log_wants(call.engine, run::log::kSchedule)) [[unlikely]]
        turn_calls::log_call(call, syscall_name(call.number), answer);
    return answer;
}

long answer_call(Call& call) {
    long answer = 0;
    if (turns::on(call.engine)) [[unlikely]]
        return run_in_turns(call);
    return hooks::handle_syscall(call, answer) ? answer : run_row(call);
}

long answer_in_deterministic_run(Call& call) {
    if (has_many_messages(call.number)) return answer_messages(call, answer_in_deterministic_run);
    forget_closed_descriptors(call.engine.descriptor_kinds, call.number, call.argument);
    forget_closed_directories(call.engine, call.number, call.argument);
    FileCall files{call};
    ObjectCall objects{call};
    PortCall ports{call};
    const long answer = objects.finish(ports.finish(answer_call(call)));
    files.finish(answer);
    return answer;
}

/// Makes the call, and reports it to the agent and the log.
long make_call(Call& call) {
    run::ThreadPage& page = call.thread.page;
    if (page.traced != 0) [[unlikely]]
        hooks::before_syscall(call);
    const long answer = has_virtual_clock(call.engine) ? answer_in_deterministic_run(call) : answer_call(call);
    if (log_wants(call.engine, run::log::kSyscalls)) [[unlikely]]
        log_syscall(call, syscall_name(call.number), answer);
    // An alarm that interrupted a wait is handled after the call. With kRestartSyscall the call is made again first,
    // and its wait is not disturbed a second time.
    if (call.thread.alarmed && answer != kRestartSyscall) call.thread.pending = 1;
    if (page.traced != 0 || page.safepoint_requested != 0) [[unlikely]]
        hooks::after_syscall(call, answer);
    if (call.engine.writes_memory_file) [[unlikely]]
        follow_memory_writes(call, answer);
    if (has_written_files(call.engine)) [[unlikely]]
        follow_written_files(call.engine);
    return answer;
}

}  // namespace

// A number beyond the table belongs to a newer kernel and is passed through.
//
// On EFAULT the handler may run a second time: a page that the application may write can be write-protected by the
// engine, and the kernel reports that as a bad address. So a handler that returns EFAULT must be safe to run again.
//
// A handler may point an argument into its own stack frame, so afterwards the arguments are the application's again.
long run_engine_row(Call& call) {
    const auto run = [&] {
        const auto arguments = std::to_array(call.argument);
        long answer = 0;
        if (!turns::on(call.engine) || !turn_calls::answer_call(call, answer))
            answer = call.number < kTable.size() ? kTable[call.number].handle(call) : call.pass_to_kernel();
        std::ranges::copy(arguments, call.argument);
        return answer;
    };
    const long answer = run();
    return answer == -EFAULT && unprotect_all_code(call.engine) ? run() : answer;
}

std::string_view syscall_name(std::uint64_t number) {
    return number < kTable.size() ? kTable[number].name : std::string_view{};
}

long run_syscall(Call& call) {
    long answer = 0;
    const bool stops = is_traced(call.thread, run::trace::kAtCalls);
    const bool is_cancelled = stops && stop_before_call(call.thread, call.number, call.argument, answer);
    if (!is_cancelled) answer = make_call(call);
    if (is_traced(call.thread, run::trace::kInCall | run::trace::kDebugChanged)) [[unlikely]] {
        follow_debug_registers(call.thread);
        answer = stop_after_call(call.thread, call.number, answer);
    }
    return answer;
}

}  // namespace anyperf::engine
