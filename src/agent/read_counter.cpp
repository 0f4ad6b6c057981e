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

/// What a counter of the CPU that no event of the thread uses has: a virtual one counts nothing then. False if the CPU
/// has no such counter. General counters are numbered from 0, fixed ones from bit 30 on (SDM volume 2, RDPMC).
bool read_unused(std::uint32_t number, std::uint64_t& value) {
    constexpr std::uint32_t kFixed = 1u << 30;
    constexpr std::uint32_t kGeneralCounters = 4;
    constexpr std::uint32_t kFixedCounters = 3;
    value = 0;
    return number < kGeneralCounters || (number >= kFixed && number - kFixed < kFixedCounters);
}

/// The event that `number` is the counter of, if the thread counts it; else null.
const EventPage* own_event(const Thread& thread, std::uint32_t number) {
    const Process* const process = existing_process(*thread.engine);
    if (process == nullptr || number == 0 || number >= run::kMaximumEvents || !process->events.contains(number))
        return nullptr;
    const EventPage& event = process->events[number];
    const bool counts = event.thread_page == thread.page_number &&
                        event.source.kind == subsystem::Source::Kind::counters && event.has_children == 0;
    return counts ? &event : nullptr;
}

/// Whether the event's page offers rdpmc.
bool offers_rdpmc(Thread& thread, const EventPage& event) {
    if (event.ring == 0) return false;
    const subsystem::Ring ring = ring_of(thread, event.ring);
    return ring.memory != nullptr && (ring.header().capabilities & abi::capability("cap_user_rdpmc")) != 0;
}

}  // namespace

bool read_counter(Thread& thread, std::uint32_t number, std::uint64_t& value) {
    const std::uint32_t allowed = __atomic_load_n(&thread.engine->run->rdpmc, __ATOMIC_ACQUIRE);
    if (allowed == run::kRdpmcNever) return false;
    const EventPage* const found = own_event(thread, number);
    if (found == nullptr) return allowed == run::kRdpmcAlways && read_unused(number, value);
    const EventPage& event = *found;
    if (allowed == run::kRdpmcIfMapped && !offers_rdpmc(thread, event)) return false;
    value = local_value(thread, event.source);
    ReadableSum sum;
    if (is_readable_sum(event.source, sum)) engine::read_in_code(thread, number, sum, event.source.shift & 63U);
    return true;
}

}  // namespace anyperf::agent
