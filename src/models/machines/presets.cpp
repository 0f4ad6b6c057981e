// presets.cpp: the named machines.
//
// Each row of kPresets names the source of its sizes, ways and latencies. The replacement policy of a CPU is rarely
// published: those here are the nearest that machine.h has and that the number of ways allows. Where each value of a
// pipeline comes from is in docs/models.md ("Cycles").
//
// In each machine the sets of a cache are a power of two, its ways under tree-PLRU are too, and all caches have lines
// of one size. tests/unit/models/core_test.cpp compares every preset with a plain simulator.
#include "models/machines/presets.h"

#include <algorithm>
#include <array>

namespace anyperf::models {

namespace {

constexpr std::uint32_t kKiB = 1024;
constexpr std::uint32_t kMiB = 1024 * kKiB;

/// A cache of lines of 64 bytes. Tree-PLRU needs a power of two of ways: with other numbers name another policy.
constexpr CacheGeometry cache(std::uint32_t bytes, std::uint16_t ways,
                              Replacement replacement = Replacement::tree_plru) {
    return {.sets = bytes / ways / 64, .ways = ways, .line_bytes = 64, .replacement = replacement};
}
constexpr TlbGeometry fully_associative(std::uint16_t entries) {
    return {.entries = entries, .ways = entries};
}

/// The core of Skylake client and server; they differ in L2 and L3.
constexpr Machine skylake_core() {
    return {.l1_code = cache(32 * kKiB, 8),
            .l1_data = cache(32 * kKiB, 8),
            .l2 = {},
            .l3 = {},
            .prefetch = {.next_line = true, .stride = true},
            .code_tlb = {.entries = 128, .ways = 8},
            .code_tlb_large = fully_associative(8),
            .data_tlb = {.entries = 64, .ways = 4},
            .data_tlb_large = {.entries = 32, .ways = 4},
            .second_tlb = {.entries = 1536, .ways = 12},
            .second_code_tlb = {},
            .branches = {},
            .latencies = {},
            .pipeline = {}};
}

constexpr Machine skylake_client() {
    Machine machine = skylake_core();
    machine.l2 = cache(256 * kKiB, 4);
    machine.l3 = cache(8 * kMiB, 16, Replacement::not_recently_used);
    machine.inclusion = Inclusion::inclusive;
    machine.latencies = {
        .l1 = 4, .l2 = 12, .l3 = 42, .memory = 200, .peer = 60, .second_tlb = 9, .page_walk = 26, .misprediction = 16};
    return machine;
}

constexpr Machine skylake_server() {
    Machine machine = skylake_core();
    machine.l2 = cache(kMiB, 16);
    machine.l3 = cache(22 * kMiB, 11, Replacement::not_recently_used);
    machine.inclusion = Inclusion::victim;
    machine.latencies = {
        .l1 = 4, .l2 = 14, .l3 = 68, .memory = 260, .peer = 110, .second_tlb = 9, .page_walk = 26, .misprediction = 16};
    return machine;
}

/// The core is Golden Cove's. L3 is that of 32 cores.
constexpr Machine sapphire_rapids() {
    return {.l1_code = cache(32 * kKiB, 8),
            .l1_data = cache(48 * kKiB, 12, Replacement::lru),
            .l2 = cache(2 * kMiB, 16),
            .l3 = cache(60 * kMiB, 15, Replacement::not_recently_used),
            .inclusion = Inclusion::victim,
            .prefetch = {.next_line = true, .stride = true},
            .code_tlb = {.entries = 256, .ways = 8},
            .code_tlb_large = {.entries = 32, .ways = 8},
            .data_tlb = {.entries = 96, .ways = 6},
            .data_tlb_large = fully_associative(32),
            .second_tlb = {.entries = 2048, .ways = 16},
            .second_code_tlb = {},
            .branches = {.predictor = Predictor::tage, .return_entries = 24},
            .latencies = {.l1 = 5,
                          .l2 = 15,
                          .l3 = 75,
                          .memory = 350,
                          .peer = 130,
                          .second_tlb = 7,
                          .page_walk = 25,
                          .misprediction = 17},
            .pipeline = {.width = 6,
                         .integer_units = 5,
                         .vector_units = 3,
                         .loads = 3,
                         .stores = 2,
                         .forwarding = 5,
                         .division = 15,
                         .wide_division = 12,
                         .float_addition = 2,
                         .float_multiplication = 4,
                         .misses = 16,
                         .window = 512}};
}

/// One complex: L3 is shared by eight cores and filled by their victims.
constexpr Machine zen4() {
    return {.l1_code = cache(32 * kKiB, 8),
            .l1_data = cache(32 * kKiB, 8),
            .l2 = cache(kMiB, 8),
            .l3 = cache(32 * kMiB, 16, Replacement::not_recently_used),
            .inclusion = Inclusion::victim,
            .prefetch = {.next_line = true, .stride = true},
            .code_tlb = fully_associative(64),
            .code_tlb_large = fully_associative(64),
            .data_tlb = fully_associative(72),
            .data_tlb_large = fully_associative(72),
            .second_tlb = {.entries = 3072, .ways = 24},
            .second_code_tlb = {.entries = 512, .ways = 8},
            .branches = {.predictor = Predictor::tage, .return_entries = 32},
            .latencies = {.l1 = 4,
                          .l2 = 14,
                          .l3 = 50,
                          .memory = 330,
                          .peer = 100,
                          .second_tlb = 7,
                          .page_walk = 30,
                          .misprediction = 13},
            .pipeline = {.width = 6,
                         .integer_units = 4,
                         .vector_units = 4,
                         .loads = 3,
                         .stores = 2,
                         .forwarding = 1,
                         .division = 12,
                         .wide_division = 18,
                         .float_addition = 3,
                         .float_multiplication = 3,
                         .misses = 24,
                         .window = 320}};
}

constexpr Machine zen5() {
    return {.l1_code = cache(32 * kKiB, 8),
            .l1_data = cache(48 * kKiB, 12, Replacement::lru),
            .l2 = cache(kMiB, 16),
            .l3 = cache(32 * kMiB, 16, Replacement::not_recently_used),
            .inclusion = Inclusion::victim,
            .prefetch = {.next_line = true, .stride = true},
            .code_tlb = fully_associative(64),
            .code_tlb_large = fully_associative(64),
            .data_tlb = fully_associative(96),
            .data_tlb_large = fully_associative(96),
            .second_tlb = {.entries = 4096, .ways = 16},
            .second_code_tlb = {.entries = 2048, .ways = 8},
            .branches = {.predictor = Predictor::tage, .return_entries = 52},
            .latencies = {.l1 = 4,
                          .l2 = 14,
                          .l3 = 47,
                          .memory = 340,
                          .peer = 100,
                          .second_tlb = 7,
                          .page_walk = 30,
                          .misprediction = 15},
            .pipeline = {.width = 8,
                         .integer_units = 6,
                         .vector_units = 4,
                         .multipliers = 3,
                         .taken = 2,
                         .loads = 4,
                         .stores = 2,
                         .forwarding = 0,
                         .division = 12,
                         .wide_division = 18,
                         .float_addition = 2,
                         .float_multiplication = 3,
                         .misses = 40,
                         .window = 448}};
}

/// Its L3 is the system cache of the mesh. Implementers choose its size; AWS Graviton2 has 32 MiB.
constexpr Machine neoverse_n1() {
    return {.l1_code = cache(64 * kKiB, 4),
            .l1_data = cache(64 * kKiB, 4),
            .l2 = cache(kMiB, 8),
            .l3 = cache(32 * kMiB, 16, Replacement::not_recently_used),
            .inclusion = Inclusion::victim,
            .prefetch = {.next_line = true, .stride = true},
            .code_tlb = fully_associative(48),
            .code_tlb_large = fully_associative(48),
            .data_tlb = fully_associative(48),
            .data_tlb_large = fully_associative(48),
            .second_tlb = {.entries = 1280, .ways = 5},
            .second_code_tlb = {},
            .branches = {.predictor = Predictor::tage, .return_entries = 16},
            .latencies = {.l1 = 4,
                          .l2 = 11,
                          .l3 = 75,
                          .memory = 270,
                          .peer = 120,
                          .second_tlb = 5,
                          .page_walk = 30,
                          .misprediction = 11},
            .pipeline = {.width = 4,
                         .integer_units = 3,
                         .vector_units = 2,
                         .loads = 2,
                         .stores = 2,
                         .forwarding = 5,
                         .division = 12,
                         .wide_division = 20,
                         .float_addition = 2,
                         .float_multiplication = 3,
                         .misses = 20,
                         .window = 128}};
}

/// The cores of a cluster share their L2, so it is the shared level (`l3`) here, and there is no private L2. Pages and
/// lines have the sizes of x86-64, since the measured programs are made for them.
constexpr Machine apple_m1() {
    return {.l1_code = cache(192 * kKiB, 6, Replacement::lru),
            .l1_data = cache(128 * kKiB, 8),
            .l2 = {},
            .l3 = cache(12 * kMiB, 12, Replacement::not_recently_used),
            .inclusion = Inclusion::none,
            .prefetch = {.next_line = true, .stride = true},
            .code_tlb = fully_associative(192),
            .code_tlb_large = fully_associative(192),
            .data_tlb = fully_associative(160),
            .data_tlb_large = fully_associative(160),
            .second_tlb = {.entries = 3072, .ways = 12},
            .second_code_tlb = {},
            .branches = {.predictor = Predictor::tage, .return_entries = 50},
            .latencies = {.l1 = 3,
                          .l2 = 18,
                          .l3 = 18,
                          .memory = 330,
                          .peer = 40,
                          .second_tlb = 6,
                          .page_walk = 30,
                          .misprediction = 14},
            .pipeline = {.width = 8,
                         .integer_units = 6,
                         .vector_units = 4,
                         .multipliers = 2,
                         .loads = 3,
                         .stores = 2,
                         .forwarding = 4,
                         .division = 8,
                         .wide_division = 10,
                         .float_addition = 3,
                         .float_multiplication = 4,
                         .misses = 28,
                         .window = 630}};
}

constexpr Machine tiny() {
    return {.l1_code = cache(kKiB, 2, Replacement::lru),
            .l1_data = cache(kKiB, 2, Replacement::lru),
            .l2 = cache(8 * kKiB, 4, Replacement::lru),
            .l3 = cache(64 * kKiB, 8, Replacement::lru),
            .inclusion = Inclusion::inclusive,
            .prefetch = {},
            .code_tlb = fully_associative(4),
            .code_tlb_large = fully_associative(2),
            .data_tlb = fully_associative(8),
            .data_tlb_large = fully_associative(2),
            .second_tlb = {.entries = 32, .ways = 4},
            .second_code_tlb = {},
            .branches = {.predictor = Predictor::gshare,
                         .table_bits = 8,
                         .site_bits = 10,
                         .target_bits = 6,
                         .return_entries = 4},
            .latencies = {.l1 = 2,
                          .l2 = 10,
                          .l3 = 30,
                          .memory = 100,
                          .peer = 60,
                          .second_tlb = 5,
                          .page_walk = 20,
                          .misprediction = 10},
            .pipeline = {.width = 2,
                         .integer_units = 2,
                         .vector_units = 1,
                         .loads = 1,
                         .stores = 1,
                         .forwarding = 3,
                         .division = 20,
                         .wide_division = 40,
                         .float_addition = 3,
                         .float_multiplication = 3,
                         .misses = 2,
                         .window = 32}};
}

/// Two levels, one core and true LRU: what cachegrind simulates. Its "LL" is the shared level here.
constexpr Machine cachegrind() {
    Machine machine{};
    machine.l1_code = cache(32 * kKiB, 8, Replacement::lru);
    machine.l1_data = cache(32 * kKiB, 8, Replacement::lru);
    machine.l3 = cache(8 * kMiB, 16, Replacement::lru);
    machine.request = Request::access;
    machine.one_core = true;
    machine.code_tlb = machine.data_tlb = {.entries = 64, .ways = 4};
    machine.code_tlb_large = machine.data_tlb_large = {.entries = 32, .ways = 4};
    machine.second_tlb = {.entries = 1536, .ways = 12};
    return machine;
}

constexpr std::array kPresets{
    Preset{"skx", "Skylake server, 16 cores",
           "Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake server; CPUID leaves 2 and 4",
           skylake_server()},
    Preset{"skl", "Skylake client, 4 cores",
           "Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake client; CPUID leaves 2 and 4",
           skylake_client()},
    Preset{
        "spr", "Sapphire Rapids server, 32 cores",
        "Intel 64 and IA-32 Architectures Optimization Reference Manual, Golden Cove; CPUID leaves 2 and 4; published "
        "measurements for latencies",
        sapphire_rapids()},
    Preset{"zen4", "AMD Zen 4, one complex of 8 cores",
           "AMD Software Optimization Guide for the Zen 4 Microarchitecture (57647)", zen4()},
    Preset{"zen5", "AMD Zen 5, one complex of 8 cores",
           "AMD Software Optimization Guide for the Zen 5 Microarchitecture (58455)", zen5()},
    Preset{"neoverse-n1", "Arm Neoverse N1 with a system cache of 32 MiB",
           "Arm Neoverse N1 Core Technical Reference Manual (100616); Neoverse N1 Software Optimization Guide (109896)",
           neoverse_n1()},
    Preset{"apple-m1", "a core of the class of Apple's M1, with pages of 4 KiB and lines of 64 bytes",
           "sysctl hw.perflevel0 of an M1 for sizes; published measurements for ways, TLBs and latencies", apple_m1()},
    Preset{"tiny", "small enough to follow by hand", "made for teaching", tiny()},
    Preset{"cachegrind", "what cachegrind counts with --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64",
           "the manual of cachegrind, and its counts; the TLBs are those of skl", cachegrind()},
};

}  // namespace

std::span<const Preset> presets() {
    return kPresets;
}

const Preset* find_preset(std::string_view name) {
    const auto* row = std::ranges::find(kPresets, name, &Preset::name);
    return row == kPresets.end() ? nullptr : row;
}

}  // namespace anyperf::models
