// cpuid_identity.h: the CPUID leaves that turn the host's CPU into that of identity.h: vendor, signature, caches, the
// architectural PMU and the brand string. The layouts of the leaves are those of SDM volume 2, "CPUID".
//
// Features remain the host's, because the program's instructions run on the host's CPU. Leaves that only AMD has are
// cleared, so that an AMD host does not contradict the vendor. A leaf without a row is the host's.
//
// The broker copies the rows to the run's facts. The engine applies them to each CPUID instruction, after it has
// cleared the features that translated code does not support (engine/x86_64/cpu/cpuid.cpp).
#pragma once

#include <array>
#include <cstdint>

#include "pmu/cpu/cost_model.h"
#include "pmu/cpu/identity.h"

namespace anyperf::pmu {

/// The four registers that CPUID returns.
struct CpuidRegisters {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;

    constexpr bool operator==(const CpuidRegisters&) const = default;
};

/// How to change the host's result for a leaf: (host & keep) | value, in each register. The first row that matches
/// decides.
struct CpuidRow {
    static constexpr std::uint32_t kAnySubleaf = ~0u;

    std::uint32_t leaf;
    std::uint32_t subleaf;
    CpuidRegisters keep;
    CpuidRegisters value;
    const char* what;

    /// Whether the row is for this leaf (eax) and subleaf (ecx).
    constexpr bool matches(std::uint32_t eax, std::uint32_t ecx) const {
        return leaf == eax && (subleaf == kAnySubleaf || subleaf == ecx);
    }
    /// The result that the program sees.
    constexpr CpuidRegisters apply(const CpuidRegisters& host) const {
        return {(host.eax & keep.eax) | value.eax, (host.ebx & keep.ebx) | value.ebx, (host.ecx & keep.ecx) | value.ecx,
                (host.edx & keep.edx) | value.edx};
    }
};

namespace cpuid {
inline constexpr std::uint32_t kAny = CpuidRow::kAnySubleaf;
inline constexpr std::uint32_t kAll = ~0u;

/// Four characters of a text as a register contains them, the first in the lowest byte; zero after its end.
constexpr std::uint32_t letters(std::string_view text, std::size_t first) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4 && first + i < text.size(); ++i)
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[first + i])) << (8 * i);
    return word;
}

/// Part 0, 1 or 2 of the brand string: 16 characters in leaf 0x80000002 + part.
constexpr CpuidRow brand(const CpuIdentity& cpu, std::uint32_t part) {
    const auto four = [&](std::size_t first) { return letters(cpu.brand, std::size_t{16} * part + first); };
    return {0x80000002 + part, kAny, {}, {four(0), four(4), four(8), four(12)}, "brand"};
}

/// Leaf 1, eax: stepping in bits 0-3, model in 4-7 and 16-19, family in 8-11.
constexpr CpuidRow signature(const CpuIdentity& cpu) {
    return {1,
            kAny,
            {.ebx = kAll, .ecx = kAll, .edx = kAll},
            {.eax = (cpu.model >> 4) << 16 | kFamily << 8 | (cpu.model & 0xf) << 4 | cpu.stepping},
            "family, model, stepping"};
}

/// A cache of leaf 4. Types: 1 data, 2 instructions, 3 both. `sharing`: how many of the 8 CPUs share it. The leaf
/// contains counts minus 1. Bit 8 of eax: the cache initializes itself; bit 2 of edx: complex indexing.
constexpr CpuidRegisters cache(unsigned type, unsigned level, unsigned sharing, unsigned ways, unsigned sets,
                               bool complex_index) {
    constexpr unsigned kCores = 8, kLineBytes = 64;
    return {(kCores - 1) << 26 | (sharing - 1) << 14 | 1u << 8 | level << 5 | type, (ways - 1) << 22 | (kLineBytes - 1),
            sets - 1, complex_index ? 4u : 0u};
}

/// Leaf 0xA, ebx: a set bit says that this architectural event is missing. None is: kGenericEvents (cpu_events.h) has
/// all seven, and the models count those of caches and branch prediction.
inline constexpr std::uint32_t kMissingEvents = 0;
inline constexpr unsigned kArchitecturalEvents = 7;

/// Leaf 0x80000001, ecx: AMD's performance counters, IBS and topology leaves.
inline constexpr std::uint32_t kAmdCounters = 1u << 10 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 28;
}  // namespace cpuid

/// The rows that are the same for all models of identity.h.
inline constexpr std::array kCpuidRows{
    CpuidRow{0,
             cpuid::kAny,
             {.eax = cpuid::kAll},
             {.ebx = cpuid::letters(kVendor, 0), .ecx = cpuid::letters(kVendor, 8), .edx = cpuid::letters(kVendor, 4)},
             "vendor"},
    CpuidRow{
        2, cpuid::kAny, {}, {0x76036301, 0x00f0b5ff, 0, 0x00c30000}, "descriptors; 0xff: the caches are in leaf 4"},
    CpuidRow{4, 0, {}, cpuid::cache(1, 1, 1, 8, 64, false), "L1 data, 32 KiB"},
    CpuidRow{4, 1, {}, cpuid::cache(2, 1, 1, 8, 64, false), "L1 instructions, 32 KiB"},
    CpuidRow{4, 2, {}, cpuid::cache(3, 2, 1, 16, 1024, false), "L2, 1 MiB"},
    CpuidRow{4, 3, {}, cpuid::cache(3, 3, 8, 11, 36864, true), "L3, 24.75 MiB"},
    CpuidRow{4, cpuid::kAny, {}, {}, "no more caches"},
    CpuidRow{0x15, cpuid::kAny, {}, {}, "ratio of the time stamp counter, which is the host's: not reported"},
    CpuidRow{0x16, cpuid::kAny, {}, {kClockMhz, kClockMhz, kBusMhz, 0}, "frequencies"},
    CpuidRow{0x80000001,
             cpuid::kAny,
             {cpuid::kAll, cpuid::kAll, ~cpuid::kAmdCounters, cpuid::kAll},
             {},
             "extended features less AMD's counters"},
    CpuidRow{0x80000005, cpuid::kAny, {}, {}, "AMD's L1"},
    CpuidRow{0x80000006, cpuid::kAny, {}, {.ecx = 1024u << 16 | 8u << 12 | 64}, "L2 again: KiB, 16 ways, line"},
    CpuidRow{0x8000001d, cpuid::kAny, {}, {}, "AMD's caches"},
    CpuidRow{0x8000001e, cpuid::kAny, {}, {}, "AMD's topology"},
};

/// The rows that differ between the models: the signature and the brand string.
constexpr std::array<CpuidRow, 4> identity_rows(const CpuIdentity& cpu) {
    return {cpuid::signature(cpu), cpuid::brand(cpu, 0), cpuid::brand(cpu, 1), cpuid::brand(cpu, 2)};
}

/// Leaf 0xA: version 4 of the architectural PMU with this number of generic counters. 0 means that the run sets no
/// limit; then the leaf has kAdvertisedCounters.
constexpr CpuidRow architectural_pmu(unsigned generic_counters) {
    const unsigned counters = generic_counters == 0 ? kAdvertisedCounters : generic_counters;
    return {0xa,
            cpuid::kAny,
            {},
            {.eax = cpuid::kArchitecturalEvents << 24 | kCounterBits << 16 | counters << 8 | 4,
             .ebx = cpuid::kMissingEvents,
             .edx = kCounterBits << 5 | kFixedCounters},
            "architectural PMU"};
}

}  // namespace anyperf::pmu
