// cpuid.h: CPUID as the application sees it: the host's leaves without the features that can't work in translated code,
// and the leaves of a virtual CPU, if the run has one (RunHeader::identity).
#pragma once

#include <cstdint>

#include "run/facts.h"

namespace anyperf::engine::x86_64 {

struct CpuidAnswer {
    std::uint32_t eax, ebx, ecx, edx;
};

/// The answer of a leaf without the features that can't work in translated code.
CpuidAnswer without_hidden_features(std::uint32_t leaf, std::uint32_t subleaf, CpuidAnswer answer);

/// The host's answer, from the run's list or by the instruction; null: always by the instruction.
CpuidAnswer host_cpuid(std::uint32_t leaf, std::uint32_t subleaf, const run::RunHeader* run);

/// The answer that the application sees: the host's, edited, or the run's rows alone if these are complete. `run`
/// describes the virtual CPU; null: the host's. In a virtual machine the instruction leaves the guest and takes
/// microseconds.
CpuidAnswer cpuid(std::uint32_t leaf, std::uint32_t subleaf, const run::RunHeader* run);

/// Whether `loop` costs no more than another branch on this CPU: true on AMD and Hygon, while Intel's takes seven
/// micro-operations. For indirect entries (indirect_entry.h).
bool loop_is_fast(const run::RunHeader* run = nullptr);

/// Whether the CPU has what returns that are paired with the host's use (x86_64/translate/returns.cpp): BMI2.
bool can_pair_returns(const run::RunHeader* run = nullptr);
/// Whether the CPU has rdtscp. Below some hypervisors CPUs have it not, although they execute AVX-512.
bool has_rdtscp(const run::RunHeader* run);
// For what was measured on some CPUs only.

/// Whether the vendor is Intel.
bool is_intel(const run::RunHeader* run = nullptr);
/// Whether it is a Zen 3 or a Zen 4: AMD, family 25.
bool is_zen_3_or_4(const run::RunHeader* run = nullptr);

}  // namespace anyperf::engine::x86_64
