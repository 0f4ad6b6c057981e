// run_state.h: the memory that one run shares: all processes of its tree, and the broker that started it. It is a
// sparse memfd: how much is used, then process records, thread records, thread pages and the counts of each thread
// page's thread, each an array of fixed size. Only what is used takes memory. What the broker alone writes is in a file
// of its own (facts.h).
//
// Everything here may be read while another process writes it, and the writer may be killed between any two
// instructions. So a record is valid when its `state` says so, and counters are valid at any moment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/kept_limits.h"
#include "run/live_counters.h"
#include "run/tuple_counts.h"
#include "run/turns.h"

namespace anyperf::run {

inline constexpr std::uint32_t kRunStateVersion = 11;
/// prctl(2) option by which a program learns that it runs inside a run: the answer is kRunStateVersion. The kernel
/// answers EINVAL.
inline constexpr std::uint32_t kRunVersionPrctl = 0x6e755270;
inline constexpr std::uint32_t kMaximumProcesses = 1u << 18;  ///< records are not reused
inline constexpr std::uint32_t kMaximumThreads = 1u << 18;
inline constexpr std::uint32_t kMaximumThreadPages = 1u << 15;

/// si_code of the SIGTRAP that requests a safepoint of a running thread (ThreadPage::safepoint_requested). No kernel
/// sends this code.
inline constexpr std::int32_t kSafepointSignalCode = -7321;

/// si_code of a signal that an event sends to a thread of another process. The kernel does not let a process send its
/// own codes (POLL_IN and the like) to others, so the real code travels in si_errno and the engine of the receiver puts
/// it back.
inline constexpr std::int32_t kOtherProcessCode = -7322;

/// sigev_value (timer_create(2)) of the timer with which the agent samples clocks in a thread.
inline constexpr std::uint64_t kAlarmValue = 0x616e797065726621;

/// si_code TRAP_PERF: the SIGTRAP of an event with attr.sigtrap; no instruction has faulted.
inline constexpr std::int32_t kTrapPerf = 6;

/// attr.sig_data of the kernel's event with which the agent learns of page faults (agent/faults/fault_traps.h). The
/// kernel passes it on as si_perf_data.
inline constexpr std::uint64_t kFaultTrapData = 0x616e797065726622;

/// Of a process record, a thread record or a thread page. A page is `ended` while another thread saves the counts of
/// its thread, which was killed.
enum class RecordState : std::uint32_t { free, live, ended };

/// A process, or one that has ended. A process keeps its record over execve.
struct ProcessRecord {
    RecordState state;
    std::int32_t pid;
    std::int32_t parent;
    std::int32_t exit_status;  ///< as wait(2) gives it; -1 while unknown
    char comm[16];
    KeptLimits limits;                     ///< enforced by the engine (syscalls/limits.cpp)
    std::uint64_t own_faults;              ///< page faults of its engine (engine/threads/own_faults.h)
    std::uint64_t own_faults_of_children;  ///< the same of its children that it has waited for, and of theirs
    std::uint64_t cpu_units;               ///< CPU time of its threads that have ended (engine/time/virtual_clock.h)
    std::uint64_t cpu_units_of_children;   ///< the same of its children that it has waited for, and of theirs
    char exe[408];                         ///< what /proc/PID/exe is to show
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
    std::int32_t tid;      ///< 0: the thread is about to be made
    std::uint32_t record;  ///< the ThreadRecord that took over its counts; once that one is `ended`, it is valid and
                           ///< this page is not
    char comm[16];
    std::int32_t pid;  ///< 0: the thread is a process of its own that has not begun yet, so that `tid` is its id
    std::int32_t cpu;  ///< the CPU that it was last seen on; what it does counts for that one
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
    std::uint64_t own_switches;     ///< context switches of the thread while it waited for the broker: the engine's
    std::uint64_t switches_read;    ///< set by the broker: the most that it has read as the program's own
    std::uint64_t migrations;       ///< set by the broker: migrations to another CPU, as it last read them
    std::uint32_t waits_for_child;  ///< nonzero: it waits until a child of its process changes state, in a
                                    ///< deterministic run
    std::uint64_t pid_namespace;    ///< inode of the pid namespace that pid and tid belong to; 0: unknown

    /// The id of the thread's process.
    std::int32_t process_id() const { return pid != 0 ? pid : tid; }

    /// Takes a free page for the caller. False: it is not free.
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
    /// Fills the page for a thread that is about to be made; `tid` stays 0 until it exists. `in_kernel` is set: until
    /// the thread first leaves the engine no signal need interrupt it.
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
        process = of_process;
        pid = of_pid;
        cpu = 0;
        pid_namespace = of_namespace;
    }
};
static_assert(sizeof(ThreadPage) == 4096);

/// The start of the memory: how much of each array is used.
struct RunUse {
    std::uint32_t processes;     ///< process records handed out
    std::uint32_t threads;       ///< thread records handed out
    std::uint32_t thread_pages;  ///< pages ever used: where the search for a free one ends
    std::uint32_t exact_units;   ///< units ever used (exact_counts.h)
    std::uint32_t probe_list;    ///< 1: uprobe_events was opened for writing, so each write looks for it
    std::uint64_t clock;         ///< of a deterministic run (engine/time/virtual_clock.h)
};

/// Where each array starts in the memfd, in bytes; each begins on a page. The agent's memory follows kRunStateBytes.
inline constexpr std::size_t kUseBytes = std::size_t{1} << 20;
inline constexpr std::size_t kProcessesOffset = kUseBytes;
inline constexpr std::size_t kThreadsOffset = kProcessesOffset + sizeof(ProcessRecord) * kMaximumProcesses;
inline constexpr std::size_t kThreadPagesOffset = kThreadsOffset + sizeof(ThreadRecord) * kMaximumThreads;
inline constexpr std::size_t kTupleCountsOffset = kThreadPagesOffset + sizeof(ThreadPage) * kMaximumThreadPages;
inline constexpr std::size_t kRunStateBytes = kTupleCountsOffset + sizeof(TupleCounts) * kMaximumThreadPages;
/// What an engine maps; of the rest, each of its threads maps its own TupleCounts.
inline constexpr std::size_t kMappedRunStateBytes = kTupleCountsOffset;
static_assert(sizeof(RunUse) <= kTurnsOffset && kTurnsOffset + sizeof(Turns) <= kUseBytes);
static_assert(kThreadsOffset % 4096 == 0 && kThreadPagesOffset % 4096 == 0 && kTupleCountsOffset % 4096 == 0);

}  // namespace anyperf::run
