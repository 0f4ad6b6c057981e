#include "engine/instrumentation/suspended_stacks.h"

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

StackOfCalls& SuspendedStacks::begin() {
    StackOfCalls* oldest = &stacks[0];
    for (std::size_t i = 0; i < kMost; ++i) {
        StackOfCalls& each = stacks[i];
        if (each.count == 0) {
            used = i < used ? used : i + 1;
            return each;
        }
        if (each.kept_at < oldest->kept_at) oldest = &each;
    }
    oldest->count = 0;
    return *oldest;
}

void SuspendedStacks::keep(StackOfCalls& stack) {
    stack.kept_at = ++times_kept;
    if (stack.count == 0) return;
    for (std::size_t i = 0; i < used; ++i) {
        StackOfCalls& known = stacks[i];
        if (&known == &stack || !known.is_near(stack.lowest(), stack.highest())) continue;
        for (std::size_t j = 0; j < known.count; ++j)
            if (known.calls[j].caller_rsp > stack.highest()) stack.append(known.calls[j]);
        known.count = 0;
    }
}

StackOfCalls* SuspendedStacks::find(std::uint64_t rsp) {
    StackOfCalls* found = nullptr;
    for (std::size_t i = 0; i < used; ++i) {
        StackOfCalls& each = stacks[i];
        if (each.is_near(rsp, rsp) && (found == nullptr || each.kept_at > found->kept_at)) found = &each;
    }
    return found;
}

SuspendedStacks* suspended_stacks(Thread& thread) {
    SuspendedStacks*& stacks = thread.open_calls.suspended;
    if (stacks == nullptr) stacks = static_cast<SuspendedStacks*>(reserve_pages(page_up(sizeof(SuspendedStacks))));
    return stacks;
}

void release_suspended_stacks(Thread& thread) {
    if (thread.open_calls.suspended == nullptr) return;
    release_pages(thread.open_calls.suspended, page_up(sizeof(SuspendedStacks)));
    thread.open_calls.suspended = nullptr;
}

}  // namespace anyperf::engine
