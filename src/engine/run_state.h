// run_state.h: the memory that one run shares: between the processes of its tree, and with who started it. Starts with
// a header, then process records, thread records and thread pages, each an array of fixed size; a memfd, sparse, so
// that only what is used is there. Everything in it may be read while it is written, by a process that may die at any
// point: a record counts when its `state` says so, and counters are read as they stand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

inline constexpr std::size_t kCounters = 16;  ///< room for the rows of classes.h
inline constexpr std::uint32_t kRunStateVersion = 7;
/// prctl(2) of this option tells a program of a run the version of its memory; the kernel answers EINVAL.
inline constexpr std::uint32_t kInsideRun = 0x6e755270;
inline constexpr std::uint32_t kMaximumProcesses = 1u << 18;  ///< process ids are reused at this pace at the earliest
inline constexpr std::uint32_t kMaximumThreads = 1u << 18;
inline constexpr std::uint32_t kMaximumThreadPages = 1u << 15;

/// A block adds to one lane, the next one to another: an addition to memory has to wait for the one before it to the
/// same word, some eight cycles, and a block is often done in two.
inline constexpr std::size_t kLanes = 4;

/// A word of a lane holds two counters, so that one addition counts for both: the upper one from bit 24 on, the lower
/// one below it. Neither runs over: an instruction adds at most one to each, and a lane is emptied before so many
/// instructions have retired in it that the lower one would be full.
inline constexpr unsigned kUpperCounter = 24;
inline constexpr std::int64_t kLaneGrant = (std::int64_t{1} << kUpperCounter) - 65536;

/// Where a class is counted in a lane, by its row in classes.h. Those that are most often counted together share.
struct CounterPlace {
    std::uint8_t word;
    bool upper;
};
inline constexpr CounterPlace kCounterPlaces[kCounters] = {
    {0, true},   // instructions: the budget, which counts down
    {1, true},   // branches
    {2, true},   // conditional
    {2, false},  // taken
    {3, true},   // calls
    {3, false},  // returns
    {4, true},   // indirect
    {4, false},  // far
    {0, false},  // loads
    {1, false},  // stores
    {5, true},   // floating-point
    {5, false},  // vector
    {6, true},   // syscalls
    {6, false}, {7, true}, {7, false},
};

/// A budget that does not run out.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;

/// What a thread has done. The engine's translated code adds to it in place.
struct LiveCounters {
    static constexpr std::size_t kWords = 8;
    struct Lane {
        std::int64_t word[kWords];

        /// Instructions left of what the lane was granted.
        std::int64_t budget() const { return __atomic_load_n(&word[0], __ATOMIC_RELAXED) >> kUpperCounter; }
        std::uint64_t count(std::size_t row) const {
            constexpr std::int64_t kLower = (std::int64_t{1} << kUpperCounter) - 1;
            const std::int64_t both = __atomic_load_n(&word[kCounterPlaces[row].word], __ATOMIC_RELAXED);
            return static_cast<std::uint64_t>(kCounterPlaces[row].upper ? both >> kUpperCounter : both & kLower);
        }
    };

    std::int64_t granted;  ///< what was granted less what is left has retired
    std::int64_t reserve;  ///< instructions that were granted, but to no lane
    std::uint64_t
        count_of_class[kCounters];  ///< by Class, modulo 2^64, without the lanes; `instructions` is not kept here
    std::uint32_t sequence;         ///< odd while what is counted is moved
    std::int32_t given[kLanes];     ///< what each lane was left with, and what it took before that nobody has noted
    std::int32_t used[kLanes];      ///< what each took lately: its share of what is left next
    alignas(64) Lane lane[kLanes];

    /// What `of` makes of them, without a loop: this is done at each sample.
    template <class Of>
    auto each_lane(Of of) const {
        static_assert(kLanes == 4);
        return of(lane[0], lane[1], lane[2], lane[3]);
    }

    std::int64_t left() const {
        return __atomic_load_n(&reserve, __ATOMIC_RELAXED) +
               each_lane([](const auto&... one) { return (one.budget() + ...); });
    }

    /// Instructions that have retired; from outside of the thread right to the block.
    std::uint64_t retired() const {
        return unmoved(
            [this] { return static_cast<std::uint64_t>(__atomic_load_n(&granted, __ATOMIC_RELAXED) - left()); });
    }

    /// Of a class other than instructions.
    std::uint64_t count(std::size_t row) const {
        return unmoved(
            [this, row] { return __atomic_load_n(&count_of_class[row], __ATOMIC_RELAXED) + sum_of_lanes(row); });
    }

    /// All of them at one moment.
    LiveCounters seen() const {
        LiveCounters all = unmoved([this] { return *this; });
        all.sequence = 0;
        return all;
    }

    // What follows is for the thread itself.

    /// Adds to what was counted, or takes back.
    void add(std::size_t row, std::int64_t amount) {
        __atomic_store_n(&count_of_class[row], count_of_class[row] + static_cast<std::uint64_t>(amount),
                         __ATOMIC_RELAXED);
    }
    /// An instruction that was counted has not retired.
    void give_back() { add_to_budget(lane[0], 1); }
    /// An instruction has retired that nobody counted.
    void take_one() {
        Lane* most = lane;
        for (Lane& one : lane)
            if (one.budget() > most->budget()) most = &one;
        add_to_budget(*most, -1);
    }

    /// So many more are granted, or (below 0) fewer, but not less than none. Who comes to a block of a lane that has
    /// too few asks for its part. Precondition: between begin_moving and end_moving, or nobody looks.
    void grant(std::int64_t more) {
        const std::int64_t all = left() + more;
        __atomic_store_n(&granted, granted + more, __ATOMIC_RELAXED);
        if (reserve + more >= 0) {
            __atomic_store_n(&reserve, reserve + more, __ATOMIC_RELAXED);
            return;
        }
        note_use();
        empty_lanes();
        constexpr std::int64_t kNothing[kLanes] = {};
        give(kNothing, all);
    }
    /// `instructions` are left, of which lane `favoured` has at least `needed`, if there are so many. The others share
    /// as they took lately: a loop is mostly of one lane or two, and each time that one runs out costs more than a
    /// hundred of its instructions. So what took nothing gets nothing of a short grant.
    /// Precondition: between begin_moving and end_moving, or nobody looks.
    void leave(std::int64_t instructions, std::size_t favoured, std::int64_t needed) {
        note_use();
        empty_lanes();
        std::int64_t budget[kLanes] = {};
        if (instructions > needed) share(instructions, favoured, needed, budget);
        std::int64_t rest = instructions;
        for (const std::int64_t one : budget) rest -= one;
        const std::int64_t room = kLaneGrant - budget[favoured];
        budget[favoured] += rest < room ? rest : room;
        give(budget, rest < room ? 0 : rest - room);
    }
    void begin_moving() { __atomic_store_n(&sequence, sequence + 1, __ATOMIC_SEQ_CST); }
    void end_moving() { __atomic_store_n(&sequence, sequence + 1, __ATOMIC_SEQ_CST); }

  private:
    static constexpr unsigned kTries = 1000;  // who was killed while moving leaves it odd

    template <class Read>
    auto unmoved(Read read) const -> decltype(read()) {
        decltype(read()) value{};
        for (unsigned tries = 0; tries < kTries; ++tries) {
            const std::uint32_t before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);
            value = read();
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (before % 2 == 0 && before == __atomic_load_n(&sequence, __ATOMIC_RELAXED)) break;
        }
        return value;
    }
    static void add_to_budget(Lane& lane, std::int64_t instructions) {
        __atomic_store_n(&lane.word[0], lane.word[0] + instructions * (std::int64_t{1} << kUpperCounter),
                         __ATOMIC_RELAXED);
    }
    /// Once enough has retired to tell a loop by; until then what each lane took stays in `given`, as if given before.
    void note_use() {
        constexpr std::int64_t kTelling = 256;
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < kLanes; ++i) {
            const std::int64_t left_of_it = lane[i].budget();
            given[i] = left_of_it < given[i] ? static_cast<std::int32_t>(given[i] - left_of_it) : 0;
            sum += given[i];
        }
        if (sum < kTelling) return;
        for (std::size_t i = 0; i < kLanes; ++i) {
            used[i] = given[i];
            given[i] = 0;
        }
    }
    /// Parts of `instructions`, which are more than `needed`, by what the lanes took; `favoured` gets as many as that
    /// at least. One division for all.
    void share(std::int64_t instructions, std::size_t favoured, std::int64_t needed, std::int64_t* budget) const {
        constexpr auto kAll = static_cast<std::int64_t>(kLanes);
        constexpr unsigned kFraction = 20;  // bits, of 2^26 instructions at most
        const std::int64_t all = instructions < kAll * kLaneGrant ? instructions : kAll * kLaneGrant;
        const std::int64_t to_each = all >> 14;  // of a long grant everybody gets something
        std::int64_t weights = 0;
        for (const std::int32_t one : used) weights += one;
        const std::int64_t alike = weights == 0 ? 1 : 0;
        weights += alike * kAll;
        std::int64_t pool = all - to_each * kAll;
        const bool raised = pool * (used[favoured] + alike) < needed * weights;
        if (raised) {
            pool -= needed;
            weights -= used[favoured] + alike;
        }
        const auto ratio = (static_cast<std::uint64_t>(pool) << kFraction) / static_cast<std::uint64_t>(weights);
        for (std::size_t i = 0; i < kLanes; ++i) {
            const auto by_use = ratio * static_cast<std::uint64_t>(used[i] + alike) >> kFraction;
            const std::int64_t part = to_each + (raised && i == favoured ? needed : static_cast<std::int64_t>(by_use));
            budget[i] = part < kLaneGrant ? part : kLaneGrant;
        }
    }
    void give(const std::int64_t* budget, std::int64_t to_nobody) {
        for (std::size_t i = 0; i < kLanes; ++i) {
            given[i] += static_cast<std::int32_t>(budget[i]);
            __atomic_store_n(&lane[i].word[0], budget[i] * (std::int64_t{1} << kUpperCounter), __ATOMIC_RELAXED);
        }
        __atomic_store_n(&reserve, to_nobody, __ATOMIC_RELAXED);
    }
    /// The row that is counted in a half of a word; 0 where none is, or the budget.
    static constexpr std::size_t row_of(std::size_t word, bool upper) {
        for (std::size_t row = 1; row < kCounters; ++row)
            if (kCounterPlaces[row].word == word && kCounterPlaces[row].upper == upper) return row;
        return 0;
    }
    /// What the lanes have counted, all but the budgets.
    void empty_lanes() {
        static constexpr auto kRows = [] {
            struct {
                std::size_t row[kWords][2];
            } rows{};
            for (std::size_t i = 0; i < kWords; ++i)
                for (std::size_t half = 0; half < 2; ++half) rows.row[i][half] = row_of(i, half == 1);
            return rows;
        }();
        for (std::size_t i = 0; i < kWords; ++i) {
            if (each_lane([i](const auto&... one) { return (one.word[i] | ...); }) == 0) continue;  // as most, mostly
            for (const std::size_t row : kRows.row[i])
                if (row != 0) add(row, static_cast<std::int64_t>(sum_of_lanes(row)));
            if (i == 0) continue;
            for (Lane& one : lane) __atomic_store_n(&one.word[i], 0, __ATOMIC_RELAXED);
        }
    }
    std::uint64_t sum_of_lanes(std::size_t row) const {
        return each_lane([row](const auto&... one) { return (one.count(row) + ...); });
    }
};

/// si_code of the SIGTRAP that makes a running thread look at ThreadPage::attention: none that a kernel sends.
inline constexpr std::int32_t kAttentionCode = -7321;

/// si_code of a signal that an event sends to another process, which may not be told of the kernel's own reasons: there
/// the engine puts back the code that it should have, which stands in si_errno.
inline constexpr std::int32_t kOtherProcessCode = -7322;

/// What the timer of a thread says (timer_create(2), sigev_value) that wakes who is attached.
inline constexpr std::uint64_t kAlarmValue = 0x616e797065726621;

/// si_code TRAP_PERF: a SIGTRAP that an event has asked for; no instruction has faulted.
inline constexpr std::int32_t kTrapPerf = 6;

/// A page is `ended` while somebody else keeps the counts of a thread that was killed.
enum class RecordState : std::uint32_t { free, live, ended };

/// Of RLIMIT_AS, in bytes.
struct AddressSpaceLimit {
    std::uint64_t soft;
    std::uint64_t hard;
};

/// One a process id: a process keeps it over execve.
struct ProcessRecord {
    RecordState state;
    std::int32_t pid;
    std::int32_t parent;
    std::int32_t exit_status;  ///< as wait(2) gives it; -1 while unknown
    char comm[16];
    std::uint64_t limited;            ///< nonzero: the program has set
    AddressSpaceLimit address_space;  ///< this (syscalls/limits.cpp)
    char exe[456];
};
static_assert(sizeof(ProcessRecord) == 512);

/// A thread that has ended.
struct ThreadRecord {
    RecordState state;
    std::uint32_t process;
    std::int32_t tid;
    char comm[16];
    std::uint64_t count[kCounters];  ///< by Class, with instructions
};

/// A thread that runs, or was killed before it could end: a page each, at the start of its %gs block.
struct alignas(4096) ThreadPage {
    LiveCounters counters;
    RecordState state;
    std::uint32_t process;
    std::int32_t tid;      ///< 0: the thread is about to be made
    std::uint32_t record;  ///< where its counts went when it ended: if that record is ended, this page tells nothing
    char comm[16];
    std::int32_t pid;             ///< 0: a process of its own that has not begun yet, whose id `tid` is
    std::int32_t cpu;             ///< the CPU that it was last seen on; what it does counts for that one
    std::uint32_t attention;      ///< set by who changes what is to be counted: the thread looks before it goes on
    std::uint32_t in_kernel;      ///< the thread is in a system call and looks when it comes back: no signal is needed
    std::uint32_t first_armed;    ///< head of the list of what it looks for itself
    std::uint32_t watched;        ///< nonzero: `faults` is kept
    std::uint32_t traced;         ///< nonzero: what attached.h tells of system calls and processes is waited for
    std::uint64_t faults[2];      ///< page faults of the application's own code while watched: minor, major
    std::uint32_t counted;        ///< classes that events of this thread count, or are stopped by: a ClassSet
    std::uint32_t counts_faults;  ///< 1: some event counts faults
    std::uint64_t pids;           ///< inode of the pid namespace that pid and tid are of; 0: unknown

    std::int32_t process_id() const { return pid != 0 ? pid : tid; }

    /// Makes it the caller's where it is nobody's.
    bool claim() {
        auto expected = static_cast<std::uint32_t>(RecordState::free);
        return __atomic_compare_exchange_n(reinterpret_cast<std::uint32_t*>(&state), &expected,
                                           static_cast<std::uint32_t>(RecordState::live), false, __ATOMIC_ACQUIRE,
                                           __ATOMIC_RELAXED);
    }
    /// Nobody's from here on, and no thread's: who looks for that of one that has ended does not find the next one's.
    void release() {
        tid = pid = 0;
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(&state), static_cast<std::uint32_t>(RecordState::free),
                         __ATOMIC_RELEASE);
    }
    /// As a thread finds it that has just begun, but for `tid`, which is 0 until there is one. Until it comes out of
    /// the engine nobody interrupts it.
    void clean(std::uint32_t of_process, std::int32_t of_pid, std::uint64_t of_pids) {
        tid = 0;
        counters = {};
        counters.granted = kUnlimited;
        counters.leave(kUnlimited, 0, 0);
        record = attention = first_armed = watched = traced = 0;
        in_kernel = 1;
        counted = counts_faults = 0;
        faults[0] = faults[1] = 0;
        process = of_process;
        pid = of_pid;
        cpu = 0;
        pids = of_pids;
    }
};
static_assert(sizeof(ThreadPage) == 4096);

inline constexpr std::size_t kIdentityRows = 64;
inline constexpr std::uint32_t kFileParts = 2;  ///< of RunHeader::files_made

struct RunHeader {
    std::uint32_t magic;
    std::uint32_t version;
    std::uint32_t counting;       ///< classes to count, a ClassSet; 0: nothing is counted
    std::uint32_t deterministic;  ///< fixed addresses and AT_RANDOM
    std::uint32_t processes;      ///< records handed out
    std::uint32_t threads;
    std::uint32_t thread_pages;      ///< pages ever used: where the search for a free one ends
    std::uint32_t events_used;       ///< an event has been opened in this run: threads and processes are told of
    std::uint32_t wanted;            ///< kinds of what tasks do that somebody records (subsystem::Interest, a bit each)
    std::uint32_t samples_per_tick;  ///< clocks are throttled beyond these (subsystem::kTickNs)
    /// CPUID leaves that are answered otherwise than by the host: (the host's & keep) | value.
    struct IdentityRow {
        std::uint32_t leaf;
        std::uint32_t subleaf;  ///< ~0: any
        std::uint32_t keep[4];  ///< eax, ebx, ecx, edx
        std::uint32_t value[4];
    } identity[kIdentityRows];
    std::uint32_t identity_rows;  ///< 0: the CPU is the host's
    /// 1: the virtual machine's files are below files_root; 2: they can't be made. PMUs and settings; tracepoints.
    std::uint32_t files_made[kFileParts];
    std::uint32_t log_kinds;    ///< engine/log_kinds.h
    char log_path[512];         ///< where the log goes; empty: standard error of the program
    std::uint64_t cache_bytes;  ///< what translations of a process may take; 0: what its code is worth
    std::uint64_t probe_list;   ///< inode of uprobe_events, once that has been opened to be written; else 0
    char files_root[256];
    char engine_path[4096];
};

inline constexpr std::uint32_t kRunStateMagic = 0x52507941;  // "AyPR"

/// Where each array starts in the memfd, in bytes; each begins on a page.
inline constexpr std::size_t kHeaderBytes = 65536;
inline constexpr std::size_t kProcessesOffset = kHeaderBytes;
inline constexpr std::size_t kThreadsOffset = kProcessesOffset + sizeof(ProcessRecord) * kMaximumProcesses;
inline constexpr std::size_t kThreadPagesOffset = kThreadsOffset + sizeof(ThreadRecord) * kMaximumThreads;
inline constexpr std::size_t kRunStateBytes = kThreadPagesOffset + sizeof(ThreadPage) * kMaximumThreadPages;
static_assert(sizeof(RunHeader) <= kHeaderBytes);
static_assert(kThreadsOffset % 4096 == 0 && kThreadPagesOffset % 4096 == 0);

}  // namespace anyperf::engine
