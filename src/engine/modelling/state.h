// state.h: the models of a process's threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/cache/code_memory.h"
#include "engine/freestanding/lock.h"
#include "engine/modelling/access_routines.h"
#include "engine/modelling/page_choice.h"

namespace anyperf::models {
class Core;
class SharedLevel;
}  // namespace anyperf::models

namespace anyperf::engine {

struct ThreadModels;

/// The memory of the code of replay_code.h.
struct ReplayMemory {
    CodeMemory code;
    AccessRoutines routines;
    std::size_t first = 0;  ///< where segments' code begins
    std::size_t used = 0;
    std::uint32_t generation = 0;  ///< of the cache whose segments have code here
    bool refused = false;          ///< the kernel has refused the memory
};

/// How often accesses repeat, which says whether code should compare them with the most recent ones, or record them all
/// (x86_64/accesses/check_accesses.cpp). To record them is cheaper unless nearly all repeat.
///
/// Generated code does not tell whether a line was the most recent one of its set. So while all are recorded some of
/// the drains are measured, without that code.
class Repeats {
  public:
    std::uint64_t recorded = 0;  ///< words of records of segments that have generated code
    std::uint64_t measured = 0;  ///< of these, those that were measured
    std::uint64_t failed = 0;    ///< accesses that have changed the most recent line of a set there
    std::uint64_t passed = 0;    ///< words of records that comparisons have saved

    /// Code is translated that compares accesses, or that does not.
    void check(bool checked) {
        checked_ = checked;
        recorded = measured = failed = passed = 0;
    }
    /// Whether the records that are replayed now are to be measured.
    bool measures_next() { return !checked_ && ++drains_ % period_ == 0; }
    /// Whether the other kind of code would be faster. It is asked for only as often as pays its translation.
    bool should_change() {
        if (recorded + passed < enough_ || (!checked_ && measured < kLeastMeasured)) return false;
        const bool change = checked_ ? passed * kLeastPassed < recorded : failed * kMostFailed < measured;
        if (change && checked_) enough_ *= kLater;
        if (!checked_) period_ = std::min(2 * period_, kLongestPeriod);
        recorded = measured = failed = passed = 0;
        return change;
    }

  private:
    // Where a fifth of the words is saved, both kinds of code take the same time.
    static constexpr std::uint64_t kLeastPassed = 4;  ///< words of records for one that is saved
    static constexpr std::uint64_t kMostFailed = 40;  ///< words of records for a failed look-up: some 16 segments
    static constexpr std::uint64_t kLeastMeasured = 2048;
    static constexpr std::uint64_t kLater = 8;
    /// To measure takes ten times what generated code takes.
    static constexpr std::uint32_t kLongestPeriod = 1024;

    bool checked_ = false;
    std::uint32_t drains_ = 0;
    std::uint32_t period_ = 32;  ///< one drain of so many is measured
    std::uint64_t enough_ = 65536;
};

/// The models of a process. `lock` may be taken under Cache::lock, and while it is held only the lock of own_pages is
/// taken. It is held while a thread feeds its models, and over a fork.
struct Modelling {
    Lock lock;
    ThreadModels* threads = nullptr;        ///< list of the models of all modelled threads
    models::SharedLevel* shared = nullptr;  ///< made with the first of these
    models::Core* only_core = nullptr;      ///< if the machine has one core; made with the first of these
    ReplayMemory code;
    std::uint32_t times_removed = 0;  ///< how often code was translated again to stop recording
    Repeats repeats;
    PageChoice pages;
    bool reserved = false;          ///< Cache::reserve_recordings() has been called
    bool replays_branches = false;  ///< some thread's predictors are fed with records
    bool sites_are_known = false;   ///< there may be traces that rely on sites_of_traces()
    bool forgets_sites = false;  ///< these must be removed: another thread is modelled now, or predictors were emptied
};

}  // namespace anyperf::engine
