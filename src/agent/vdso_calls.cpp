// vdso_calls.cpp: calls the vDSO's functions in place, without translating them. Engine code must not change vector
// registers. Theirs does not: it is C code that is compiled with the kernel's flags (-mno-sse).
#include "agent/vdso_calls.h"

#include <time.h>

#include "agent/process.h"

namespace anyperf::agent {

using engine::address_of;

namespace {

using ClockGettime = int (*)(std::int32_t, timespec*);
using Getcpu = long (*)(std::uint32_t*, std::uint32_t*, void*);

}  // namespace

void forget_vdso(const engine::Engine& engine, std::uint64_t start, std::uint64_t end) {
    Process* const process = existing_process(engine);
    if (process == nullptr || start >= engine.program.vdso_end || end <= engine.program.vdso_start) return;
    process->vdso_clock_gettime = 0;
    process->vdso_getcpu = 0;
}

std::uint64_t kernel_clock(const engine::Engine& engine, std::int32_t clockid) {
    timespec now{};
    const Process* const process = existing_process(engine);
    const std::uint64_t vdso = process != nullptr ? process->vdso_clock_gettime : 0;
    if (vdso == 0 || reinterpret_cast<ClockGettime>(vdso)(clockid, &now) != 0)
        engine::kernel_call(__NR_clock_gettime, static_cast<std::uint64_t>(static_cast<std::int64_t>(clockid)),
                            address_of(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::int32_t running_cpu(const engine::Engine& engine) {
    std::uint32_t cpu = 0;
    const Process* const process = existing_process(engine);
    const std::uint64_t vdso = process != nullptr ? process->vdso_getcpu : 0;
    if (vdso == 0 || reinterpret_cast<Getcpu>(vdso)(&cpu, nullptr, nullptr) != 0)
        engine::kernel_call(__NR_getcpu, address_of(&cpu), 0, 0);
    return static_cast<std::int32_t>(cpu);
}

}  // namespace anyperf::agent
