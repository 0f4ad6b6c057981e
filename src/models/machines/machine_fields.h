// machine_fields.h: the fields of a machine's description, as tables: name, place and limits of each. machine_file.cpp
// reads, checks and writes descriptions by these tables.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "models/branches/targets.h"
#include "models/machine.h"

namespace anyperf::models {

// The limits bound what a file can make a run reserve (a cache takes a word for each line, a table of a predictor up to
// 2^20 bytes), and keep the models' shifts and masks within their types.

struct CacheField {
    std::string_view name;
    CacheGeometry Machine::* place;
    bool may_be_absent;
};
inline constexpr std::array kCacheFields{
    CacheField{"l1_code", &Machine::l1_code, false},
    CacheField{"l1_data", &Machine::l1_data, false},
    CacheField{"l2", &Machine::l2, true},
    CacheField{"l3", &Machine::l3, true},
};

struct TlbField {
    std::string_view name;
    TlbGeometry Machine::* place;
    bool may_be_absent;
};
inline constexpr std::array kTlbFields{
    TlbField{"code_tlb", &Machine::code_tlb, false},     TlbField{"code_tlb_large", &Machine::code_tlb_large, false},
    TlbField{"data_tlb", &Machine::data_tlb, false},     TlbField{"data_tlb_large", &Machine::data_tlb_large, false},
    TlbField{"second_tlb", &Machine::second_tlb, false}, TlbField{"second_code_tlb", &Machine::second_code_tlb, true},
};

struct LatencyField {
    std::string_view name;
    std::uint16_t Latencies::* place;
};
inline constexpr std::array kLatencyFields{
    LatencyField{"l1", &Latencies::l1},
    LatencyField{"l2", &Latencies::l2},
    LatencyField{"l3", &Latencies::l3},
    LatencyField{"memory", &Latencies::memory},
    LatencyField{"peer", &Latencies::peer},
    LatencyField{"second_tlb", &Latencies::second_tlb},
    LatencyField{"page_walk", &Latencies::page_walk},
    LatencyField{"misprediction", &Latencies::misprediction},
};
/// Of one latency; it fits the 16 bits of a field of Latencies.
inline constexpr std::uint64_t kMostCycles = 10'000;

struct BranchField {
    std::string_view name;
    std::uint8_t BranchUnit::* place;
    std::uint8_t least;
    std::uint8_t most;
};
inline constexpr std::array kBranchFields{
    BranchField{"table_bits", &BranchUnit::table_bits, 4, 20},
    BranchField{"site_bits", &BranchUnit::site_bits, 4, 20},
    BranchField{"target_bits", &BranchUnit::target_bits, 2, 16},
    BranchField{"return_entries", &BranchUnit::return_entries, 1, ReturnStack::kMostEntries},
};

struct PipelineField {
    std::string_view name;
    std::uint16_t Pipeline::* place;
    std::uint16_t least;
    std::uint16_t most;
};
inline constexpr std::array kPipelineFields{
    PipelineField{"width", &Pipeline::width, 1, 16},
    PipelineField{"integer_units", &Pipeline::integer_units, 1, 16},
    PipelineField{"vector_units", &Pipeline::vector_units, 1, 16},
    PipelineField{"multipliers", &Pipeline::multipliers, 1, 16},
    PipelineField{"taken", &Pipeline::taken, 1, 16},
    PipelineField{"loads", &Pipeline::loads, 1, 16},
    PipelineField{"stores", &Pipeline::stores, 1, 16},
    PipelineField{"forwarding", &Pipeline::forwarding, 0, 100},
    PipelineField{"division", &Pipeline::division, 1, 200},
    PipelineField{"wide_division", &Pipeline::wide_division, 1, 200},
    PipelineField{"float_addition", &Pipeline::float_addition, 1, 100},
    PipelineField{"float_multiplication", &Pipeline::float_multiplication, 1, 100},
    PipelineField{"misses", &Pipeline::misses, 1, 255},
    PipelineField{"window", &Pipeline::window, 1, 4096},
};

/// The words of a field that has a choice.
template <class T>
struct Choice {
    std::string_view word;
    T value;
};
inline constexpr std::array kReplacements{
    Choice{"lru", Replacement::lru},
    Choice{"tree-plru", Replacement::tree_plru},
    Choice{"nru", Replacement::not_recently_used},
};
inline constexpr std::array kInclusions{
    Choice{"none", Inclusion::none},
    Choice{"inclusive", Inclusion::inclusive},
    Choice{"victim", Inclusion::victim},
};
inline constexpr std::array kRequestRules{
    Choice{"line", Request::line},
    Choice{"access", Request::access},
};
inline constexpr std::array kPredictors{
    Choice{"gshare", Predictor::gshare},
    Choice{"tage", Predictor::tage},
};

/// The limits of caches (bytes of all lines together) and of TLBs (entries of all ways together).
inline constexpr std::uint64_t kMostCacheBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMostCacheWays = 32;
inline constexpr std::uint64_t kMostTlbEntries = 65'536;
inline constexpr std::uint64_t kMostTlbWays = 256;
inline constexpr std::uint64_t kLeastLineBytes = 16;
inline constexpr std::uint64_t kMostLineBytes = 256;

}  // namespace anyperf::models
