#include "engine/instrumentation/open_calls.h"

#include "engine/freestanding/pages.h"
#include "engine/instrumentation/suspended_stacks.h"

namespace anyperf::engine {

namespace {

/// Frames are assumed to be smaller, and stacks to be farther apart.
constexpr std::uint64_t kFarthest = 8u << 20;
/// Within this distance below the newest call a return is a jump of the same function: a pushed address.
constexpr std::uint64_t kInFrame = 4096;
/// Entries that are not open any more and that a sample may skip before they are removed.
constexpr std::size_t kMostSkipped = 512;

std::uint64_t rsp_of(const Thread& thread) {
    return thread.registers.r[x86_64::rsp];
}

OpenCall* list_of(const Thread& thread) {
    return at_address<OpenCall>(address_of(&thread) + kOpenCallsOffset);
}

std::size_t count_of(const Thread& thread) {
    return thread.open_calls.top / sizeof(OpenCall);
}

void set_count(Thread& thread, std::size_t count) {
    thread.open_calls.top = static_cast<std::uint32_t>(count * sizeof(OpenCall));
}

void append(Thread& thread, const OpenCall& call) {
    if (thread.open_calls.top >= kOpenCallsBytes) make_room_for_calls(thread);
    list_of(thread)[count_of(thread)] = call;
    thread.open_calls.top += sizeof(OpenCall);
}

/// Whether the process notes open calls now.
bool notes_calls(const Thread& thread) {
    return thread.open_calls.ready && (thread.engine->instrumentation.branches & branch::kOpenCalls) != 0;
}

/// Whether `lower` and `upper` are taken to be on one stack.
bool is_near(std::uint64_t lower, std::uint64_t upper) {
    return upper - lower <= kFarthest || lower - upper <= kFarthest;
}

/// Makes the memory accessible. False if the kernel refuses.
bool prepare(Thread& thread) {
    OpenCallsState& state = thread.open_calls;
    if (state.ready) return true;
    const std::uint64_t list = address_of(list_of(thread));
    if (is_error(kernel_call(__NR_mprotect, list, kOpenCallsBytes, PROT_READ | PROT_WRITE))) return false;
    state.top = kFirstOpenCall;
    state.ready = true;
    return true;
}

/// What the program's memory has at `address`; 0 if it cannot be read.
std::uint64_t word_at(std::uint64_t address) {
    std::uint64_t word = 0;
    return x86_64::guarded_copy(&word, at_address<const void>(address), sizeof word) ? word : 0;
}

bool is_code(const Thread& thread, std::uint64_t address) {
    const LockGuard held{thread.engine->cache.lock};
    return thread.engine->cache.executable.find(address) != nullptr;
}

/// Whether the frame is still there, which lies above the innermost: its place on the stack has its return address, or
/// another address of code, since programs change return addresses. A signal's frame may have any address.
bool has_frame(const Thread& thread, const OpenCall& call, std::uint64_t now) {
    return now == call.return_address || (call.return_address & kSignalFrame) != 0 || is_code(thread, now);
}

/// rsp once the call has returned. For a signal's frame, the interrupted rsp, which is before the interrupted address.
std::uint64_t rsp_after(const OpenCall& call) {
    const bool signal = (call.return_address & kSignalFrame) != 0;
    return signal ? word_at(call.slot() - sizeof(std::uint64_t)) : call.caller_rsp;
}

/// Walks from the newest entry to the outermost, and calls `each(entry, open, address)`. `open`: the entry is of a
/// frame of the stack that rsp is on, and it returns to `address`, which is what its place on the stack has now. The
/// walk ends if `each` returns false.
template <class Each>
void visit(const Thread& thread, Each each) {
    const OpenCall* const list = list_of(thread);
    std::uint64_t inner = rsp_of(thread);
    for (std::size_t i = count_of(thread); i-- > kFirstOpenCall / sizeof(OpenCall);) {
        const OpenCall& call = list[i];
        const bool above = call.caller_rsp > inner && call.caller_rsp - inner <= kFarthest;
        const std::uint64_t now = above ? word_at(call.slot()) : 0;
        const bool open = above && has_frame(thread, call, now);
        if (!each(call, open, now)) return;
        if (open) inner = rsp_after(call);
    }
}

/// Removes the entries of frames that were left. Of other stacks it removes those whose return addresses are gone.
void remove_closed(Thread& thread) {
    OpenCall* const list = list_of(thread);
    std::size_t to = kOpenCallsBytes / sizeof(OpenCall);
    const std::size_t end = to;
    std::uint64_t inner = rsp_of(thread);
    visit(thread, [&](const OpenCall& call, bool open, std::uint64_t) {
        if (open) inner = call.caller_rsp;
        const bool elsewhere = !open && !is_near(inner, call.caller_rsp) && word_at(call.slot()) == call.return_address;
        // From the end downwards: an entry is read before its place is written.
        if (open || elsewhere) list[--to] = call;
        return true;
    });
    const std::size_t kept = end - to, first = kFirstOpenCall / sizeof(OpenCall);
    for (std::size_t i = 0; i < kept; ++i) list[first + i] = list[to + i];
    set_count(thread, first + kept);
}

/// Appends what frame pointers show, the outermost call first. Only addresses of code that lie above each other.
void append_by_frame_pointers(Thread& thread) {
    constexpr std::size_t kMost = 128;
    OpenCall found[kMost];
    std::size_t count = 0;
    std::uint64_t frame = thread.registers.r[x86_64::rbp], inner = rsp_of(thread);
    while (count < kMost && frame >= inner && frame - inner <= kFarthest) {
        std::uint64_t words[2] = {};
        if (!x86_64::guarded_copy(words, at_address<const void>(frame), sizeof words)) break;
        if (!is_code(thread, words[1])) break;
        inner = frame + sizeof words;
        found[count++] = {words[1], inner};
        frame = words[0];
    }
    while (count > 0) append(thread, found[--count]);
}

/// Puts the list aside, stack by stack, and takes the list of the stack that `rsp` is on.
void change_stack(Thread& thread, std::uint64_t rsp) {
    constexpr unsigned kMostStacks = 64;
    SuspendedStacks* const stacks = suspended_stacks(thread);
    const OpenCall* const list = list_of(thread);
    const std::size_t first = kFirstOpenCall / sizeof(OpenCall);
    std::size_t left = count_of(thread);
    for (unsigned i = 0; stacks != nullptr && i < kMostStacks && left > first; ++i) {
        StackOfCalls& stack = stacks->begin();
        std::uint64_t inner = 0;
        for (; left > first; --left) {
            const OpenCall& call = list[left - 1];
            if (inner != 0 && !is_near(inner, call.caller_rsp)) break;
            if (call.caller_rsp <= inner) continue;  // of a frame that was left
            stack.append(call);
            inner = call.caller_rsp;
        }
        stacks->keep(stack);
    }
    set_count(thread, first);
    StackOfCalls* const known = stacks != nullptr ? stacks->find(rsp) : nullptr;
    if (known == nullptr) return;
    for (std::size_t i = known->count; i-- > 0;)
        if (known->calls[i].caller_rsp > rsp) append(thread, known->calls[i]);
    known->count = 0;
}

/// Whether rsp is on a stack that was put aside. Then the thread has come to it by a jump, or is about to return there.
bool is_on_suspended_stack(const Thread& thread) {
    return thread.open_calls.suspended != nullptr && thread.open_calls.suspended->find(rsp_of(thread)) != nullptr;
}

}  // namespace

void begin_open_calls(Thread& thread) {
    const bool was_ready = thread.open_calls.ready;
    if (!prepare(thread)) return;
    const bool goes_on = thread.open_calls.kept || (was_ready && notes_calls(thread));
    thread.open_calls.kept = false;
    if (goes_on) return;
    thread.open_calls.top = kFirstOpenCall;
    append_by_frame_pointers(thread);
}

void copy_open_calls(const Thread& from, Thread& to) {
    if (!notes_calls(from) || !prepare(to)) return;
    for (std::size_t i = kFirstOpenCall / sizeof(OpenCall); i < count_of(from); ++i) list_of(to)[i] = list_of(from)[i];
    to.open_calls.top = from.open_calls.top;
}

void settle_open_calls(Thread& thread) {
    thread.open_calls.unmatched = 0;
    const std::size_t first = kFirstOpenCall / sizeof(OpenCall);
    std::size_t count = count_of(thread);
    if (!thread.open_calls.ready || count <= first) return;
    const OpenCall* const list = list_of(thread);
    const std::uint64_t rsp = rsp_of(thread);
    const OpenCall& newest = list[count - 1];
    if (newest.caller_rsp > rsp && newest.caller_rsp - rsp <= kInFrame) return;
    const bool same_stack =
        newest.caller_rsp <= rsp && is_near(newest.caller_rsp, rsp) && rsp <= list[first].caller_rsp + kInFrame;
    if (!same_stack) return change_stack(thread, rsp);
    while (count > first && list[count - 1].caller_rsp <= rsp) --count;
    set_count(thread, count);
}

std::size_t open_callers(Thread& thread, std::span<OpenCall> out) {
    if (!thread.open_calls.ready) return 0;
    if (is_on_suspended_stack(thread)) change_stack(thread, rsp_of(thread));
    std::size_t count = 0, skipped = 0;
    visit(thread, [&](const OpenCall& call, bool open, std::uint64_t address) {
        if (!open) return ++skipped <= kMostSkipped * 16;
        if (count == out.size()) return false;
        out[count++] = {address, rsp_after(call)};
        return true;
    });
    if (skipped > kMostSkipped) remove_closed(thread);
    return count;
}

bool is_on_open_calls(const Thread& thread, std::uint64_t address) {
    const std::uint64_t distance = address - address_of(&thread);
    return distance >= kOpenCallsOffset && distance < kOpenCallsOffset + kOpenCallsBytes + kPageBytes;
}

void make_room_for_calls(Thread& thread) {
    thread.open_calls.full = false;
    if (!thread.open_calls.ready) {
        prepare(thread);
        return;
    }
    remove_closed(thread);
    // The innermost three quarters stay: a sample has no room for as many callers.
    constexpr std::size_t kMost = kOpenCallsBytes / sizeof(OpenCall) / 4 * 3;
    const std::size_t first = kFirstOpenCall / sizeof(OpenCall), count = count_of(thread);
    if (count <= kMost) return;
    OpenCall* const list = list_of(thread);
    for (std::size_t i = 0; i < kMost; ++i) list[first + i] = list[count - kMost + i];
    set_count(thread, first + kMost);
}

void note_signal_frame(Thread& thread, std::uint64_t interrupted) {
    if (!notes_calls(thread)) return;
    append(thread, {word_at(interrupted) | kSignalFrame, interrupted + sizeof(std::uint64_t)});
    const std::uint64_t frame = rsp_of(thread);
    append(thread, {word_at(frame), frame + sizeof(std::uint64_t)});
}

void leave_signal_frame(Thread& thread, std::uint64_t interrupted) {
    if (!notes_calls(thread)) return;
    const OpenCall* const list = list_of(thread);
    for (std::size_t i = count_of(thread); i-- > kFirstOpenCall / sizeof(OpenCall);) {
        if (list[i].slot() != interrupted || (list[i].return_address & kSignalFrame) == 0) continue;
        return set_count(thread, i);
    }
}

}  // namespace anyperf::engine
