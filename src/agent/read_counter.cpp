#include "agent/read_counter.h"

#include "abi/mmap_page.h"
#include "agent/sampling/local_read.h"
#include "agent/sampling/rings.h"
#include "engine/threads/counting.h"

namespace anyperf::agent {

namespace {

using engine::x86_64::ReadableSum;

/// Whether translated code can add up what the event counts. `sum` is that then.
bool is_readable_sum(const subsystem::Source& source, ReadableSum& sum) {
    if (source.terms > ReadableSum::kTerms) return false;
    for (std::size_t i = 0; i < source.terms; ++i) {
        if (source.term[i].counter >= run::kCounters) return false;
        sum.row[i] = static_cast<std::uint8_t>(source.term[i].counter);
        sum.weight[i] = source.term[i].weight;
    }
    return true;
}

}  // namespace

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
    value = local_value(thread, event.source);
    ReadableSum sum;
    if (is_readable_sum(event.source, sum)) engine::read_in_code(thread, number, sum, event.source.shift & 63U);
    return true;
}

}  // namespace anyperf::agent
