// advice.cpp: madvise(2) and process_madvise(2), which can give code other contents without a write. What an advice
// does to code is a row of kAdvices.
#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

enum class Effect : std::uint8_t {
    discards,        ///< the contents may be others after the call
    changes_unseen,  ///< they may become others later, in this process or in the child of a fork
};

struct Advice {
    std::uint64_t number;
    Effect effect;
};

constexpr Advice kAdvices[] = {
    {MADV_DONTNEED, Effect::discards},
    {MADV_REMOVE, Effect::discards},
    {24, Effect::discards},               // MADV_DONTNEED_LOCKED, since Linux 5.18
    {102, Effect::discards},              // MADV_GUARD_INSTALL, since Linux 6.13
    {MADV_FREE, Effect::changes_unseen},  // once memory is scarce the pages become zero
    {MADV_WIPEONFORK, Effect::changes_unseen},
    {MADV_DONTFORK, Effect::changes_unseen},
};

/// The row of the advice; null if it does nothing to code.
const Advice* find(std::uint64_t number) {
    const Advice* const row = std::ranges::find(kAdvices, number, &Advice::number);
    return row != std::end(kAdvices) ? row : nullptr;
}

bool is_ours(std::uint64_t start, std::uint64_t bytes) {
    return bytes != 0 && own_pages.touches(start, page_up(start + bytes));
}

/// Updates what the engine knows after an advice. Precondition: the cache's lock is held.
void follow(Engine& engine, const Advice& advice, std::uint64_t start, std::uint64_t bytes) {
    const std::uint64_t end = page_up(start + bytes);
    if (!engine.cache.executable.touches(start, end)) return;
    engine.cache.remove_range(start, end);
    if (advice.effect == Effect::changes_unseen)
        engine.cache.executable.set_shared(start, end);
    else
        engine.cache.executable.set_unstored(start, end);
}

/// Calls `visit` with each range of the program's array of struct iovec, until it returns false.
template <class Visit>
void for_each_range(const Call& call, Visit visit) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(call.argument[2], UIO_MAXIOV); ++i) {
        iovec range{};
        const std::uint64_t place = call.argument[1] + i * sizeof range;
        if (!x86_64::guarded_copy(&range, at_address<const void>(place), sizeof range)) return;
        if (!visit(address_of(range.iov_base), std::uint64_t{range.iov_len})) return;
    }
}

bool has_range_of_ours(const Call& call) {
    bool found = false;
    for_each_range(call, [&](std::uint64_t start, std::uint64_t bytes) {
        found = is_ours(start, bytes);
        return !found;
    });
    return found;
}

}  // namespace

namespace {

/// Makes the call for the parts of the range that are not the engine's, in their order. The first error ends it as in
/// the kernel, which goes on after a part that is not mapped (madvise_walk_vmas() in mm/madvise.c).
long advise(Call& call) {
    const auto [start, bytes, number, a, b, c] = call.argument;
    if (!is_ours(start, bytes)) return call.pass_to_kernel();
    call.argument[1] = 0;  // checks the other arguments
    if (const long got = call.pass_to_kernel(); is_error(got)) return got;
    const std::uint64_t end = page_up(start + bytes);
    for (std::uint64_t at = start; at < end;) {
        const OwnPages::Range own = own_pages.first_in(at, end);
        const std::uint64_t part_end = own.end != 0 ? std::max(own.start, at) : end;
        call.argument[0] = at;
        call.argument[1] = part_end - at;
        const long got = call.pass_to_kernel();
        if (is_error(got) && got != -ENOMEM) return got;
        at = own.end != 0 ? own.end : end;
    }
    return -ENOMEM;
}

}  // namespace

// The lock is held from before the call, so that no thread translates code that is about to go. It is released first
// if no code is concerned. The kernel takes the advice for the mapped parts of a range also if it answers ENOMEM.
long madvise(Call& call) {
    const auto [start, bytes, number, a, b, c] = call.argument;
    const Advice* const advice = find(number);
    if (advice == nullptr) return advise(call);
    Cache& cache = call.engine.cache;
    cache.lock.lock();
    const bool concerns_code = cache.executable.touches(start, page_up(start + bytes));
    if (!concerns_code) cache.lock.unlock();
    const long got = advise(call);
    if (!concerns_code) return got;
    follow(call.engine, *advice, start, bytes);
    cache.lock.unlock();
    return got;
}

// Of another process the kernel accepts no advice that has a row (process_madvise_remote_valid() in mm/madvise.c). Of
// the own one it accepts all since Linux 6.13.
long process_madvise(Call& call) {
    const Advice* const advice = find(call.argument[3]);
    if (advice == nullptr) return call.pass_to_kernel();
    if (has_range_of_ours(call)) return -ENOMEM;
    const LockGuard held{call.engine.cache.lock};
    const long got = call.pass_to_kernel();
    for_each_range(call, [&](std::uint64_t start, std::uint64_t bytes) {
        if (bytes != 0) follow(call.engine, *advice, start, bytes);
        return true;
    });
    return got;
}

}  // namespace anyperf::engine::handlers
