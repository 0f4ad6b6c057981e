// state.h: the models of a process's threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/code_memory.h"
#include "engine/freestanding/lock.h"
#include "engine/modelling/access_routines.h"

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
class Repeats {
  public:
    std::uint64_t recorded = 0;  ///< words of records that generated code has replayed
    std::uint64_t failed = 0;    ///< look-ups that have failed there
    std::uint64_t passed = 0;    ///< words of records that comparisons have saved

    /// Code is translated that compares accesses, or that does not.
    void check(bool checked) {
        checked_ = checked;
        recorded = failed = passed = 0;
    }
    /// Whether the other kind of code would be faster. It is asked for only as often as pays its translation.
    bool should_change() {
        if (recorded + passed < enough_) return false;
        const bool change = checked_ ? passed < recorded : failed * kMostFailed < recorded;
        if (change && checked_) enough_ *= kLater;
        recorded = failed = passed = 0;
        return change;
    }

  private:
    static constexpr std::uint64_t kMostFailed = 50;  ///< words of records for a failed look-up: some 20 segments
    static constexpr std::uint64_t kLater = 8;

    bool checked_ = false;
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
    bool reserved = false;          ///< Cache::reserve_recordings() has been called
    bool replays_branches = false;  ///< some thread's predictors are fed with records
    bool sites_are_known = false;   ///< there may be traces that rely on sites_of_traces()
    bool forgets_sites = false;  ///< these must be removed: another thread is modelled now, or predictors were emptied
};

}  // namespace anyperf::engine
