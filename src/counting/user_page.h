// user_page.h: reads a counter without a system call, from the page that the kernel shares (perf_event_open(2), "struct
// perf_event_mmap_page"; abi/mmap_page.h).
//
// The page says which hardware counter the event is on (index), what to add to its value (offset), and how long the
// event was enabled and running at the last update. The kernel rewrites it when it schedules the thread; `lock` is a
// sequence lock that shows a concurrent change. Only an event of the calling thread can be read this way: on another
// CPU rdpmc would read a counter of that CPU.
#pragma once

#include <cstdint>
#include <optional>

#include "abi/mmap_page.h"
#include "anyperf/count.h"

namespace anyperf::counting {

/// The two instructions that reading takes, as functions so that a test can replace the processor.
struct Instructions {
    std::uint64_t (*read_counter)(std::uint32_t index);
    std::uint64_t (*read_clock)();
};

/// rdpmc and rdtsc; both null if anyperf is built for another architecture.
Instructions processor_instructions();

/// The count now. Empty if read(2) must be used: the event is not on a hardware counter, user space may not read it, or
/// the page has no clock. Call it on the thread that is counted; elsewhere the result is wrong.
std::optional<Count> read_user_page(const abi::MmapPage& page, const Instructions& instructions);

}  // namespace anyperf::counting
