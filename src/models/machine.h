// machine.h: the description of a modelled machine: the geometry of its caches, TLBs and branch predictors, and the
// cost of misses. It is plain data, so it can be in shared memory.
//
// The classes of caches/ and branches/ implement what a description says. machines/presets.h has the named machines,
// and machines/machine_file.h reads a user's own from JSON.
#pragma once

#include <array>
#include <cstdint>

namespace anyperf::models {

/// Which line of a full set makes room for a new one.
enum class Replacement : std::uint8_t {
    lru,                ///< the least recently used
    tree_plru,          ///< the one that a binary tree of bits points to; the number of ways is a power of two
    not_recently_used,  ///< the first without a mark; a use sets a mark, and when all have one, only the last use's
                        ///< stays
};

/// A set-associative cache. A cache with `sets` of 0 does not exist.
struct CacheGeometry {
    std::uint32_t sets = 0;  ///< a power of two
    std::uint16_t ways = 0;
    std::uint16_t line_bytes = 64;  ///< a power of two; all caches of a machine have the same
    Replacement replacement = Replacement::lru;

    constexpr bool exists() const { return sets != 0; }
    constexpr std::uint64_t bytes() const { return std::uint64_t{sets} * ways * line_bytes; }
    bool operator==(const CacheGeometry&) const = default;
};

/// What the last level holds, compared with the private caches.
enum class Inclusion : std::uint8_t {
    none,       ///< a miss fills it, too; its victims stay in the private caches
    inclusive,  ///< as `none`, but its victims leave the private caches, too
    victim,     ///< only victims of the private caches fill it, and a hit moves the line out of it
};

/// A translation buffer with true LRU; one with `entries` of 0 does not exist. `ways` equal to `entries` is fully
/// associative.
struct TlbGeometry {
    std::uint32_t entries = 0;
    std::uint16_t ways = 0;

    constexpr bool exists() const { return entries != 0; }
    constexpr std::uint32_t sets() const { return ways == 0 ? 0 : entries / ways; }
    bool operator==(const TlbGeometry&) const = default;
};

/// The kinds of branch predictors.
enum class Predictor : std::uint8_t {
    gshare,  ///< one table of two-bit counters, indexed by the address and the path
    tage,    ///< a base table and six tagged tables with histories of 5 to 180 branches
};

struct BranchUnit {
    Predictor predictor = Predictor::gshare;
    std::uint8_t table_bits = 17;   ///< log2 of the number of gshare's counters; its history has one bit less
    std::uint8_t site_bits = 16;    ///< log2 of the number of branches that branches/sites.h can distinguish
    std::uint8_t target_bits = 15;  ///< log2 of the number of targets of indirect branches
    std::uint8_t return_entries = 16;
    bool operator==(const BranchUnit&) const = default;
};

/// Which lines a machine fetches before an access needs them.
struct Prefetch {
    bool next_line = false;  ///< a miss of L1D also brings the next line of the same 4 KiB page
    bool stride = false;     ///< a load that repeats its distance also brings the line one distance ahead
    bool operator==(const Prefetch&) const = default;
};

/// Latencies in cycles: from a load to the use of its value for the sources of a line, and what is added for the rest.
struct Latencies {
    std::uint16_t l1 = 4;
    std::uint16_t l2 = 14;
    std::uint16_t l3 = 50;
    std::uint16_t memory = 250;
    std::uint16_t peer = 90;           ///< a line that another core has changed
    std::uint16_t second_tlb = 7;      ///< added by a hit in the second TLB
    std::uint16_t page_walk = 30;      ///< added by a page walk
    std::uint16_t misprediction = 16;  ///< added by a mispredicted branch
    bool operator==(const Latencies&) const = default;
};

/// What limits how many instructions a core completes in a cycle, and what its slow ones cost. How long each
/// instruction takes otherwise is the same on all machines: data/timing.
struct Pipeline {
    std::uint16_t width = 4;          ///< fused micro-operations that are renamed in a cycle
    std::uint16_t integer_units = 4;  ///< that execute additions
    std::uint16_t vector_units = 3;   ///< that execute vector logic
    std::uint16_t multipliers = 1;    ///< integer units that multiply and count bits
    std::uint16_t taken = 1;          ///< taken branches in a cycle
    std::uint16_t loads = 2;          ///< accesses in a cycle
    std::uint16_t stores = 1;
    std::uint16_t forwarding = 5;      ///< cycles until a load has what a store before it has written
    std::uint16_t division = 26;       ///< cycles of a division of 64 by 32 bits
    std::uint16_t wide_division = 42;  ///< cycles of a division of 128 by 64 bits
    std::uint16_t float_addition = 4;  ///< cycles of an addition of floats, also of vectors of them
    std::uint16_t float_multiplication = 4;
    std::uint16_t misses = 12;   ///< lines that L1D can wait for at a time
    std::uint16_t window = 224;  ///< instructions that can be under way: the entries of the reorder buffer
    bool operator==(const Pipeline&) const = default;
};

/// Which lines of an access are looked up in a level after L1.
enum class Request : std::uint8_t {
    line,    ///< each line that L1 lacks, as in hardware
    access,  ///< all lines of the access, once, if L1 lacks one of them: the rule of cachegrind
};

/// A modelled machine.
struct Machine {
    CacheGeometry l1_code;
    CacheGeometry l1_data;
    CacheGeometry l2;  ///< of code and data; private to a thread, as if each thread had a core
    CacheGeometry l3;  ///< shared by all threads of a run
    Inclusion inclusion = Inclusion::none;
    Request request = Request::line;
    bool one_core = false;  ///< all threads of a run share all caches, as in cachegrind; else each thread has a core
    Prefetch prefetch;
    TlbGeometry code_tlb;        ///< pages of 4 KiB
    TlbGeometry code_tlb_large;  ///< pages of 2 MiB
    TlbGeometry data_tlb;
    TlbGeometry data_tlb_large;
    TlbGeometry second_tlb;       ///< of both page sizes; of code and data, or of data if the next one exists
    TlbGeometry second_code_tlb;  ///< of code alone
    BranchUnit branches;
    Latencies latencies;
    Pipeline pipeline;

    constexpr unsigned line_bytes() const { return l1_data.line_bytes; }
    bool operator==(const Machine&) const = default;
};

}  // namespace anyperf::models
