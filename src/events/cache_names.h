// cache_names.h: the words of hardware cache events, and which of them go together. Spellings are perf's
// (perf-list(1), tools/perf: any of a row's words), numbers are abi's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyperf::events {

/// Words for one number of abi::kCaches, kCacheOps or kCacheResults; the first is the one we print.
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

/// Operations that make sense, a bit for each (1 read, 2 write, 4 prefetch), in the order of abi::kCaches. The kernel
/// answers EINVAL or ENOENT to the others on every CPU: instruction fetches are never writes.
inline constexpr std::array<unsigned, 7> kSensibleOps{7, 5, 7, 7, 1, 1, 7};

/// Every sensible event in perf's spelling: "L1-dcache-loads", "L1-dcache-load-misses", …
std::vector<std::string> cache_event_names();

}  // namespace anyperf::events
