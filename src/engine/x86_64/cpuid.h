// cpuid.h: CPUID as the application sees it. The host's answers, less what the engine can't let a program use.
#pragma once

#include <cstdint>

#include "engine/run_state.h"

namespace anyperf::engine::x86_64 {

struct CpuidAnswer {
    std::uint32_t eax, ebx, ecx, edx;
};

/// `run` says which leaves are those of a virtual CPU; null: none.
CpuidAnswer cpuid(std::uint32_t leaf, std::uint32_t subleaf, const RunHeader* run);

/// Whether this CPU's `loop` costs no more than other branches: AMD's does not, Intel's is seven operations.
bool loop_is_fast();

}  // namespace anyperf::engine::x86_64
