// run_state.h: the engine's part of the run memory, which the broker and all processes of a run share. It begins with
// RunUse (how much is used) and the turns. Four arrays of fixed size follow: process records, thread records, thread
// pages, and the TupleCounts of each thread page. The memfd is sparse, so only used elements take memory. What only the
// broker writes is in another memfd (facts.h).
//
// Everything here may be read while another process writes it, and the writer may be killed between any two
// instructions. So a record is valid only if its `state` says so, and counters are valid at any moment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/kept_limits.h"
#include "run/live_counters.h"
#include "run/tuple_counts.h"
#include "run/turns.h"

namespace anyperf::run {

inline constexpr std::uint32_t kRunStateVersion = 14;
/// prctl(2) option by which a program finds out that it runs inside a run: the engine returns kRunStateVersion, where
/// the kernel returns EINVAL.
inline constexpr std::uint32_t kRunVersionPrctl = 0x6e755270;
inline constexpr std::uint32_t kMaximumProcesses = 1u << 18;  ///< records are not reused
inline constexpr std::uint32_t kMaximumThreads = 1u << 18;
/// Their mailboxes and counts are most of what a broker maps, and a run should start within 2 GB of address space.
inline constexpr std::uint32_t kMaximumThreadPages = 28u << 10;

/// The programs of each user share a run memory of their own (docs/security.md). The numbers of thread pages are
/// divided among these memories, so that a number means one thread of the run: the memory of the user who started the
/// run has the first ones, and each further memory some of the rest.
inline constexpr std::uint32_t kMaximumUsers = 17;
inline constexpr std::uint32_t kPagesOfOtherUser = 512;
inline constexpr std::uint32_t kPagesOfFirstUser = kMaximumThreadPages - kPagesOfOtherUser * (kMaximumUsers - 1);
/// Pages that a memory has taken over from another one, at most (RunUse::moved_pages).
inline constexpr std::uint32_t kMaximumMovedPages = 256;

/// si_code of the SIGTRAP that requests a safepoint of a running thread (ThreadPage::safepoint_requested). No kernel
/// sends this code.
inline constexpr std::int32_t kSafepointSignalCode = -7321;

/// si_code of a signal that an event sends to a thread of another process, or that a thread sends on. Codes of the
/// kernel (POLL_IN and the like) are refused in signals to other processes (rt_sigqueueinfo(2)). So the real code is in
/// si_errno, and the engine of the receiver moves it to si_code.
inline constexpr std::int32_t kOtherProcessCode = -7322;

/// si_code of a signal that a thread sends to another one of its process by rt_tgsigqueueinfo(2), which looks like one
/// to the process otherwise. The real code is in si_errno.
inline constexpr std::int32_t kToThreadCode = -7323;

/// sigev_value (timer_create(2)) of the timer by which the agent samples clock events in a thread.
inline constexpr std::uint64_t kAlarmValue = 0x616e797065726621;

/// si_code TRAP_PERF: the SIGTRAP of an event with attr.sigtrap. The instruction at rip has not faulted.
inline constexpr std::int32_t kTrapPerf = 6;

/// attr.sig_data of the kernel's event that notifies the agent of page faults (agent/faults/fault_traps.h). The signal
/// has it as si_perf_data.
inline constexpr std::uint64_t kFaultTrapData = 0x616e797065726622;

/// Of a process record, a thread record or a thread page. A page is `ended` while another thread saves the counts of
/// its thread, which was killed. A process record is `moved` when its process has got another user's memory, and a
/// record there.
enum class RecordState : std::uint32_t { free, live, ended, moved };

/// A process, or one that has ended. A process keeps its record over execve.
struct ProcessRecord {
    RecordState state;
    std::int32_t pid;
    std::int32_t parent;
    std::int32_t exit_status;  ///< as wait(2) gives it; -1 while unknown
    char comm[16];
    KeptLimits limits;                     ///< enforced by the engine (syscalls/memory/limits.cpp)
    std::uint64_t own_faults;              ///< page faults of its engine (engine/threads/own_faults.h)
    std::uint64_t own_faults_of_children;  ///< sum over the children that it has waited for, and their children
    std::uint64_t cpu_units;               ///< CPU time of its threads that have ended (engine/time/virtual_clock.h)
    std::uint64_t cpu_units_of_children;   ///< sum over the children that it has waited for, and their children
    std::uint32_t pid_namespace;           ///< inode of the namespace that `pid` belongs to; 0: unknown
    std::uint32_t parent_namespace;        ///< that of the process that made it, where its id is `pid_for_parent`
    std::int32_t pid_for_parent;           ///< 0: unknown
    char exe[396];                         ///< the path that /proc/PID/exe shows
};
static_assert(sizeof(ProcessRecord) == 512);

/// The counts of a thread that has ended.
struct ThreadRecord {
    RecordState state;
    std::uint32_t process;
    std::int32_t tid;
    char comm[16];
    std::uint64_t count[kCounters];  ///< by Class, instructions included
};

/// A live thread, or one that was killed before it could end. The engine maps the page at the start of the thread's %gs
/// block, so that translated code charges its budget in place, and after it the TupleCounts of the same number; the
/// broker reads both and writes the fields that say what to count.
struct alignas(4096) ThreadPage {
    LiveCounters counters;
    RecordState state;
    std::uint32_t process;
    std::int32_t tid;      ///< 0: the thread does not exist yet
    std::uint32_t record;  ///< the ThreadRecord that took over its counts; once that one is `ended`, it is valid and
                           ///< this page is not
    char comm[16];
    std::int32_t pid;  ///< 0: the thread is the first of a new process that has not begun, so `tid` is also its pid
    std::int32_t cpu;  ///< the CPU that it was last seen on: events of that CPU count what it does
    std::uint32_t safepoint_requested;  ///< set by the broker after it changed what is to be counted: the thread
                                        ///< updates its active events before it goes on
    std::uint32_t in_kernel;  ///< the thread is in a system call and checks `safepoint_requested` when it returns: the
                              ///< broker need not send a signal
    std::uint32_t first_active_event;  ///< head of the list of events that the thread itself checks
    std::uint32_t faults_are_counted;  ///< nonzero: the thread keeps `faults` up to date; follows `counts_faults` at
                                       ///< each safepoint
    std::uint32_t traced;  ///< the occurrences (system calls, life of tasks) that some event of the thread wants, a bit
                           ///< each; 0: the engine need not call hooks::before_syscall and its like
    std::uint64_t faults[2];        ///< page faults of the application's own code, while they are counted: minor, major
    std::uint32_t counted;          ///< classes that events of this thread count or sample: a ClassSet
    std::uint32_t counts_faults;    ///< set by the broker: 1 if some event counts page faults
    std::uint64_t own_switches;     ///< context switches while the thread waited for the broker: not the program's
    std::uint64_t switches_read;    ///< set by the broker: the highest count of the program's switches that it has read
    std::uint64_t migrations;       ///< set by the broker: migrations to another CPU, as it last read them
    std::uint32_t waits_for_child;  ///< in a deterministic run, nonzero: it waits until a child of its process changes
                                    ///< state
    std::uint64_t pid_namespace;    ///< inode of the pid namespace that pid and tid belong to; 0: unknown
    /// Of a thread that takes turns: how often it has waited for something, and how often it has lost the turn to
    /// another thread while it could run. These are its context switches, voluntary and involuntary.
    std::uint64_t turn_switches[2];

    /// The id of the thread's process.
    std::int32_t process_id() const { return pid != 0 ? pid : tid; }

    /// Claims the page for the caller if it is free; returns whether it was.
    bool claim() {
        auto expected = static_cast<std::uint32_t>(RecordState::free);
        return __atomic_compare_exchange_n(reinterpret_cast<std::uint32_t*>(&state), &expected,
                                           static_cast<std::uint32_t>(RecordState::live), false, __ATOMIC_ACQUIRE,
                                           __ATOMIC_RELAXED);
    }
    /// Frees the page. It forgets the ids first: a lookup by the id of a thread that has ended must not match the
    /// page's next thread.
    void release() {
        tid = pid = 0;
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(&state), static_cast<std::uint32_t>(RecordState::free),
                         __ATOMIC_RELEASE);
    }
    /// Fills the page for a thread that does not exist yet; `tid` stays 0 until then. Sets `in_kernel`: the thread
    /// looks at the page before it first runs the program, so no signal is needed until then.
    void initialize(std::uint32_t of_process, std::int32_t of_pid, std::uint64_t of_namespace) {
        tid = 0;
        counters = {};
        counters.granted = kUnlimited;
        counters.distribute_budget(kUnlimited, 0, 0);
        record = safepoint_requested = first_active_event = faults_are_counted = traced = 0;
        in_kernel = 1;
        counted = counts_faults = waits_for_child = 0;
        faults[0] = faults[1] = 0;
        own_switches = switches_read = migrations = 0;
        turn_switches[0] = turn_switches[1] = 0;
        process = of_process;
        pid = of_pid;
        cpu = 0;
        pid_namespace = of_namespace;
    }
};
static_assert(sizeof(ThreadPage) == 4096);

/// The start of the run memory: how much of each array is used.
struct RunUse {
    std::uint32_t processes;     ///< process records handed out
    std::uint32_t threads;       ///< thread records handed out
    std::uint32_t thread_pages;  ///< where the search for a free page ends: those from here to `end_page` are unused
    std::uint32_t exact_units;   ///< units ever used (exact_counts.h)
    /// 1: uprobe_events, or `rdpmc`, was opened for writing, so each write looks for it.
    std::uint32_t probe_list;
    std::uint32_t rdpmc_file;
    std::uint64_t clock;                            ///< of a deterministic run (engine/time/virtual_clock.h)
    std::uint32_t first_page;                       ///< the first thread page of this memory
    std::uint32_t end_page;                         ///< after the last one
    std::uint32_t moved_count;                      ///< how many of `moved_pages` are set
    std::uint32_t moved_pages[kMaximumMovedPages];  ///< pages of other memories whose threads now have this memory
};

/// Calls `function` with the number of each thread page of this memory that may be in use.
template <class Function>
void for_each_used_page(const RunUse& use, const Function& function) {
    // Programs can write all these numbers, so none is used before it is checked.
    const std::uint32_t used = __atomic_load_n(&use.thread_pages, __ATOMIC_RELAXED);
    for (std::uint32_t number = use.first_page; number < used && number < kMaximumThreadPages; ++number)
        function(number);
    const std::uint32_t moved = __atomic_load_n(&use.moved_count, __ATOMIC_ACQUIRE);
    for (std::uint32_t i = 0; i < moved && i < kMaximumMovedPages; ++i)
        if (use.moved_pages[i] < kMaximumThreadPages) function(use.moved_pages[i]);
}

/// Where each array starts in the memfd, in bytes; each begins on a page. The agent's memory follows kRunStateBytes.
inline constexpr std::size_t kUseBytes = std::size_t{1} << 24;
inline constexpr std::size_t kProcessesOffset = kUseBytes;
inline constexpr std::size_t kThreadsOffset = kProcessesOffset + sizeof(ProcessRecord) * kMaximumProcesses;
inline constexpr std::size_t kThreadPagesOffset = kThreadsOffset + sizeof(ThreadRecord) * kMaximumThreads;
inline constexpr std::size_t kTupleCountsOffset = kThreadPagesOffset + sizeof(ThreadPage) * kMaximumThreadPages;
inline constexpr std::size_t kRunStateBytes = kTupleCountsOffset + sizeof(TupleCounts) * kMaximumThreadPages;
/// The bytes that an engine maps. Of the TupleCounts after them, each thread maps its own.
inline constexpr std::size_t kMappedRunStateBytes = kTupleCountsOffset;
static_assert(sizeof(RunUse) <= kTurnsOffset && kTurnsOffset + sizeof(Turns) <= kUseBytes);
static_assert(kThreadsOffset % 4096 == 0 && kThreadPagesOffset % 4096 == 0 && kTupleCountsOffset % 4096 == 0);

}  // namespace anyperf::run
