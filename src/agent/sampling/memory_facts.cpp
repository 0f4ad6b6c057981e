// memory_facts.cpp: loads are described as in load_latency_data() and the table pebs_data_source of Linux 6.18
// (arch/x86/events/intel/ds.c), stores as in precise_datala_hsw() there, each for a Skylake. Two things differ. The
// kernel can't say which TLB had the page, and says nothing of a store's snoop, TLB and latency; the models know them.
#include "agent/sampling/memory_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "abi/data_source.h"
#include "abi/sample_bits.h"
#include "agent/agent_state.h"
#include "engine/freestanding/pages.h"
#include "engine/modelling/modelling.h"
#include "engine/modelling/thread_models.h"
#include "engine/x86_64/decode/classes.h"

namespace anyperf::agent {

namespace {

using engine::NotedAccesses;
using engine::x86_64::Access;
using engine::x86_64::Class;
using models::AccessFacts;

constexpr std::uint64_t kMemoryFields = abi::sample("PERF_SAMPLE_ADDR") | abi::sample("PERF_SAMPLE_DATA_SRC") |
                                        abi::sample("PERF_SAMPLE_PHYS_ADDR") | abi::sample("PERF_SAMPLE_WEIGHT") |
                                        abi::sample("PERF_SAMPLE_WEIGHT_STRUCT") |
                                        abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE");

/// The field of union perf_mem_data_src with this name.
consteval const abi::BitField& data_field(std::string_view name) {
    return *std::ranges::find(abi::kDataSourceFields, name, &abi::BitField::name);
}
consteval std::uint64_t mask_of(std::string_view field) {
    return ((std::uint64_t{1} << data_field(field).width) - 1) << data_field(field).bit;
}
consteval std::uint64_t value(std::string_view field, const auto& constants, std::string_view name) {
    return abi::value_of(constants, name) << data_field(field).bit;
}
consteval std::uint64_t operation(std::string_view name) {
    return value("mem_op", abi::kMemOps, name);
}
consteval std::uint64_t level(std::string_view name, std::string_view result = "PERF_MEM_LVL_HIT") {
    return value("mem_lvl", abi::kMemLevels, name) | value("mem_lvl", abi::kMemLevels, result);
}
consteval std::uint64_t number(std::string_view name) {
    return value("mem_lvl_num", abi::kMemLevelNumbers, name);
}
consteval std::uint64_t snoop(std::string_view name) {
    return value("mem_snoop", abi::kMemSnoops, name);
}
consteval std::uint64_t tlb(std::string_view result, std::string_view of) {
    return value("mem_dtlb", abi::kMemTlbs, result) | value("mem_dtlb", abi::kMemTlbs, of);
}

constexpr std::uint64_t kLoad = operation("PERF_MEM_OP_LOAD");
constexpr std::uint64_t kStore = operation("PERF_MEM_OP_STORE");

/// What is said of a load from each source, and of the snoop of a store, in the order of models::Source.
struct SourceRow {
    std::uint64_t level;
    std::uint64_t snoop;
};
constexpr std::array<SourceRow, models::kSources> kSourceRows{{
    {level("PERF_MEM_LVL_L1") | number("PERF_MEM_LVLNUM_L1"), snoop("PERF_MEM_SNOOP_NONE")},
    {level("PERF_MEM_LVL_L2") | number("PERF_MEM_LVLNUM_L2"), snoop("PERF_MEM_SNOOP_NONE")},
    {level("PERF_MEM_LVL_L3") | number("PERF_MEM_LVLNUM_L3"), snoop("PERF_MEM_SNOOP_NONE")},
    {level("PERF_MEM_LVL_L3") | number("PERF_MEM_LVLNUM_L3"), snoop("PERF_MEM_SNOOP_HIT")},
    {level("PERF_MEM_LVL_L3") | number("PERF_MEM_LVLNUM_L3"), snoop("PERF_MEM_SNOOP_HITM")},
    {level("PERF_MEM_LVL_LOC_RAM") | number("PERF_MEM_LVLNUM_RAM"),
     snoop("PERF_MEM_SNOOP_NONE") | snoop("PERF_MEM_SNOOP_MISS")},
}};

constexpr std::uint64_t kStoreHit = level("PERF_MEM_LVL_L1") | number("PERF_MEM_LVLNUM_L1");
constexpr std::uint64_t kStoreMiss = level("PERF_MEM_LVL_L1", "PERF_MEM_LVL_MISS") | number("PERF_MEM_LVLNUM_NA");

constexpr std::uint64_t tlb_of(const AccessFacts& facts) {
    if (facts.page_walks != 0) return tlb("PERF_MEM_TLB_MISS", "PERF_MEM_TLB_L2");
    if (facts.tlb_misses != 0) return tlb("PERF_MEM_TLB_HIT", "PERF_MEM_TLB_L2");
    return tlb("PERF_MEM_TLB_HIT", "PERF_MEM_TLB_L1");
}

/// DATA_SRC of an access. One that loads and stores is described as the load.
std::uint64_t data_source(std::uint64_t operation, const AccessFacts& facts, bool atomic) {
    const SourceRow& row = kSourceRows[static_cast<std::size_t>(facts.source) % kSourceRows.size()];
    const std::uint64_t level = (operation & kLoad) != 0             ? row.level
                                : facts.source == models::Source::l1 ? kStoreHit
                                                                     : kStoreMiss;
    const std::uint64_t lock = atomic ? value("mem_lock", abi::kMemLocks, "PERF_MEM_LOCK_LOCKED") : 0;
    return operation | level | row.snoop | tlb_of(facts) | lock;
}

/// Whether the event counts this class of instructions and nothing else.
bool counts_only(const EventPage& event, Class id) {
    return event.source.terms == 1 && event.source.term[0].counter == static_cast<std::uint32_t>(id);
}

/// Whether the event counts loads by their latency.
bool counts_slow_loads(const EventPage& event) {
    return event.source.terms == 1 && event.source.term[0].counter >= subsystem::Source::kLoadsOf;
}

/// What the models found out about an access of the last instruction.
AccessFacts facts_of(const NotedAccesses& noted, std::uint64_t pc, std::uint64_t address) {
    for (std::uint32_t i = 0; i < noted.count && i < NotedAccesses::kFirst; ++i)
        if (noted.first[i].pc == pc && noted.first[i].address == address) return noted.first[i].facts;
    return {};
}

void describe(const engine::Thread& thread, std::uint64_t address, std::uint64_t operation, const AccessFacts& of,
              subsystem::SampleFacts& facts) {
    facts.addr = address;
    facts.data_source = data_source(operation, of, thread.agent->last_is_atomic);
    facts.data_page_size = engine::kPageBytes;
    facts.weight = of.latency(thread.engine->run->machine.latencies);
}

}  // namespace

bool samples_memory(const EventPage& event) {
    return event.source.kind == subsystem::Source::Kind::counters && event.shape.precise_ip != 0 &&
           (event.shape.sample_type & kMemoryFields) != 0;
}

void add_memory_facts(const engine::Thread& thread, const EventPage& event, subsystem::SampleFacts& facts) {
    const std::uint64_t pc = thread.agent->last_retired_pc;
    const NotedAccesses* const noted = engine::noted_accesses(thread);
    // The load that was slow enough may be a later iteration of a REP string instruction.
    if (counts_slow_loads(event) && noted != nullptr && noted->slowest_cycles != 0 && noted->slowest_load.pc == pc)
        return describe(thread, noted->slowest_load.address, kLoad, noted->slowest_load.facts, facts);
    // If an instruction loads and stores, an event of loads gets what it loads, an event of stores what it stores.
    const bool loads = !counts_only(event, Class::stores);
    const bool stores = !counts_only(event, Class::loads) && !counts_slow_loads(event);
    for (std::uint32_t i = 0; i < thread.agent->last_accesses.count; ++i) {
        const Access& access = thread.agent->last_accesses.of[i];
        const std::uint64_t operation = (access.reads && loads ? kLoad : 0) | (access.writes && stores ? kStore : 0);
        if (operation == 0) continue;
        if (noted != nullptr)
            return describe(thread, access.address, operation, facts_of(*noted, pc, access.address), facts);
        facts.addr = access.address;
        facts.data_source = (subsystem::kUnknownDataSource & ~mask_of("mem_op")) | operation;
        facts.data_page_size = engine::kPageBytes;
        return;
    }
}

}  // namespace anyperf::agent
