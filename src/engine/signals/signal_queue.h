// signal_queue.h: the signals of one thread that the engine has got and has not delivered to the application.
//
// The thread's signal handler may add a signal at any moment, also while the thread itself adds or takes one. So each
// place of the queue has a state, a place is taken by one compare-and-exchange, and no signal moves to another place.
// Another thread never touches the queue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine {

/// A signal that the kernel has delivered to the engine, and that the engine has not yet delivered to the application.
struct QueuedSignal {
    x86_64::SignalInfo info;
    std::uint64_t err = 0;  ///< of a fault: further fields of sigcontext
    std::uint64_t trapno = 0;
    std::uint64_t cr2 = 0;
    bool synchronous = false;  ///< raised by the instruction at the application's rip
};

class SignalQueue {
  public:
    /// Adds the signal after those that are queued. False if all places are taken.
    bool add(const QueuedSignal& signal) {
        for (Place& place : places_) {
            std::uint32_t expected = kEmpty;
            if (!__atomic_compare_exchange_n(&place.state, &expected, kChanging, false, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED))
                continue;
            place.signal = signal;
            place.arrival = __atomic_add_fetch(&arrivals_, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&place.state, kFull, __ATOMIC_RELEASE);
            return true;
        }
        return false;
    }

    /// The signal with the lowest rank, of equal ones the first that was added. `rank_of(signal)` is below 0 for a
    /// signal that does not count. Null if no signal counts.
    template <class RankOf>
    const QueuedSignal* first(RankOf rank_of) const {
        const std::size_t place = find(rank_of);
        return place < kPlaces ? &places_[place].signal : nullptr;
    }
    /// Takes the signal that first() would return, and returns true; false if first() would return null.
    template <class RankOf>
    bool take(RankOf rank_of, QueuedSignal& out) {
        const std::size_t place = find(rank_of);
        if (place == kPlaces) return false;
        out = places_[place].signal;
        __atomic_store_n(&places_[place].state, kEmpty, __ATOMIC_RELEASE);
        return true;
    }

    /// Whether `matches(signal)` holds for a queued signal.
    template <class Matches>
    bool has(Matches matches) const {
        for (const Place& place : places_)
            if (place.is_full() && matches(place.signal)) return true;
        return false;
    }

    bool empty() const {
        return !has([](const QueuedSignal&) { return true; });
    }

    /// Drops the signals for which `matches(signal)` holds.
    template <class Matches>
    void drop(Matches matches) {
        QueuedSignal dropped;
        while (take([&](const QueuedSignal& signal) { return matches(signal) ? 0 : -1; }, dropped)) {
        }
    }

  private:
    // States of a place. Clang has no atomic operations on enumerations.
    static constexpr std::uint32_t kEmpty = 0;
    static constexpr std::uint32_t kChanging = 1;
    static constexpr std::uint32_t kFull = 2;
    struct Place {
        QueuedSignal signal;
        std::uint64_t arrival = 0;
        std::uint32_t state = kEmpty;

        bool is_full() const { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == kFull; }
    };

    /// The handler returns with all signals but kEngineSignals blocked, so at most one other signal waits for its
    /// delivery. The rest of the places are for kEngineSignals that come by kill(2) while the application blocks them,
    /// one of each number, and for faults.
    static constexpr std::size_t kPlaces = 8;

    /// The place of the signal that first() returns; kPlaces for null.
    template <class RankOf>
    std::size_t find(RankOf rank_of) const {
        std::size_t best = kPlaces;
        int best_rank = 0;
        for (std::size_t i = 0; i < kPlaces; ++i) {
            const int rank = places_[i].is_full() ? rank_of(places_[i].signal) : -1;
            if (rank < 0) continue;
            const bool is_later = best < kPlaces && places_[i].arrival > places_[best].arrival;
            if (best < kPlaces && (rank > best_rank || (rank == best_rank && is_later))) continue;
            best = i;
            best_rank = rank;
        }
        return best;
    }

    Place places_[kPlaces];
    std::uint64_t arrivals_ = 0;
};

}  // namespace anyperf::engine
