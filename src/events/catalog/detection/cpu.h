// cpu.h: which CPU a machine has, in the terms of the `cpu` column of data/events/pmus.tsv.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "events/catalog/detection/machine_files.h"

namespace anyperf::catalog {

/// The implementer and part fields of MIDR_EL1.
struct ArmPart {
    std::uint16_t implementer = 0, part = 0;
};

/// The fields that do not belong to `kind` are 0.
struct Cpu {
    enum class Kind : std::uint8_t { unknown, intel, amd, arm, power, s390x, riscv };
    Kind kind = Kind::unknown;
    std::uint16_t family = 0, model = 0;  ///< x86: with the extended fields added
    std::uint8_t stepping = 0;

    // Intel, from CPUID leaf 0xA. Version 0: no architectural PMU, or the files of another machine, which don't say.
    std::uint8_t perfmon_version = 0, perfmon_counters = 0, perfmon_fixed = 0;
    std::uint32_t perfmon_missing = 0;  ///< EBX: bit i is set if architectural event i is missing

    std::array<ArmPart, 16> parts{};  ///< each core type of the machine once
    std::uint8_t part_count = 0;

    std::uint16_t processor_version = 0;                 ///< POWER: upper half of the PVR
    std::uint16_t machine_type = 0;                      ///< s390x: 2964 is a z13
    std::uint8_t counter_first = 0, counter_second = 0;  ///< s390x: the two version numbers of the counter facility
};

/// Identifies this machine by CPUID if it is x86 and `cpuinfo` is empty, else the machine of `files` by /proc/cpuinfo
/// and, on s390x, /proc/service_levels. `cpuinfo` is the path, on this machine, of a file to read instead of
/// /proc/cpuinfo; empty: none. The kind is unknown if the file can't be read or names no known CPU.
Cpu identify_cpu(const Files& files, std::string_view cpuinfo);

}  // namespace anyperf::catalog
