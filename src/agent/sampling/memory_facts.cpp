// memory_facts.cpp: the fields are as in setup_pebs_sample_data() of Linux 6.18 for a PMU that knows the address of an
// access, but neither cache level nor latency.
#include "agent/sampling/memory_facts.h"

#include "abi/sample_bits.h"
#include "agent/agent_state.h"
#include "engine/freestanding/pages.h"
#include "engine/x86_64/decode/classes.h"

namespace anyperf::agent {

namespace {

using engine::x86_64::Access;
using engine::x86_64::Class;

constexpr std::uint64_t kMemoryFields = abi::sample("PERF_SAMPLE_ADDR") | abi::sample("PERF_SAMPLE_DATA_SRC") |
                                        abi::sample("PERF_SAMPLE_PHYS_ADDR") |
                                        abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE");

// mem_op of union perf_mem_data_src: its mask, the lowest five bits, and two of its values.
constexpr std::uint64_t kOperation = 0x1f;
constexpr std::uint64_t kLoad = 2;
constexpr std::uint64_t kStore = 4;

/// Whether the event counts this class of instructions and nothing else.
bool counts_only(const EventPage& event, Class id) {
    return event.source.terms == 1 && event.source.term[0].counter == static_cast<std::uint32_t>(id);
}

}  // namespace

bool samples_memory(const EventPage& event) {
    return event.source.kind == subsystem::Source::Kind::counters && event.shape.precise_ip != 0 &&
           (event.shape.sample_type & kMemoryFields) != 0;
}

void add_memory_facts(const engine::Thread& thread, const EventPage& event, subsystem::SampleFacts& facts) {
    // If an instruction loads and stores, an event of loads gets what it loads, an event of stores what it stores.
    const bool loads = !counts_only(event, Class::stores);
    const bool stores = !counts_only(event, Class::loads);
    for (std::uint32_t i = 0; i < thread.agent->last_accesses.count; ++i) {
        const Access& access = thread.agent->last_accesses.of[i];
        const std::uint64_t operation = (access.reads && loads ? kLoad : 0) | (access.writes && stores ? kStore : 0);
        if (operation == 0) continue;
        facts.addr = access.address;
        facts.data_source = (subsystem::kUnknownDataSource & ~kOperation) | operation;
        facts.data_page_size = engine::kPageBytes;
        return;
    }
}

}  // namespace anyperf::agent
