// stalls.h: how many cycles a core loses by what the models of caches, TLBs and branch predictors found, beside the
// cost that its code has without misses (engine/x86_64/translate/cost.h).
//
// The problem: a core has many misses under way at a time, so their latencies must not be added up. A simulation of its
// window would say how they overlap, and costs some 70 ns for each instruction.
//
// The rules:
// - A miss costs its latency less what the instructions before it hide (kHidden). Misses in the machine's window after
//   it overlap with it. They cost nothing while L1D has room for them (Pipeline::misses); each further one costs its
//   share of the time in which that many lines come. This is the interval model of T. Karkhanis and J. E. Smith, "A
//   first-order superscalar processor model", 2004, with a limit for the misses under way.
// - A load whose address comes from another load of its segment waits for that one, so nothing hides its latency. It
//   costs all of it but the latency of a hit, which the cost of the code has already.
// - A store waits in a buffer: it costs its share, as the further misses do.
// - A misprediction costs the machine's penalty, and what its branch had to wait for in its segment (cost.h). It does
//   not end the overlap.
// - A fetch that misses costs half of its latency: instructions that were fetched before hide the rest.
//
// kHidden is the same for all machines. A prefetched line hits, so it costs nothing.
#pragma once

#include <array>
#include <cstdint>

#include "models/caches/core.h"
#include "models/machine.h"

namespace anyperf::models {

/// The stalls of one thread. Positions are in words of its records: a record has one for its segment, and one for each
/// register that an address depends on, which makes some three instructions a word.
class Stalls {
  public:
    /// What data is waited for, in the order of the quantities from kFirstDataStall on. Loads count by where their line
    /// was, with their TLB misses.
    enum class Data : std::uint8_t { translation, l2, l3, memory, store };
    /// Lost cycles.
    struct Cycles {
        std::array<std::uint64_t, 5> of_data{};  ///< by Data
        std::uint64_t fetching = 0;
        std::uint64_t mispredicted = 0;
    };

    explicit Stalls(const Machine& machine)
        : latencies_(machine.latencies),
          misses_(machine.pipeline.misses),
          window_(machine.pipeline.window * kWordsOfSixteen / 16) {}

    /// The next calls are about word `position` of the records that are being read.
    void at(std::uint64_t position) { position_ = start_ + position; }
    /// All records of these `words` words are read: the next calls are about the records after them.
    void next_records(std::uint64_t words) { start_ += words; }

    /// An instruction was fetched from `source`.
    void fetched(Source source) {
        if (source != Source::l1) lost_.fetching += latency_of(latencies_, source) / 2;
    }

    /// An operand was accessed. `waits`: its address comes from a load.
    void accessed(const AccessFacts& facts, Access kind, bool waits) {
        if (facts.source == Source::l1 && facts.tlb_misses == 0) return;
        lost_.of_data[static_cast<std::size_t>(kind == Access::store ? Data::store : data_from(facts.source))] +=
            cost_of(facts.latency(latencies_), kind, waits);
    }

    void mispredicted(std::uint64_t branches) { lost_.mispredicted += branches * latencies_.misprediction; }
    /// What mispredicted branches have waited for.
    void resolved(std::uint64_t cycles) { lost_.mispredicted += cycles; }

    /// The cycles lost since the last call.
    Cycles take() {
        const Cycles taken = lost_;
        lost_ = {};
        return taken;
    }

  private:
    static constexpr unsigned kHidden = 25;
    static constexpr unsigned kWordsOfSixteen = 5;  ///< words of the records of sixteen instructions

    static Data data_from(Source source) {
        switch (source) {
            case Source::l1: return Data::translation;
            case Source::l2: return Data::l2;
            case Source::l3:
            case Source::clean_peer:
            case Source::modified_peer: return Data::l3;
            default: return Data::memory;
        }
    }

    unsigned cost_of(unsigned latency, Access kind, bool waits) {
        if (kind == Access::store) return latency / misses_;
        if (waits) return latency > latencies_.l1 ? latency - latencies_.l1 : 0;
        if (position_ < window_end_) return ++under_way_ <= misses_ ? 0 : latency / misses_;
        if (latency <= kHidden) return 0;
        window_end_ = position_ + window_;
        under_way_ = 1;
        return latency - kHidden;
    }

    const Latencies& latencies_;
    unsigned misses_;
    std::uint64_t window_;  ///< in words
    unsigned under_way_ = 0;
    Cycles lost_;
    std::uint64_t start_ = 0;  ///< of the records that are being read, in words of all records so far
    std::uint64_t position_ = 0;
    std::uint64_t window_end_ = 0;  ///< until which misses overlap with the first one
};

}  // namespace anyperf::models
