// thread_pages.h: who takes a thread page of a run (run_state.h): the engine for a thread that it makes, the host for a
// command that it starts.
#pragma once

#include "engine/run_state.h"

namespace anyperf::engine {

inline constexpr std::uint32_t kNoPage = ~0u;  ///< all are taken; or the thread counts for itself

/// One that was used and is free again.
inline std::uint32_t take_used_page(const RunHeader& run, ThreadPage* pages) {
    const std::uint32_t used = __atomic_load_n(&run.thread_pages, __ATOMIC_RELAXED);
    for (std::uint32_t number = 0; number < used && number < kMaximumThreadPages; ++number)
        if (pages[number].claim()) return number;
    return kNoPage;
}

/// A page that nobody has: a used one, else the next new one.
inline std::uint32_t take_page(RunHeader& run, ThreadPage* pages) {
    if (const std::uint32_t number = take_used_page(run, pages); number != kNoPage) return number;
    while (__atomic_load_n(&run.thread_pages, __ATOMIC_RELAXED) < kMaximumThreadPages) {
        const std::uint32_t number = __atomic_fetch_add(&run.thread_pages, 1, __ATOMIC_RELAXED);
        if (number < kMaximumThreadPages && pages[number].claim()) return number;
    }
    return kNoPage;
}

}  // namespace anyperf::engine
