// process.cpp: makes the process's state when it is first needed. Most processes of a run never have an event: the
// agent costs them one comparison with null.
#include "agent/process.h"

#include <sys/mman.h>

#include <new>
#include <string_view>
#include <type_traits>

#include "agent/vdso_symbol.h"
#include "engine/freestanding/pages.h"

namespace anyperf::agent {

using engine::is_error;

namespace {

/// Maps an array of the run's memory. False: it cannot be mapped.
template <class T>
bool map_shared(const engine::Engine& engine, std::size_t offset, std::uint32_t count, run::SharedArray<T>& out) {
    constexpr bool kIsFact = std::is_const_v<T>;  // what programs only read is in the broker's memfd (run/facts.h)
    const std::size_t bytes = engine::page_up(sizeof(T) * count);
    const long got =
        engine::map_own_pages(bytes, kIsFact ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                              kIsFact ? engine.facts_fd : engine.run_fd, offset);
    if (is_error(got)) return false;
    out = {engine::at_address<T>(static_cast<std::uint64_t>(got)), count};
    return true;
}

template <class T>
void unmap_shared(const run::SharedArray<T>& array) {
    if (array)
        engine::release_pages(const_cast<std::remove_const_t<T>*>(array.data()),
                              engine::page_up(sizeof(T) * array.size()));
}

bool map_arrays(const engine::Engine& engine, Process& process) {
    return map_shared(engine, run::kEventsOffset, run::kMaximumEvents, process.events) &&
           map_shared(engine, run::kRingPagesOffset, run::kMaximumRings, process.rings) &&
           map_shared(engine, run::kFiltersOffset, run::kMaximumFilters, process.filters) &&
           map_shared(engine, run::kProbesOffset, subsystem::kMaximumProbes, process.probes) &&
           map_shared(engine, run::kProbeRecordsOffset, subsystem::kMaximumProbeRecords, process.probe_records);
}

/// Unmaps what has been mapped, after a mapping has failed. The next ensure_process() tries again.
void discard(Process* process) {
    unmap_shared(process->events);
    unmap_shared(process->rings);
    unmap_shared(process->filters);
    unmap_shared(process->probes);
    unmap_shared(process->probe_records);
    engine::release_pages(process, engine::page_up(sizeof(Process)));
}

}  // namespace

Process* ensure_process(engine::Engine& engine) {
    if (engine.agent != nullptr) return engine.agent;
    const engine::LockGuard held{engine.cache.lock};
    if (engine.agent != nullptr) return engine.agent;
    void* const memory = engine::reserve_pages(engine::page_up(sizeof(Process)));
    if (memory == nullptr) return nullptr;
    auto* const process = new (memory) Process;
    if (!map_arrays(engine, *process)) {
        discard(process);
        return nullptr;
    }
    const auto vdso = [&engine](std::string_view name) {
        return find_vdso_function(engine.program.vdso_start, engine.program.vdso_end, name);
    };
    process->vdso_clock_gettime = vdso("__vdso_clock_gettime");
    process->vdso_getcpu = vdso("__vdso_getcpu");
    engine.agent = process;
    return process;
}

}  // namespace anyperf::agent
