// quantities.h: the quantities that the models count, and the counts of one thread.
//
// A quantity of the models is not an event: pmu/cpu/quantities.h says which events of the virtual PMU use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyperf::models {

// Names: *references* are instructions or operands. *Reads* are requests for lines to L2 or L3, so one reference may be
// several reads. *Misses* are the references or reads for which the cache lacked a line. *Ownership* reads are those of
// stores, which need the line for themselves. Requests by prefetch have rows of their own.
//
// The rows of one level are in the order of Reader (caches/core.h): code, load, store, prefetch. A value is the index
// of its count in Counts::values, which the broker reads in the thread's page (run/live_counters.h).

enum class Quantity : std::uint8_t {
    code_references,
    code_misses,
    load_references,
    load_misses,
    store_references,
    store_misses,
    split_loads,
    split_stores,
    code_lines_filled,
    data_lines_filled,
    data_write_backs,
    l2_code_reads,
    l2_code_misses,
    l2_data_reads,
    l2_data_misses,
    l2_ownership_reads,
    l2_ownership_misses,
    l2_prefetches,
    l2_prefetch_misses,
    l3_code_reads,
    l3_code_misses,
    l3_data_reads,
    l3_data_misses,
    l3_ownership_reads,
    l3_ownership_misses,
    l3_prefetches,
    l3_prefetch_misses,
    loads_from_l1,
    loads_from_l2,
    loads_from_l3,
    loads_from_clean_peer,
    loads_from_modified_peer,
    loads_from_memory,
    upgrades,
    code_tlb_misses,
    code_walks,
    load_tlb_misses,
    load_walks,
    store_tlb_misses,
    store_walks,
    translation_stalls,
    l2_stalls,
    l3_stalls,
    memory_stalls,
    store_stalls,
    fetch_stalls,
    conditional_mispredictions,
    indirect_mispredictions,
    return_mispredictions,
    misprediction_stalls,
};
inline constexpr std::size_t kQuantities = static_cast<std::size_t>(Quantity::misprediction_stalls) + 1;

/// The stalls of data in the order of stalls.h.
inline constexpr Quantity kFirstDataStall = Quantity::translation_stalls;

struct QuantityRow {
    Quantity quantity;
    std::string_view name;
    std::string_view meaning;
};

/// One row for each quantity, in the order of Quantity.
inline constexpr std::array<QuantityRow, kQuantities> kQuantityRows{{
    {Quantity::code_references, "code references", "instructions fetched, each once whatever lines it lies in"},
    {Quantity::code_misses, "code misses", "of these, with a line that L1I lacked"},
    {Quantity::load_references, "load references", "operands read from memory; also those that are read and written"},
    {Quantity::load_misses, "load misses", "of these, with a line that L1D lacked"},
    {Quantity::store_references, "store references", "operands that are only written"},
    {Quantity::store_misses, "store misses", "of these, with a line that L1D lacked"},
    {Quantity::split_loads, "split loads", "load references that reach over the end of a line"},
    {Quantity::split_stores, "split stores", "store references that reach over the end of a line"},
    {Quantity::code_lines_filled, "code lines filled", "lines brought into L1I"},
    {Quantity::data_lines_filled, "data lines filled", "lines brought into L1D, also by prefetch"},
    {Quantity::data_write_backs, "data write-backs", "modified lines that left L1D to make room"},
    {Quantity::l2_code_reads, "L2 code reads", "lines that L1I asked L2 for"},
    {Quantity::l2_code_misses, "L2 code misses", "of these, those that L2 lacked"},
    {Quantity::l2_data_reads, "L2 data reads", "lines that loads asked L2 for"},
    {Quantity::l2_data_misses, "L2 data misses", "of these, those that L2 lacked"},
    {Quantity::l2_ownership_reads, "L2 ownership reads", "lines that stores asked L2 for"},
    {Quantity::l2_ownership_misses, "L2 ownership misses", "of these, those that L2 lacked"},
    {Quantity::l2_prefetches, "L2 prefetches", "lines that prefetch asked L2 for"},
    {Quantity::l2_prefetch_misses, "L2 prefetch misses", "of these, those that L2 lacked"},
    {Quantity::l3_code_reads, "L3 code reads", "requests for code that reached the shared level"},
    {Quantity::l3_code_misses, "L3 code misses", "of these, those that came from memory"},
    {Quantity::l3_data_reads, "L3 data reads", "requests of loads that reached the shared level"},
    {Quantity::l3_data_misses, "L3 data misses", "of these, those that came from memory"},
    {Quantity::l3_ownership_reads, "L3 ownership reads", "requests of stores that reached the shared level"},
    {Quantity::l3_ownership_misses, "L3 ownership misses", "of these, those that came from memory"},
    {Quantity::l3_prefetches, "L3 prefetches", "requests of prefetch that reached the shared level"},
    {Quantity::l3_prefetch_misses, "L3 prefetch misses", "of these, those that came from memory"},
    {Quantity::loads_from_l1, "loads from L1", "load references by their farthest line: all lines were in L1D"},
    {Quantity::loads_from_l2, "loads from L2", "the farthest line was in L2"},
    {Quantity::loads_from_l3, "loads from L3", "the farthest line was in L3"},
    {Quantity::loads_from_clean_peer, "loads from a clean peer", "another core had the farthest line, unchanged"},
    {Quantity::loads_from_modified_peer, "loads from a modified peer", "another core had changed the farthest line"},
    {Quantity::loads_from_memory, "loads from memory", "the farthest line was in no cache"},
    {Quantity::upgrades, "upgrades", "stores to a line that other cores may hold, too"},
    {Quantity::code_tlb_misses, "code TLB misses", "fetched pages that the first code TLB lacked"},
    {Quantity::code_walks, "code page walks", "of these, those that the second TLB lacked"},
    {Quantity::load_tlb_misses, "load TLB misses", "pages of loads that the first data TLB lacked"},
    {Quantity::load_walks, "load page walks", "of these, those that the second TLB lacked"},
    {Quantity::store_tlb_misses, "store TLB misses", "pages of stores that the first data TLB lacked"},
    {Quantity::store_walks, "store page walks", "of these, those that the second TLB lacked"},
    {Quantity::translation_stalls, "translation stalls", "cycles lost to loads that only a TLB lacked"},
    {Quantity::l2_stalls, "L2 stalls", "cycles lost to loads from L2"},
    {Quantity::l3_stalls, "L3 stalls", "cycles lost to loads from L3 or another core"},
    {Quantity::memory_stalls, "memory stalls", "cycles lost to loads from memory"},
    {Quantity::store_stalls, "store stalls", "cycles lost to stores"},
    {Quantity::fetch_stalls, "fetch stalls", "cycles lost to code that L1I lacked"},
    {Quantity::conditional_mispredictions, "conditional mispredictions",
     "conditional branches that went the other way"},
    {Quantity::indirect_mispredictions, "indirect mispredictions", "indirect jumps and calls that went elsewhere"},
    {Quantity::return_mispredictions, "return mispredictions", "returns that went elsewhere than after their call"},
    {Quantity::misprediction_stalls, "misprediction stalls", "cycles lost to mispredicted branches"},
}};

/// The counts of one thread.
struct Counts {
    std::array<std::uint64_t, kQuantities> values{};

    constexpr std::uint64_t operator[](Quantity quantity) const { return values[static_cast<std::size_t>(quantity)]; }
    constexpr void add(Quantity quantity, std::uint64_t n = 1) { values[static_cast<std::size_t>(quantity)] += n; }
    bool operator==(const Counts&) const = default;
};

}  // namespace anyperf::models
