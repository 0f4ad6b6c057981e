// load_latencies.h: what the models find out about one access, how long such an access takes, and how many loads took
// how long.
//
// The latency of an access follows from where its line was and from its TLB misses, so a machine has few different
// ones. LoadLatencies has a count for each combination, and beside it the latency. So the number of loads that took at
// least some cycles is a sum that needs no description of the machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/machine.h"

namespace anyperf::models {

/// Where a line was found, from near to far.
enum class Source : std::uint8_t { l1, l2, l3, clean_peer, modified_peer, memory };
inline constexpr std::size_t kSources = 6;

/// Cycles from a load to the use of its value.
constexpr unsigned latency_of(const Latencies& latencies, Source source) {
    switch (source) {
        case Source::l1: return latencies.l1;
        case Source::l2: return latencies.l2;
        case Source::l3: return latencies.l3;
        case Source::clean_peer:
        case Source::modified_peer: return latencies.peer;
        default: return latencies.memory;
    }
}

/// The cycles of `misses` accesses that missed the first TLB, of which `walks` missed the second one, too.
constexpr unsigned translation_latency(const Latencies& latencies, unsigned misses, unsigned walks) {
    return misses * latencies.second_tlb + walks * latencies.page_walk;
}

/// One access. Of several lines it is the farthest source; of two pages it has the misses of both. It has four bytes,
/// so that it is stored and read as one word.
struct alignas(4) AccessFacts {
    Source source = Source::l1;
    std::uint8_t tlb_misses = 0;  ///< pages that the first TLB lacked, at most 2
    std::uint8_t page_walks = 0;  ///< of these, those that the second one lacked

    constexpr unsigned latency(const Latencies& latencies) const {
        return latency_of(latencies, source) + translation_latency(latencies, tlb_misses, page_walks);
    }
    bool operator==(const AccessFacts&) const = default;
};

/// Loads by their latency. Those that found their line in L1 and their page in the first TLB are not counted here: they
/// are all others.
class LoadLatencies {
  public:
    /// Begins to count for a machine.
    constexpr void begin(const Latencies& latencies) { cycles_[0] = latencies.l1; }

    constexpr void add(const AccessFacts& facts, const Latencies& latencies) {
        const std::size_t number = number_of(facts);
        if (number == 0) return;
        cycles_[number] = facts.latency(latencies);
        __atomic_store_n(&loads_[number], loads_[number] + 1, __ATOMIC_RELAXED);
    }

    /// How many of `loads` loads took at least so many cycles.
    std::uint64_t at_least(unsigned cycles, std::uint64_t loads) const {
        std::uint64_t longer = 0;
        std::uint64_t counted = 0;
        for (std::size_t i = 1; i < loads_.size(); ++i) {
            const std::uint64_t here = __atomic_load_n(&loads_[i], __ATOMIC_RELAXED);
            counted += here;
            if (__atomic_load_n(&cycles_[i], __ATOMIC_RELAXED) >= cycles) longer += here;
        }
        return cycles <= cycles_[0] ? longer + loads - counted : longer;
    }

  private:
    static constexpr std::size_t kTranslations = 6;  ///< misses and walks: 0 0, 1 0, 1 1, 2 0, 2 1, 2 2

    static constexpr std::size_t number_of(const AccessFacts& facts) {
        const std::size_t misses = facts.tlb_misses < 2 ? facts.tlb_misses : 2;
        const std::size_t walks = facts.page_walks < misses ? facts.page_walks : misses;
        return static_cast<std::size_t>(facts.source) * kTranslations + misses * (misses + 1) / 2 + walks;
    }

    std::array<std::uint64_t, kSources * kTranslations> loads_{};
    std::array<std::uint32_t, kSources * kTranslations> cycles_{};
};

}  // namespace anyperf::models
