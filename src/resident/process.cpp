// process.cpp: see process.h.
#include "resident/process.h"

#include <sys/mman.h>

#include <new>

#include "engine/freestanding/pages.h"
#include "resident/clock.h"

namespace anyperf::resident {

using engine::is_error;

namespace {

template <class T>
T* map_shared(const engine::Engine& engine, std::size_t offset, std::size_t bytes) {
    const long got =
        engine::map_own_pages(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, engine.run_fd, offset);
    return is_error(got) ? nullptr : engine::at_address<T>(static_cast<std::uint64_t>(got));
}

}  // namespace

Process* process_of(engine::Engine& engine) {
    if (engine.attached != nullptr) return engine.attached;
    const engine::Held held{engine.cache.lock};
    if (engine.attached != nullptr) return engine.attached;
    void* const memory = engine::reserve_pages(engine::page_up(sizeof(Process)));
    if (memory == nullptr) return nullptr;
    auto* const process = new (memory) Process;
    process->events = map_shared<EventPage>(engine, kEventsOffset, kEventsBytes);
    process->rings = map_shared<RingPage>(engine, kRingPagesOffset, kRingPagesBytes);
    process->filters = map_shared<subsystem::Filter>(engine, kFiltersOffset, kFiltersBytes);
    process->probes = map_shared<subsystem::Probe>(engine, kProbesOffset, kProbesBytes);
    process->probe_records = map_shared<subsystem::ProbeRecord>(engine, kProbeRecordsOffset, kProbeRecordsBytes);
    if (process->events == nullptr || process->rings == nullptr || process->filters == nullptr ||
        process->probes == nullptr || process->probe_records == nullptr)
        return nullptr;
    find_clock(engine, *process);
    engine.attached = process;
    return process;
}

}  // namespace anyperf::resident
