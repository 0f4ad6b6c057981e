// process.h: what the agent keeps for one process: where the run's shared memory is mapped, which descriptors are
// events, which rings are mapped and which epoll sets have events. All threads of the process share it.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/freestanding/lock.h"
#include "run/layout.h"
#include "run/shared_array.h"

namespace anyperf::agent {

using subsystem::EventIndex;
using subsystem::EventPage;
using subsystem::RingIndex;
using subsystem::RingPage;

inline constexpr std::uint32_t kMaximumDescriptors = 65536;  ///< a descriptor from this number on is never an event
inline constexpr std::uint32_t kMaximumRingMappings = 4096;  ///< of one process

/// A ring that the application has mapped.
struct RingMapping {
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;  ///< of the ring in the run's memory
    EventIndex event = 0;
    bool writable = false;  ///< mapped with PROT_WRITE; the agent makes the records read-only all the same
};

/// Where this process has mapped a ring to write records to it; not the application's mapping.
struct RingView {
    std::uint64_t address = 0;  ///< 0: not mapped
    std::uint64_t offset = 0;   ///< RingPage::offset at that time: the ring's number may be used again
    std::uint32_t pages = 0;    ///< RingPage::pages at that time
};

/// An event in an epoll(7) set, as the application asked for it.
struct EpollEntry {
    std::uint32_t epoll;  ///< descriptor of the set
    std::uint32_t fd;     ///< descriptor of the event
    EventIndex event;
    std::uint32_t wanted;   ///< epoll_event::events
    std::uint64_t data;     ///< epoll_event::data
    bool spent;             ///< with EPOLLONESHOT: was reported once, and is not again
    bool hang_up_reported;  ///< with EPOLLET: the hang-up was reported, and is not again
};
inline constexpr std::uint32_t kMaximumEpollEntries = 256;  ///< of one process; further ones never report a hang-up

struct ProbedPlaces;  // probes/probes.h
struct PythonCode;    // python/python_functions.h

struct Process {
    run::SharedArray<EventPage> events;
    run::SharedArray<RingPage> rings;
    run::SharedArray<const subsystem::Filter> filters;
    engine::Lock lock;  ///< of epoll_entries, ring_mappings, ring_views and probed_places
    EpollEntry epoll_entries[kMaximumEpollEntries];
    std::uint32_t epoll_entry_count = 0;
    RingMapping ring_mappings[kMaximumRingMappings];
    std::uint32_t ring_mapping_count = 0;
    RingView ring_views[run::kMaximumRings];
    EventIndex event_of[kMaximumDescriptors] = {};  ///< by descriptor; 0: not an event
    std::uint64_t vdso_clock_gettime = 0;           ///< its address; 0: not there
    std::uint64_t vdso_getcpu = 0;                  ///< the same
    run::SharedArray<const subsystem::Probe> probes;
    run::SharedArray<const subsystem::ProbeRecord> probe_records;
    bool shares_descriptors = false;          ///< `event_of` may be older than the kernel's table (descriptors.h)
    ProbedPlaces* probed_places = nullptr;    ///< null until a thread has an event at a probe
    PythonCode* python = nullptr;             ///< null until a sample wants frames of Python programs
    std::uint32_t close_count = 0;            ///< how many descriptors of events were closed
    std::uint32_t closes_seen_by_broker = 0;  ///< of those, how many the broker has surely noticed
};

/// Whether the broker has noticed every close of an event's descriptor in this process, so that the event pages show
/// its effect. The broker notices a close a moment later, by end of file, and in any case before it serves a request.
/// If this is false, send a request instead of trusting the pages.
inline bool broker_has_seen_closes(const Process& process) {
    return __atomic_load_n(&process.close_count, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&process.closes_seen_by_broker, __ATOMIC_RELAXED);
}

/// The process's state, which the first call makes. Null if memory is short.
Process* ensure_process(engine::Engine& engine);

/// The process's state; null if it has not been made.
inline Process* existing_process(const engine::Engine& engine) {
    return engine.agent;
}

}  // namespace anyperf::agent
