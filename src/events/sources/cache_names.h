// cache_names.h: the words of hardware cache events, and which of them go together. The spellings are those of perf
// (perf-list(1)); the numbers are those of abi.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyperf::events {

/// The words for one value of abi::kCaches, kCacheOps or kCacheResults. The first one is printed; of an operation it is
/// the singular, and the second one the plural.
struct CacheWord {
    std::uint64_t value;
    std::array<std::string_view, 5> spellings;
};

inline constexpr std::array kCacheWords{
    CacheWord{0, {"L1-dcache", "l1-d", "l1d", "L1-data"}},
    CacheWord{1, {"L1-icache", "l1-i", "l1i", "L1-instruction"}},
    CacheWord{2, {"LLC", "L2", "LL"}},
    CacheWord{3, {"dTLB", "d-tlb", "Data-TLB"}},
    CacheWord{4, {"iTLB", "i-tlb", "Instruction-TLB"}},
    CacheWord{5, {"branch", "branches", "bpu", "btb", "bpc"}},
    CacheWord{6, {"node"}},
};
inline constexpr std::array kOpWords{
    CacheWord{0, {"load", "loads", "read"}},
    CacheWord{1, {"store", "stores", "write"}},
    CacheWord{2, {"prefetch", "prefetches", "speculative-read", "speculative-load"}},
};
inline constexpr std::array kResultWords{
    CacheWord{0, {"refs", "reference", "ops", "access"}},
    CacheWord{1, {"misses", "miss"}},
};

/// The valid operations of each cache, in the order of abi::kCaches; bit 0 read, bit 1 write, bit 2 prefetch. perf
/// refuses the others: instruction fetches, for example, are never writes.
inline constexpr std::array<unsigned, 7> kValidOps{7, 5, 7, 7, 1, 1, 7};

/// Every valid event in the spelling of perf: "L1-dcache-loads", "L1-dcache-load-misses", …
std::vector<std::string> cache_event_names();

}  // namespace anyperf::events
