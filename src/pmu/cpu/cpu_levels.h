// cpu_levels.h: the CPUs x86-64-v2, -v3 and -v4 that a run can present (`--cpu-model`): the same ones on every host.
//
// A model is a list of what is shown. Each feature is a row of kLevelFeatures, from which both CPUID and the flags of
// /proc/cpuinfo are made; every leaf without a row is zero. So a program counts the same on each host that has the
// level. The levels are those of the x86-64 psABI, chapter 3.1.1. What the psABI leaves open is decided as follows:
//
//   - XSAVE is shown from v2 on, as the OS support that every kernel has; none of its variants is.
//   - ERMS from v3 on: glibc's memcpy then chooses nearly what it chooses on real CPUs.
//   - FSGSBASE from v3 on: the CPUs of that level have it (since Ivy Bridge and Steamroller).
//   - AES, PCLMULQDQ, SHA, ADX, RDRAND, RDSEED, CLFLUSHOPT, PKU, TSX: not shown, because no level has them.
//   - RDTSCP from v1 on: every CPU of a level has it, but some hypervisors hide it. The engine then executes it.
//   - The state of AVX-512 has its places of Intel's CPUs where the host has them there, too. Programs save it by the
//     host's XSAVE, and AMD's has other places: there v4 shows those.
//   - Caches are those of a Skylake server with one CPU in each package, so that the number of CPUs does not matter.
//
// Instructions above the level are refused (engine/x86_64/decode/isa.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pmu/cpu/cpuid_identity.h"
#include "pmu/cpu/identity.h"

namespace anyperf::pmu {

/// The words of CPUID that have a bit for each feature.
enum class FeatureWord : std::uint8_t {
    basic_edx,       ///< leaf 1
    basic_ecx,       ///< leaf 1
    structured_ebx,  ///< leaf 7, subleaf 0
    extended_edx,    ///< leaf 0x80000001
    extended_ecx,    ///< leaf 0x80000001
    power_edx,       ///< leaf 0x80000007
};

struct LevelFeature {
    std::string_view flag;  ///< its name in /proc/cpuinfo
    FeatureWord word;
    unsigned bit;
    unsigned level;  ///< from which level on it is shown
    /// False: the host need not have it, because no instruction depends on it, or the engine executes the instruction.
    bool needed = true;
};

/// In the order in which the kernel prints them (arch/x86/include/asm/cpufeatures.h).
inline constexpr std::array kLevelFeatures{
    LevelFeature{"fpu", FeatureWord::basic_edx, 0, 1},
    LevelFeature{"vme", FeatureWord::basic_edx, 1, 1, false},
    LevelFeature{"de", FeatureWord::basic_edx, 2, 1, false},
    LevelFeature{"pse", FeatureWord::basic_edx, 3, 1, false},
    LevelFeature{"tsc", FeatureWord::basic_edx, 4, 1},
    LevelFeature{"msr", FeatureWord::basic_edx, 5, 1, false},
    LevelFeature{"pae", FeatureWord::basic_edx, 6, 1, false},
    LevelFeature{"mce", FeatureWord::basic_edx, 7, 1, false},
    LevelFeature{"cx8", FeatureWord::basic_edx, 8, 1},
    LevelFeature{"apic", FeatureWord::basic_edx, 9, 1, false},
    LevelFeature{"sep", FeatureWord::basic_edx, 11, 1, false},
    LevelFeature{"mtrr", FeatureWord::basic_edx, 12, 1, false},
    LevelFeature{"pge", FeatureWord::basic_edx, 13, 1, false},
    LevelFeature{"mca", FeatureWord::basic_edx, 14, 1, false},
    LevelFeature{"cmov", FeatureWord::basic_edx, 15, 1},
    LevelFeature{"pat", FeatureWord::basic_edx, 16, 1, false},
    LevelFeature{"pse36", FeatureWord::basic_edx, 17, 1, false},
    LevelFeature{"clflush", FeatureWord::basic_edx, 19, 1},
    LevelFeature{"mmx", FeatureWord::basic_edx, 23, 1},
    LevelFeature{"fxsr", FeatureWord::basic_edx, 24, 1},
    LevelFeature{"sse", FeatureWord::basic_edx, 25, 1},
    LevelFeature{"sse2", FeatureWord::basic_edx, 26, 1},
    LevelFeature{"syscall", FeatureWord::extended_edx, 11, 1},
    LevelFeature{"nx", FeatureWord::extended_edx, 20, 1, false},
    LevelFeature{"rdtscp", FeatureWord::extended_edx, 27, 1, false},
    LevelFeature{"lm", FeatureWord::extended_edx, 29, 1},
    LevelFeature{"nonstop_tsc", FeatureWord::power_edx, 8, 1, false},
    LevelFeature{"pni", FeatureWord::basic_ecx, 0, 2},
    LevelFeature{"ssse3", FeatureWord::basic_ecx, 9, 2},
    LevelFeature{"fma", FeatureWord::basic_ecx, 12, 3},
    LevelFeature{"cx16", FeatureWord::basic_ecx, 13, 2},
    LevelFeature{"sse4_1", FeatureWord::basic_ecx, 19, 2},
    LevelFeature{"sse4_2", FeatureWord::basic_ecx, 20, 2},
    LevelFeature{"movbe", FeatureWord::basic_ecx, 22, 3},
    LevelFeature{"popcnt", FeatureWord::basic_ecx, 23, 2},
    LevelFeature{"xsave", FeatureWord::basic_ecx, 26, 2},
    LevelFeature{"", FeatureWord::basic_ecx, 27, 2},  // OSXSAVE, which the kernel does not print
    LevelFeature{"avx", FeatureWord::basic_ecx, 28, 3},
    LevelFeature{"f16c", FeatureWord::basic_ecx, 29, 3},
    LevelFeature{"lahf_lm", FeatureWord::extended_ecx, 0, 2},
    LevelFeature{"abm", FeatureWord::extended_ecx, 5, 3},
    LevelFeature{"fsgsbase", FeatureWord::structured_ebx, 0, 3},
    LevelFeature{"bmi1", FeatureWord::structured_ebx, 3, 3},
    LevelFeature{"avx2", FeatureWord::structured_ebx, 5, 3},
    LevelFeature{"bmi2", FeatureWord::structured_ebx, 8, 3},
    LevelFeature{"erms", FeatureWord::structured_ebx, 9, 3, false},
    LevelFeature{"avx512f", FeatureWord::structured_ebx, 16, 4},
    LevelFeature{"avx512dq", FeatureWord::structured_ebx, 17, 4},
    LevelFeature{"avx512cd", FeatureWord::structured_ebx, 28, 4},
    LevelFeature{"avx512bw", FeatureWord::structured_ebx, 30, 4},
    LevelFeature{"avx512vl", FeatureWord::structured_ebx, 31, 4},
};

/// A component of XCR0 beyond the legacy area, and its place in the standard format of XSAVE.
struct StateComponent {
    unsigned number;
    unsigned bytes;
    unsigned offset;
    unsigned level;
};
using StateLayout = std::array<StateComponent, 4>;
/// Intel's (SDM volume 1, 13.5).
inline constexpr StateLayout kStateComponents{
    StateComponent{2, 256, 576, 3},    // the upper halves of ymm0 to ymm15
    StateComponent{5, 64, 1088, 4},    // k0 to k7
    StateComponent{6, 512, 1152, 4},   // the upper halves of zmm0 to zmm15
    StateComponent{7, 1024, 1664, 4},  // zmm16 to zmm31
};

/// The vector state that a level has, as XCR0.
constexpr std::uint32_t state_of(unsigned level) {
    std::uint32_t bits = 3;  // x87 and SSE
    for (const StateComponent& component : kStateComponents)
        if (component.level <= level) bits |= 1u << component.number;
    return bits;
}

/// CPUID's answer for a word of features.
constexpr std::uint32_t features_of(unsigned level, FeatureWord word) {
    std::uint32_t bits = 0;
    for (const LevelFeature& feature : kLevelFeatures)
        if (feature.word == word && feature.level <= level) bits |= 1u << feature.bit;
    return bits;
}

/// kStateComponents at the places that they have on this host. A component that it lacks keeps Intel's.
StateLayout host_state_layout();

/// Every leaf of a level's CPUID that is not zero, except that of the architectural PMU (architectural_pmu()).
/// `layout`: where XSAVE writes.
std::vector<CpuidRow> level_rows(unsigned level, const CpuIdentity& cpu, const StateLayout& layout = kStateComponents);

/// The rows that hide features of the host that a Skylake client lacks: AVX-512, AMX and protection keys. Empty if the
/// host has none of them.
std::vector<CpuidRow> rows_without_avx512();

/// The flags of /proc/cpuinfo that a Skylake client lacks.
bool is_beyond_skylake_client(std::string_view flag);

/// The features of the level that this host lacks, by their names in /proc/cpuinfo, separated by blanks; empty: none.
std::string features_missing(unsigned level);

/// /proc/cpuinfo of a machine of `cpus` CPUs of the level.
std::string level_cpuinfo(unsigned level, const CpuIdentity& cpu, unsigned cpus);

/// A file of sysfs, by its path below /sys/devices/system/cpu.
struct CpuFile {
    std::string path;
    std::string content;
};
/// cpuN/cache and cpuN/topology, as CPUID has them.
std::vector<CpuFile> level_sysfs(unsigned cpus);

}  // namespace anyperf::pmu
