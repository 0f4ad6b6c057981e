// facts.h: the facts of a run, which its programs can trust: settings, paths, the presented CPU, and what the broker
// wants to be told. They are in a memfd that no program can write: the broker mapped it and then sealed it
// (F_SEAL_FUTURE_WRITE, fcntl(2)). The filters and probes of events follow the header (layout.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/machine.h"
#include "run/kept_limits.h"

namespace anyperf::run {

inline constexpr std::size_t kIdentityRows = 64;
inline constexpr std::size_t kHostLeaves = 40;
inline constexpr std::uint32_t kFileParts = 2;  ///< rows of RunHeader::files_made

/// Values of RunHeader::checks.
inline constexpr std::uint32_t kChecksAlways = 1;
inline constexpr std::uint32_t kChecksNever = 2;

/// Values of RunHeader::pages.
inline constexpr std::uint32_t kPagesLookedUp = 1;
inline constexpr std::uint32_t kPagesByLines = 2;
inline constexpr std::uint32_t kPagesInTurns = 3;

/// Values of RunHeader::rdpmc, as in Documentation/ABI/testing/sysfs-bus-event_source-devices-rdpmc of Linux.
inline constexpr std::uint32_t kRdpmcNever = 0;
inline constexpr std::uint32_t kRdpmcIfMapped = 1;  ///< the default
inline constexpr std::uint32_t kRdpmcAlways = 2;

/// The settings of the run.
struct RunHeader {
    std::uint32_t magic;
    std::uint32_t version;
    std::uint32_t counting;          ///< classes to count, as a ClassSet; 0: nothing is counted
    std::uint32_t deterministic;     ///< 1: fixed addresses, random bytes by `seed`, one CPU number
    std::uint32_t turns;             ///< 1: one thread of the run at a time (run/turns.h)
    std::uint32_t events_used;       ///< 1: an event has been opened in this run, so programs report new tasks
    std::uint32_t wanted_side_band;  ///< side-band records that some event wants (subsystem::Interest, a bit each)
    std::uint32_t samples_per_tick;  ///< a clock event with more samples than this is throttled (subsystem::kTickNs)
    /// CPUID leaves whose answer differs from the host's: (host & keep) | value.
    struct IdentityRow {
        std::uint32_t leaf;
        std::uint32_t subleaf;  ///< ~0: any
        std::uint32_t keep[4];  ///< eax, ebx, ecx, edx
        std::uint32_t value[4];
    } identity[kIdentityRows];
    std::uint32_t identity_rows;      ///< 0: CPUID is the host's
    std::uint32_t identity_complete;  ///< 1: leaves without a row are zero
    std::uint32_t cpu_level;          ///< N of x86-64-vN, whose instructions the program has; 0: the host's
    std::uint32_t cpus;               ///< how many CPUs programs see; 0: the host's
    std::uint64_t xcr0;               ///< vector state that programs see (XGETBV); 0: the host's
    /// Leaves of the host's CPUID that are the same on all of its CPUs: in a virtual machine the instruction takes
    /// microseconds, and the C library executes it some fifty times in each program.
    struct HostLeaf {
        std::uint32_t leaf;
        std::uint32_t subleaf;  ///< ~0: any
        std::uint32_t eax, ebx, ecx, edx;
    } host_leaves[kHostLeaves];
    std::uint32_t host_leaf_count;
    /// The files of the virtual PMU below files_root: 0 not made yet, 1 made, 2 cannot be made. Row 0: PMUs and
    /// settings; row 1: tracepoints.
    std::uint32_t files_made[kFileParts];
    std::uint32_t exact;  ///< 1: each instruction is counted by its address (run/exact_counts.h)
    /// 1: the call chains of samples are the calls that have not returned; 0: they are found by frame pointers.
    std::uint32_t exact_callers;
    std::uint32_t python_frames;  ///< 1: these chains also have the functions of Python programs
    std::uint32_t log_kinds;      ///< run/log_kinds.h
    char log_path[512];           ///< the log file; empty: the program's standard error
    /// Identifies the log file, which the broker has made, so that programs write to no other. 0: not a regular file.
    std::uint64_t log_device;
    std::uint64_t log_inode;
    std::uint64_t seed;            ///< of all random bytes of a deterministic run (engine/random_stream.h)
    std::uint64_t order;           ///< of the turns: each number has its own order
    std::uint32_t has_priorities;  ///< 1: some threads come last for a while (`--schedules`)
    std::uint64_t epoch_ns;        ///< the time of day at which a deterministic run begins, since 1970
    std::uint64_t
        cache_bytes;  ///< limit for the translations of a process; 0: by the size of its code (Cache::is_full)
    std::uint32_t separate_writes;  ///< 1: code is not writable where it is executed (engine/cache/code_memory.h)
    /// From how many translated blocks on a process pairs its returns with the host's, and one more; 0: the engine
    /// decides (Cache::pair_returns_from).
    std::uint32_t pair_returns;
    std::uint32_t checks;  ///< whether code compares accesses before it records them (kChecksAlways, kChecksNever);
                           ///< 0: if that is faster
    std::uint32_t pages;   ///< how the models find out when a page was used last (kPagesLookedUp and so on;
                           ///< engine/modelling/page_choice.h); 0: as is faster
    std::uint64_t tuple_limit;   ///< tuples that get words in a process (run/tuple_counts.h); 0: as many as fit
    std::uint64_t files_device;  ///< st_dev of the files below files_root
    std::uint64_t probe_list;    ///< inode of uprobe_events; 0: it has not been made
    std::uint64_t rdpmc_file;    ///< inode of the PMU's `rdpmc`; 0: it has not been made
    std::uint32_t rdpmc;         ///< what `rdpmc` says: threads may read no counter, those of mapped events, or any
    KeptLimits limits;        ///< limits that were set before the run: the engine enforces them, the kernel no longer
    models::Machine machine;  ///< the modelled caches, TLBs and branch predictors
    char files_root[256];     ///< directory with the virtual PMU's files
    char engine_path[4096];   ///< the engine's executable, for execve
    char store_path[4096];    ///< directory of stored translations (engine/store); empty: they are not stored
    std::uint32_t cpu_signature;  ///< vendor, family, model and stepping, for the keys of the store
    /// After how many executions a block may become the head of a trace (engine/traces.h), and one more; 0: the engine
    /// decides; ~0: never.
    std::uint32_t traces_from;
    std::uint32_t programs_switch;  ///< 1: prctl(2) of a program switches the events of the run's host, too
};

inline constexpr std::uint32_t kRunStateMagic = 0x52507941;  // "AyPR"
inline constexpr std::size_t kHeaderBytes = 65536;
static_assert(sizeof(RunHeader) <= kHeaderBytes);

}  // namespace anyperf::run
