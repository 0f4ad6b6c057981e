#include "pmu/cpu/cpu_levels.h"

#include <cpuid.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pmu/cpu/cost_model.h"

namespace anyperf::pmu {
namespace {

constexpr std::uint32_t kLegacyBytes = 576;  // the legacy area and the header of XSAVE's area
constexpr std::uint32_t kExtendedState = 0xd;
constexpr std::uint32_t kLastBasicLeaf = 0x16;
constexpr std::uint32_t kLastExtendedLeaf = 0x80000008;

CpuidRow shown(std::uint32_t leaf, std::uint32_t subleaf, CpuidRegisters value, const char* what) {
    return {leaf, subleaf, {}, value, what};
}

/// The bytes of an area with the components of `level`.
std::uint32_t state_bytes(unsigned level, const StateLayout& layout) {
    std::uint32_t end = kLegacyBytes;
    for (const StateComponent& component : layout)
        if (component.level <= level) end = std::max(end, component.offset + component.bytes);
    return end;
}

/// Leaf 0xd: the vector state.
void put_state(std::vector<CpuidRow>& rows, unsigned level, const StateLayout& layout) {
    const std::uint32_t bytes = state_bytes(level, layout);
    rows.push_back(shown(kExtendedState, 0, {state_of(level), bytes, bytes, 0}, "XCR0 and the size of its state"));
    for (const StateComponent& component : layout)
        if (component.level <= level)
            rows.push_back(
                shown(kExtendedState, component.number, {component.bytes, component.offset, 0, 0}, "a component"));
}

/// A cache that no other CPU shares, of a package with one core: the leaf's fields of both are 0.
CpuidRegisters own_cache(unsigned type, unsigned level, unsigned ways, unsigned sets, bool complex_index) {
    CpuidRegisters registers = cpuid::cache(type, level, 1, ways, sets, complex_index);
    registers.eax &= (1u << 14) - 1;
    return registers;
}

void put_caches(std::vector<CpuidRow>& rows) {
    rows.push_back(shown(2, cpuid::kAny, {0x76036301, 0x00f0b5ff, 0, 0x00c30000}, "0xff: the caches are in leaf 4"));
    rows.push_back(shown(4, 0, own_cache(1, 1, 8, 64, false), "L1 data, 32 KiB"));
    rows.push_back(shown(4, 1, own_cache(2, 1, 8, 64, false), "L1 instructions, 32 KiB"));
    rows.push_back(shown(4, 2, own_cache(3, 2, 16, 1024, false), "L2, 1 MiB"));
    rows.push_back(shown(4, 3, own_cache(3, 3, 11, 36864, true), "L3, 24.75 MiB"));
}

/// What the host's CPUID has in the word.
std::uint32_t host_word(FeatureWord word) {
    struct Place {
        std::uint32_t leaf;
        unsigned index;  ///< eax, ebx, ecx, edx
    };
    constexpr std::array kPlaces{Place{1, 3},          Place{1, 2},          Place{7, 1},
                                 Place{0x80000001, 3}, Place{0x80000001, 2}, Place{0x80000007, 3}};
    const Place place = kPlaces.at(static_cast<std::size_t>(word));
    std::array<unsigned, 4> registers{};
    if (__get_cpuid_count(place.leaf, 0, registers.data(), &registers[1], &registers[2], &registers[3]) == 0) return 0;
    return registers.at(place.index);
}

/// XCR0, which says what the host's kernel has enabled; 3 if the instruction that reads it is not there.
std::uint64_t host_xcr0() {
    constexpr std::uint32_t kOsXsave = 1u << 27;
    if ((host_word(FeatureWord::basic_ecx) & kOsXsave) == 0) return 3;
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
}

std::string flags_of(unsigned level) {
    std::string flags;
    for (const LevelFeature& feature : kLevelFeatures)
        if (feature.level <= level && !feature.flag.empty()) flags.append(feature.flag).append(" ");
    return flags + "constant_tsc arch_perfmon rep_good nopl cpuid";
}

}  // namespace

StateLayout host_state_layout() {
    StateLayout layout = kStateComponents;
    for (StateComponent& component : layout) {
        std::array<unsigned, 4> registers{};  // EAX is the size, EBX the offset
        if (__get_cpuid_count(kExtendedState, component.number, registers.data(), &registers[1], &registers[2],
                              &registers[3]) == 0 ||
            registers[0] == 0)
            continue;
        component.bytes = registers[0];
        component.offset = registers[1];
    }
    return layout;
}

std::vector<CpuidRow> level_rows(unsigned level, const CpuIdentity& cpu, const StateLayout& layout) {
    const auto word = [&](FeatureWord which) { return features_of(level, which); };
    constexpr std::uint32_t kLineEighths = 8u << 8;
    constexpr std::uint32_t kOneCpu = 1u << 16;
    std::vector<CpuidRow> rows;
    rows.push_back(
        shown(0, cpuid::kAny,
              {kLastBasicLeaf, cpuid::letters(kVendor, 0), cpuid::letters(kVendor, 8), cpuid::letters(kVendor, 4)},
              "the last leaf, vendor"));
    rows.push_back(shown(1, cpuid::kAny,
                         {cpuid::signature(cpu).value.eax, kLineEighths | kOneCpu, word(FeatureWord::basic_ecx),
                          word(FeatureWord::basic_edx)},
                         "signature, line of CLFLUSH, features"));
    put_caches(rows);
    rows.push_back(shown(7, 0, {.ebx = word(FeatureWord::structured_ebx)}, "features"));
    rows.push_back(shown(0xb, 0, {0, 1, 1u << 8, 0}, "one thread in a core"));
    rows.push_back(shown(0xb, 1, {0, 1, 1 | 2u << 8, 0}, "one core in a package"));
    put_state(rows, level, layout);
    rows.push_back(shown(0x16, cpuid::kAny, {kClockMhz, kClockMhz, kBusMhz, 0}, "frequencies"));
    rows.push_back(shown(0x80000000, cpuid::kAny, {.eax = kLastExtendedLeaf}, "the last extended leaf"));
    rows.push_back(shown(0x80000001, cpuid::kAny,
                         {.ecx = word(FeatureWord::extended_ecx), .edx = word(FeatureWord::extended_edx)}, "features"));
    for (std::uint32_t part = 0; part < 3; ++part) rows.push_back(cpuid::brand(cpu, part));
    rows.push_back(shown(0x80000006, cpuid::kAny, {.ecx = 1024u << 16 | 8u << 12 | 64}, "L2 again"));
    rows.push_back(
        shown(0x80000007, cpuid::kAny, {.edx = word(FeatureWord::power_edx)}, "invariant time stamp counter"));
    rows.push_back(
        shown(kLastExtendedLeaf, cpuid::kAny, {.eax = 48u << 8 | 46}, "bits of virtual, physical addresses"));
    return rows;
}

std::vector<CpuidRow> rows_without_avx512() {
    constexpr std::uint64_t kWideState = 7u << 5 | 3u << 17;  // of AVX-512 and AMX
    if ((host_xcr0() & kWideState) == 0) return {};
    // SDM volume 2, CPUID: bits of AVX-512, AMX, protection keys and AVX10, as far as leaf 7 has them.
    constexpr CpuidRegisters kOfLeaf7{.ebx = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 3u << 30,
                                      .ecx = 1u << 1 | 3u << 3 | 1u << 6 | 3u << 11 | 1u << 14,
                                      .edx = 3u << 2 | 1u << 8 | 15u << 22};
    constexpr CpuidRegisters kOfLeaf71{.eax = 1u << 5 | 1u << 21, .edx = 1u << 8 | 1u << 19 | 1u << 21};
    const auto hide = [](std::uint32_t subleaf, const CpuidRegisters& hidden) {
        return CpuidRow{7, subleaf, {~hidden.eax, ~hidden.ebx, ~hidden.ecx, ~hidden.edx}, {}, "without AVX-512"};
    };
    constexpr unsigned kClient = 3;
    const std::uint32_t bytes = state_bytes(kClient, kStateComponents);
    std::vector<CpuidRow> rows{hide(0, kOfLeaf7), hide(1, kOfLeaf71)};
    rows.push_back(shown(kExtendedState, 0, {state_of(kClient), bytes, bytes, 0}, "XCR0"));
    rows.push_back({kExtendedState, 1, {.eax = 15}, {.ebx = bytes}, "forms of XSAVE"});
    for (const StateComponent& component : kStateComponents)
        if (component.level <= kClient)
            rows.push_back(shown(kExtendedState, component.number, {component.bytes, component.offset, 0, 0}, "AVX"));
    for (const std::uint32_t leaf : {kExtendedState, 0x1du, 0x1eu, 0x24u})
        rows.push_back(shown(leaf, cpuid::kAny, {}, "no further state"));
    return rows;
}

bool is_beyond_skylake_client(std::string_view flag) {
    return flag.starts_with("avx512") || flag.starts_with("amx") || flag.starts_with("avx10") || flag == "pku" ||
           flag == "ospke";
}

std::string features_missing(unsigned level) {
    std::string missing;
    const auto miss = [&](std::string_view name) { missing.append(missing.empty() ? "" : " ").append(name); };
    for (const LevelFeature& feature : kLevelFeatures)
        if (feature.needed && feature.level <= level && (host_word(feature.word) >> feature.bit & 1) == 0)
            miss(feature.flag.empty() ? "osxsave" : feature.flag);
    if (missing.empty() && (state_of(level) & ~host_xcr0()) != 0) miss("the kernel's support of its vector state");
    return missing;
}

std::string level_cpuinfo(unsigned level, const CpuIdentity& cpu, unsigned cpus) {
    std::string text;
    for (unsigned number = 0; number < cpus; ++number) {
        text += fmt::format(
            "processor\t: {0}\nvendor_id\t: {1}\ncpu family\t: {2}\nmodel\t\t: {3}\nmodel name\t: {4}\n"
            "stepping\t: {5}\nmicrocode\t: 0x1\ncpu MHz\t\t: {6}.000\ncache size\t: 25344 KB\nphysical id\t: {0}\n"
            "siblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\napicid\t\t: {0}\ninitial apicid\t: {0}\nfpu\t\t: yes\n"
            "fpu_exception\t: yes\ncpuid level\t: {7}\nwp\t\t: yes\nflags\t\t: {8}\nbugs\t\t: \nbogomips\t: {9}.00\n"
            "clflush size\t: 64\ncache_alignment\t: 64\naddress sizes\t: 46 bits physical, 48 bits virtual\n"
            "power management:\n\n",
            number, kVendor, kFamily, cpu.model, cpu.brand, cpu.stepping, kClockMhz, kLastBasicLeaf, flags_of(level),
            2 * kClockMhz);
    }
    return text;
}

std::vector<CpuFile> level_sysfs(unsigned cpus) {
    struct Cache {
        unsigned level;
        std::string_view type;
        std::string_view size;
        unsigned ways, sets;
    };
    // As put_caches() has them.
    constexpr std::array kCaches{Cache{1, "Data", "32K", 8, 64}, Cache{1, "Instruction", "32K", 8, 64},
                                 Cache{2, "Unified", "1024K", 16, 1024}, Cache{3, "Unified", "25344K", 11, 36864}};
    std::vector<CpuFile> files;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        const auto put = [&](std::string_view name, const auto& value) {
            files.push_back({fmt::format("cpu{}/{}", cpu, name), fmt::format("{}\n", value)});
        };
        const std::string mask = fmt::format("{:x}", std::uint64_t{1} << (cpu % 64));
        for (std::size_t index = 0; index < kCaches.size(); ++index) {
            const Cache& cache = kCaches[index];
            const auto of = [&](std::string_view name) { return fmt::format("cache/index{}/{}", index, name); };
            put(of("level"), cache.level);
            put(of("type"), cache.type);
            put(of("size"), cache.size);
            put(of("ways_of_associativity"), cache.ways);
            put(of("number_of_sets"), cache.sets);
            put(of("coherency_line_size"), 64);
            put(of("physical_line_partition"), 1);
            put(of("shared_cpu_list"), cpu);
            put(of("shared_cpu_map"), mask);
        }
        put("topology/physical_package_id", cpu);
        for (const std::string_view name : {"core_id", "die_id"}) put(fmt::format("topology/{}", name), 0);
        for (const std::string_view name :
             {"thread_siblings", "core_siblings", "core_cpus", "package_cpus", "die_cpus"}) {
            put(fmt::format("topology/{}", name), mask);
            put(fmt::format("topology/{}_list", name), cpu);
        }
    }
    return files;
}

}  // namespace anyperf::pmu
