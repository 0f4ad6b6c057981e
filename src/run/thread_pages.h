// thread_pages.h: claims a thread page of a run (run_state.h). The engine claims one for each thread that it makes, the
// broker for the command that it starts. ThreadPage::release() frees it.
#pragma once

#include "run/run_state.h"

namespace anyperf::run {

/// No page: all are in use, or the thread counts in private memory.
inline constexpr std::uint32_t kNoPage = ~0u;

/// Claims a page that was used and is free again; kNoPage if there is none.
inline std::uint32_t claim_used_thread_page(const RunUse& use, ThreadPage* pages) {
    const std::uint32_t used = __atomic_load_n(&use.thread_pages, __ATOMIC_RELAXED);
    for (std::uint32_t number = use.first_page; number < used && number < kMaximumThreadPages; ++number)
        if (pages[number].claim()) return number;
    return kNoPage;
}

/// Claims a page that was used and is free, else one that was never used; kNoPage if all are in use.
inline std::uint32_t claim_thread_page(RunUse& use, ThreadPage* pages) {
    if (const std::uint32_t number = claim_used_thread_page(use, pages); number != kNoPage) return number;
    while (__atomic_load_n(&use.thread_pages, __ATOMIC_RELAXED) < use.end_page) {
        const std::uint32_t number = __atomic_fetch_add(&use.thread_pages, 1, __ATOMIC_RELAXED);
        if (number < use.end_page && number < kMaximumThreadPages && pages[number].claim()) return number;
    }
    return kNoPage;
}

}  // namespace anyperf::run
