// user_page.cpp: reads a counter without a system call, as the example of perf_event_open(2) does ("MMAP layout",
// cap_user_rdpmc).
//
// The kernel keeps in the page what a reader cannot know: the number of the hardware counter that the event has at this
// moment (`index`, from 1; 0: the event has no counter now), the count before the counter was last started (`offset`),
// and how to convert the clock into the times of the event. The reader adds the counter's own value to `offset`, and
// the time since the last update to both times. All fields may change at any moment, when the thread is scheduled out
// or migrates. The page is therefore a seqlock: a pass during which `lock` changed is thrown away and repeated.
//
// The result is the same as that of read(2), without entering the kernel. There is none if the event is not on a
// counter now, or if the page does not allow it; the caller then asks the kernel.
#include "counting/user_page.h"

#include <atomic>

namespace anyperf::counting {

namespace {

constexpr auto kReadsCounter = abi::capability("cap_user_rdpmc");
constexpr auto kHasClock = abi::capability("cap_user_time");
constexpr auto kClockIsShort = abi::capability("cap_user_time_short");

/// One pass over the page. Valid only if `lock` was even and the same before and after.
struct Snapshot {
    std::uint32_t index;
    std::uint64_t count;
    std::uint64_t enabled;
    std::uint64_t running;
    std::uint64_t capabilities;
    std::uint64_t clock;
    std::uint64_t offset_ns;
    std::uint32_t mult;
    std::uint16_t shift;
};

/// A load that the compiler may neither repeat nor leave out: the kernel changes the page.
template <class Field>
Field load(const Field& field) {
    return *const_cast<const volatile Field*>(&field);
}

/// A hardware counter is narrower than 64 bits, and the kernel starts it at a negative value, so its highest bit is a
/// sign.
std::uint64_t sign_extended(std::uint64_t value, unsigned width) {
    if (width == 0 || width >= 64) return value;
    const unsigned spare = 64 - width;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << spare) >> spare);
}

/// Extends a clock that has fewer than 64 bits: the page has its full value at the last update.
std::uint64_t full_clock(const abi::MmapPage& page, std::uint64_t clock, std::uint64_t capabilities) {
    if ((capabilities & kClockIsShort) == 0) return clock;
    const std::uint64_t last = load(page.time_cycles);
    return last + ((clock - last) & load(page.time_mask));
}

Snapshot take_snapshot(const abi::MmapPage& page, const Instructions& instructions) {
    Snapshot seen{};
    seen.capabilities = load(page.capabilities);
    seen.enabled = load(page.time_enabled);
    seen.running = load(page.time_running);
    if ((seen.capabilities & kHasClock) != 0) {
        seen.clock = full_clock(page, instructions.read_clock(), seen.capabilities);
        seen.offset_ns = load(page.time_offset);
        seen.mult = load(page.time_mult);
        seen.shift = load(page.time_shift);
    }
    // The clock is read before the counter, so the times belong to a moment just before the count.
    seen.index = load(page.index);
    seen.count = static_cast<std::uint64_t>(load(page.offset));
    if ((seen.capabilities & kReadsCounter) != 0 && seen.index != 0)
        seen.count += sign_extended(instructions.read_counter(seen.index - 1), load(page.pmc_width));
    return seen;
}

/// The time since the last update of the page, by the formula of the manual (time_shift, time_mult, time_offset).
/// Quotient and remainder are multiplied separately, so that no product overflows.
std::uint64_t nanoseconds(const Snapshot& seen) {
    const std::uint64_t quotient = seen.clock >> seen.shift;
    const std::uint64_t remainder = seen.clock & ((std::uint64_t{1} << seen.shift) - 1);
    return seen.offset_ns + quotient * seen.mult + ((remainder * seen.mult) >> seen.shift);
}

std::uint64_t rdpmc([[maybe_unused]] std::uint32_t index) {
#if defined(__x86_64__)
    return __builtin_ia32_rdpmc(static_cast<int>(index));
#else
    return 0;
#endif
}

std::uint64_t rdtsc() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

}  // namespace

Instructions processor_instructions() {
#if defined(__x86_64__)
    return {rdpmc, rdtsc};
#else
    return {nullptr, nullptr};
#endif
}

std::optional<Count> read_user_page(const abi::MmapPage& page, const Instructions& instructions) {
    if (instructions.read_counter == nullptr) return std::nullopt;
    Snapshot seen{};
    std::uint32_t before = 0;
    // The kernel writes the page on the CPU that this thread runs on, so a compiler barrier is enough (as in the
    // manual's example). An odd lock means that a write is not complete.
    do {
        before = load(page.lock);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        seen = take_snapshot(page, instructions);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } while (load(page.lock) != before || (before & 1) != 0);
    constexpr std::uint64_t kNeeded = kReadsCounter | kHasClock;
    if (seen.index == 0 || (seen.capabilities & kNeeded) != kNeeded) return std::nullopt;
    // The event has been on the counter since the last update (index is not 0), so both times advanced equally.
    const std::uint64_t since_scheduled = nanoseconds(seen);
    return make_count(seen.count, seen.enabled + since_scheduled, seen.running + since_scheduled);
}

}  // namespace anyperf::counting
