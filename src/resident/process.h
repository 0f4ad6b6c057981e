// process.h: what a process under the engine keeps of its events: where the shared memory is, which descriptors are
// events, which rings it has mapped. Threads share it.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/freestanding/lock.h"
#include "resident/layout.h"

namespace anyperf::resident {

using subsystem::EventIndex;
using subsystem::EventPage;
using subsystem::RingIndex;
using subsystem::RingPage;

inline constexpr std::uint32_t kDescriptors = 65536;  ///< numbers that an event can have
inline constexpr std::uint32_t kMappings = 4096;      ///< mapped rings of one process

/// A ring that the application has mapped.
struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
    EventIndex event = 0;
    bool writable = false;  ///< as it was asked for; the records are read-only all the same
};

/// Where this process writes a ring.
struct RingView {
    std::uint64_t address = 0;  ///< 0: not mapped
    std::uint64_t offset = 0;   ///< RingPage::offset and pages when it was mapped: a ring's number is used again
    std::uint32_t pages = 0;
};

/// An event that is watched by epoll(7), as the application asked for it.
struct Epolled {
    std::uint32_t epoll;  ///< descriptors
    std::uint32_t fd;
    EventIndex event;
    std::uint32_t wanted;  ///< epoll_event's words
    std::uint64_t data;
    bool spent;         ///< EPOLLONESHOT: has been told of
    bool hang_up_told;  ///< EPOLLET: the same
};
inline constexpr std::uint32_t kEpolled = 256;  ///< of one process; further ones never hang up

struct ProbedPlaces;  // probes.h

struct Process {
    EventPage* events = nullptr;                 ///< kMaximumEvents
    RingPage* rings = nullptr;                   ///< kMaximumRings
    const subsystem::Filter* filters = nullptr;  ///< kMaximumFilters
    engine::Lock lock;                           ///< of what follows
    Epolled epolled[kEpolled];
    std::uint32_t epolled_count = 0;
    Mapping mappings[kMappings];
    std::uint32_t mapping_count = 0;
    RingView ring_views[kMaximumRings];
    EventIndex event_of[kDescriptors] = {};                 ///< by descriptor; 0: no event
    std::uint64_t clock = 0;                                ///< address of the vDSO's clock_gettime; 0: none
    const subsystem::Probe* probes = nullptr;               ///< kMaximumProbes
    const subsystem::ProbeRecord* probe_records = nullptr;  ///< kMaximumProbeRecords
    ProbedPlaces* probed = nullptr;                         ///< null until a thread is probed
    std::uint32_t closes = 0;                               ///< descriptors of events that were closed
    std::uint32_t closes_told = 0;                          ///< so many of them the broker has surely seen
};

/// Whether the pages of events tell of every descriptor that this process has closed: the broker learns of a close by
/// itself, a moment later, and before it answers any request.
inline bool closes_are_known(const Process& process) {
    return __atomic_load_n(&process.closes, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&process.closes_told, __ATOMIC_RELAXED);
}

/// The process's state, made where there is none yet; null where memory is short.
Process* process_of(engine::Engine& engine);

/// The same if it has been made.
inline Process* known_process(const engine::Engine& engine) {
    return engine.attached;
}

}  // namespace anyperf::resident
