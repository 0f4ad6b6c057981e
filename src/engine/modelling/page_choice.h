// page_choice.h: whether the models of a process look up the page of each access, or take the time of its last use from
// the lines (models/caches/page_times.h). Both ways count the same.
//
// An access that just hits takes a third less without its page. But for each page that leaves a first TLB, its lines
// are looked at, so a program that misses TLBs often is faster with look-ups.
#pragma once

#include <cstdint>

#include "run/facts.h"

namespace anyperf::engine {

/// Precondition of all functions: the lock of the models is held.
class PageChoice {
  public:
    /// @param wish RunHeader::pages. The child of a fork goes on as its parent, whose code it has.
    void begin(std::uint32_t wish) {
        if (!begun_) none_ = wish != run::kPagesLookedUp;
        begun_ = true;
    }
    /// Accesses that just hit look up no page.
    bool none() const { return none_; }
    /// After a drain of so many words of records, in which first TLBs have lacked so many pages. True: now it is the
    /// other way.
    bool changes_after(std::uint32_t wish, std::uint64_t words, std::uint64_t misses) {
        words_ += words;
        misses_ += misses;
        if (words_ < (wish == run::kPagesInTurns ? kTurn : enough_)) return false;
        const bool change = wish == run::kPagesInTurns || (wish == 0 && is_other_better());
        if (change && none_ && wish == 0) enough_ *= kLater;
        none_ ^= change;
        words_ = misses_ = 0;
        return change;
    }

  private:
    bool is_other_better() const { return none_ ? words_ < kFewWords * misses_ : words_ > kManyWords * misses_; }

    // Words of records for each page that a first TLB lacks. Where there are kFewWords to kManyWords, both ways take
    // about the same time.
    static constexpr std::uint64_t kFewWords = 32;
    static constexpr std::uint64_t kManyWords = 128;
    static constexpr std::uint64_t kTurn = 2048;
    static constexpr std::uint64_t kLater = 4;

    std::uint64_t words_ = 0;
    std::uint64_t misses_ = 0;
    std::uint64_t enough_ = 16384;  ///< words; more after each return to look-ups, because a change costs
    bool none_ = true;
    bool begun_ = false;
};

}  // namespace anyperf::engine
