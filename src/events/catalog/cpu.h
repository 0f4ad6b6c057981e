// cpu.h: which CPU a machine has, as the `cpu` column of data/events/pmus.tsv speaks of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "events/catalog/files.h"

namespace anyperf::catalog {

struct ArmPart {
    std::uint16_t implementer = 0, part = 0;
};

struct Cpu {
    enum class Kind : std::uint8_t { unknown, intel, amd, arm, power, s390x, riscv };
    Kind kind = Kind::unknown;
    std::uint16_t family = 0, model = 0;  ///< x86, after extension
    std::uint8_t stepping = 0;

    // CPUID leaf 0xA; version 0: no architectural PMU, or another machine's files, which don't say.
    std::uint8_t perfmon_version = 0, perfmon_counters = 0, perfmon_fixed = 0;
    std::uint32_t perfmon_missing = 0;  ///< EBX: bit i set where architectural event i is missing

    std::array<ArmPart, 16> parts{};  ///< of hybrids: each once
    std::uint8_t part_count = 0;

    std::uint16_t processor_version = 0;                 ///< POWER: upper half of the PVR
    std::uint16_t machine_type = 0;                      ///< s390x: 2964, …
    std::uint8_t counter_first = 0, counter_second = 0;  ///< s390x: the two version numbers of its counter facility
};

/// This machine by CPUID, another by its files. `cpuinfo`: the file to read instead of /proc/cpuinfo where not empty.
Cpu identify(const Files& files, std::string_view cpuinfo);

}  // namespace anyperf::catalog
