#include "agent/read_counter.h"

#include "abi/mmap_page.h"
#include "agent/sampling/local_read.h"
#include "agent/sampling/rings.h"
#include "subsystem/shared/page_values.h"

namespace anyperf::agent {

bool read_counter(Thread& thread, std::uint32_t number, std::uint64_t& value) {
    const Process* const process = existing_process(*thread.engine);
    if (process == nullptr || number == 0 || number >= run::kMaximumEvents || !process->events.contains(number))
        return false;
    const EventPage& event = process->events[number];
    if (event.thread_page != thread.page_number || event.source.kind != subsystem::Source::Kind::counters) return false;
    if (event.has_children != 0 || event.ring == 0) return false;
    const subsystem::Ring ring = ring_of(thread, event.ring);
    if (ring.memory == nullptr) return false;
    const abi::MmapPage& header = ring.header();
    if ((header.capabilities & abi::capability("cap_user_rdpmc")) == 0) return false;
    // A reader that sees the page change reads again, so it does not matter which of two offsets this is.
    const std::uint64_t count = count_at(event, local_value(thread, event.source));
    value = (count - static_cast<std::uint64_t>(header.offset)) & ((std::uint64_t{1} << subsystem::kCounterBits) - 1);
    return true;
}

}  // namespace anyperf::agent
