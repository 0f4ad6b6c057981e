// cpuid.h: CPUID as the application sees it. The host's answers, less what the engine can't let a program use.
#pragma once

#include <cstdint>

namespace anyperf::engine::x86_64 {

struct CpuidAnswer {
    std::uint32_t eax, ebx, ecx, edx;
};

CpuidAnswer cpuid(std::uint32_t leaf, std::uint32_t subleaf);

}  // namespace anyperf::engine::x86_64
