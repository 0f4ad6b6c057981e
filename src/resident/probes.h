// probes.h: the places in files that events of a thread wait for (uprobes), where they are in this process. A place is
// in every private mapping of its file that can't be written to; code stops there (engine/watch.h). Mappings are looked
// at again whenever they may have changed.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;
using subsystem::Probe;
using subsystem::ProbeIndex;

/// One address that code stops at.
struct ProbedPlace {
    std::uint64_t address;
    ProbeIndex probe;
    bool watched;  ///< the engine has been told
    bool found;    ///< in the mappings, when they were last looked at
};

/// Of a process; its memory begins as zeros.
struct ProbedPlaces {
    static constexpr std::uint32_t kPlaces = 4096;

    engine::Lock lock;
    bool changed;                                      ///< mappings are to be looked at
    std::uint32_t users[subsystem::kMaximumProbes];    ///< threads with events there
    Probe known[subsystem::kMaximumProbes];            ///< as it was when it got its first user
    std::uint64_t counter[subsystem::kMaximumProbes];  ///< address of the counter that was raised; 0: none
    std::uint64_t mapped[subsystem::kMaximumProbes];   ///< where the counter is mapped, when that was last looked at
    std::uint32_t count;
    ProbedPlace place[kPlaces];  ///< by rising address
};

/// A call that has not returned yet, of a function whose returns are waited for.
struct AwaitedReturn {
    std::uint64_t slot;    ///< where the return address stands on the stack
    std::uint64_t target;  ///< the return address
    std::uint64_t place;   ///< the function
    ProbeIndex probe;
};

/// Of a thread, at Thread::probed; its memory begins as zeros.
struct ThreadProbes {
    static constexpr std::uint32_t kDepth = 64;  ///< MAX_URETPROBE_DEPTH: the kernel waits for no more, either

    std::uint64_t has[subsystem::kMaximumProbes / 64];  ///< events at these, a bit each
    std::uint32_t depth;
    AwaitedReturn awaited[kDepth];

    bool has_events_at(ProbeIndex probe) const { return (has[probe / 64] >> (probe % 64) & 1) != 0; }
};

inline ThreadProbes* probes_of(const Thread& thread) {
    return static_cast<ThreadProbes*>(thread.probed);
}

/// The thread's list of events may have changed.
void settle_probes(Thread& thread);

/// After a system call of the thread that has succeeded.
void look_at_mappings(const engine::Call& call, long answer);

/// In a fork's child, of which the engine watches nothing yet.
void forget_probed(Thread& thread);

/// The thread ends.
void drop_probed(Thread& thread);

}  // namespace anyperf::resident
