#include "agent/clocks.h"

#include <time.h>

#include "agent/vdso_calls.h"
#include "engine/time/virtual_clock.h"

namespace anyperf::agent {

using engine::clock_for;
using engine::Engine;
using engine::has_virtual_clock;
using engine::Thread;

std::uint64_t record_clock(const Thread& thread, std::int32_t clock) {
    const Engine& engine = *thread.engine;
    if (!has_virtual_clock(engine)) return kernel_clock(engine, clock);
    std::uint64_t ns = 0;
    run::clock_of_machine(clock, clock_for(thread), engine.run->epoch_ns, ns);
    return ns;
}

std::uint64_t record_clock(const Engine& engine) {
    if (!has_virtual_clock(engine)) return kernel_clock(engine, CLOCK_MONOTONIC);
    return run::monotonic_ns(__atomic_load_n(&engine.run_use->clock, __ATOMIC_RELAXED));
}

std::uint64_t task_clock(const Thread& thread) {
    if (has_virtual_clock(*thread.engine)) return run::cpu_ns(retired_by(thread));
    timespec now{};
    engine::kernel_call(__NR_clock_gettime, CLOCK_THREAD_CPUTIME_ID, engine::address_of(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace anyperf::agent
