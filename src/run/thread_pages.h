// thread_pages.h: how a thread page of a run (run_state.h) is claimed: by the engine for a thread that it makes, by the
// broker for the command that it starts. A page is given back with ThreadPage::release().
#pragma once

#include "run/run_state.h"

namespace anyperf::run {

/// Not a page: all are in use, or the thread counts in private memory.
inline constexpr std::uint32_t kNoPage = ~0u;

/// Claims a page that was used and is free again; kNoPage if there is none.
inline std::uint32_t claim_used_thread_page(const RunUse& use, ThreadPage* pages) {
    const std::uint32_t used = __atomic_load_n(&use.thread_pages, __ATOMIC_RELAXED);
    for (std::uint32_t number = 0; number < used && number < kMaximumThreadPages; ++number)
        if (pages[number].claim()) return number;
    return kNoPage;
}

/// Claims a used page, else the next new one; kNoPage if all are in use.
inline std::uint32_t claim_thread_page(RunUse& use, ThreadPage* pages) {
    if (const std::uint32_t number = claim_used_thread_page(use, pages); number != kNoPage) return number;
    while (__atomic_load_n(&use.thread_pages, __ATOMIC_RELAXED) < kMaximumThreadPages) {
        const std::uint32_t number = __atomic_fetch_add(&use.thread_pages, 1, __ATOMIC_RELAXED);
        if (number < kMaximumThreadPages && pages[number].claim()) return number;
    }
    return kNoPage;
}

}  // namespace anyperf::run
