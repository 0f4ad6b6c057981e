// probes.h: uprobes in one process. A probe is an offset in a file (subsystem/shared/probe.h); its places are the
// addresses at which private mappings of that file that are not writable have the offset. The engine stops every thread
// of the process before the instruction at a place (engine/instrumentation/instrumentation.h). Which threads have
// events there is counted, so that a probe without users costs nothing.
//
// Places are found in /proc/self/maps, which is read again whenever a system call may have changed the mappings, and
// when a probe gets its first user or loses its last one.
//
// A probe may have a reference counter (the kernel's ref_ctr_offset; a USDT semaphore): 16 bits in the program's data
// that are 1 higher while the probe has users. The agent raises and lowers it once in a process.
#pragma once

#include "agent/agent_state.h"
#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Thread;
using subsystem::Probe;
using subsystem::ProbeIndex;

/// One address at which a probe is.
struct ProbedPlace {
    std::uint64_t address;
    ProbeIndex probe;
    bool is_watched;  ///< the engine stops threads here
    bool is_mapped;   ///< the last scan found it in the mappings
};

/// The probes of one process. Lies in memory that begins as zeros.
struct ProbedPlaces {
    static constexpr std::uint32_t kPlaces = 4096;  ///< of a process; further ones are not probed

    engine::Lock lock;
    bool changed;                                        ///< the mappings are to be scanned
    std::uint32_t users[subsystem::kMaximumProbes];      ///< threads that have events at the probe
    Probe known[subsystem::kMaximumProbes];              ///< copy of the probe: its number may be given to another one
    std::uint64_t raised_at[subsystem::kMaximumProbes];  ///< address of the reference counter that was raised; 0: none
    std::uint64_t reference_counter[subsystem::kMaximumProbes];  ///< its address, by the last scan; 0: not mapped
    std::uint32_t count;
    ProbedPlace place[kPlaces];  ///< by rising address
};

/// A call, not yet returned, of a function with probed returns.
struct PendingReturn {
    std::uint64_t slot;    ///< address of the return address on the stack
    std::uint64_t target;  ///< the return address
    std::uint64_t place;   ///< the function's address
    ProbeIndex probe;
};

/// The probes of one thread, at AgentState::probes. Lies in memory that begins as zeros.
struct ThreadProbes {
    static constexpr std::uint32_t kDepth = 64;  ///< as the kernel's MAX_URETPROBE_DEPTH: deeper calls are not reported

    std::uint64_t has[subsystem::kMaximumProbes / 64];  ///< a bit for each probe: the thread has events there
    std::uint32_t depth;
    PendingReturn pending[kDepth];

    bool has_events_at(ProbeIndex probe) const { return (has[probe / 64] >> (probe % 64) & 1) != 0; }
};

/// Null until the thread has its first event at a probe.
inline ThreadProbes* probes_of(const Thread& thread) {
    return thread.agent->probes;
}

/// The thread's events may have changed: counts it as a user of the probes that they are at, and of no other.
void update_probes(Thread& thread);

/// Scans the mappings if this system call, which has succeeded with `answer`, may have changed where places are.
/// Precondition: Process::probed_places exists.
void rescan_mappings_after(const engine::Call& call, long answer);

/// In the child of a fork, where the engine watches nothing yet: forgets users and watched places of the parent, so
/// that the child's own update_probes() finds them anew. Pending returns are kept: the child returns from them, too.
void reset_probes_after_fork(Thread& thread);

/// The thread ends: it uses no probe any more.
void drop_probes(Thread& thread);

}  // namespace anyperf::agent
