// cpu_pmu.cpp: translates an attr to a quantity by the tables of cpu_events.h, and a quantity to the counters that it
// may use. The errno of a refusal decides what the subsystem does: ENOENT means "ask the next PMU", any other is the
// answer.
#include "pmu/cpu/cpu_pmu.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "abi/branch_types.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "pmu/cpu/cpu_events.h"
#include "pmu/cpu/identity.h"
#include "pmu/cpu/offcore.h"
#include "try.h"

namespace anyperf::pmu {
namespace {

using subsystem::Answer;
using subsystem::refuse;

/// Bits of Wiring::counters: 0 to 31 are the generic counters, the fixed counters begin here.
constexpr unsigned kFirstFixed = 32;

constexpr bool rows_name_the_generic_events() {
    return std::ranges::equal(kGenericEvents, abi::kHardware, {}, &GenericRow::name, &abi::Constant::name);
}
static_assert(rows_name_the_generic_events(), "attr.config is the index of the row");

/// On hybrid machines the upper half of config is the type of a PMU (PERF_PMU_TYPE_SHIFT). 0 and this PMU's own type
/// are accepted, so that programs written for such machines work.
bool names_another_pmu(std::uint64_t config) {
    const std::uint64_t type = config >> abi::kPmuTypeShift;
    return type != 0 && type != abi::kTypeRaw;
}

// PERF_TYPE_HARDWARE. A number that Linux does not define is EINVAL; one that this CPU cannot count is ENOENT, so that
// another PMU may be asked, as on Linux.
Answer<Quantity> generic_event(std::uint64_t config) {
    if (names_another_pmu(config)) return refuse(ENOENT, "the upper half of config names another PMU");
    config &= 0xffff'ffff;
    if (config >= kGenericEvents.size()) return refuse(EINVAL, "there is no generic event with this number");
    const GenericRow& row = kGenericEvents[config];
    if (!row.quantity) return refuse(ENOENT, "the presented CPU, a Skylake, lacks this event");
    return *row.quantity;
}

/// The three parts of a HW_CACHE config, by name.
struct CacheNames {
    std::string_view cache, op, result;
};

Answer<CacheNames> cache_names(std::uint64_t config) {
    const CacheNames names{abi::name_of(abi::kCaches, config & 0xff),
                           abi::name_of(abi::kCacheOps, config >> abi::kCacheOpShift & 0xff),
                           abi::name_of(abi::kCacheResults, config >> abi::kCacheResultShift & 0xff)};
    if (names.cache.empty() || names.op.empty() || names.result.empty())
        return refuse(EINVAL, "there is no cache, operation or result with this number");
    return names;
}

// PERF_TYPE_HW_CACHE: cache, operation and result, a byte each. Two tables decide: kInvalidCacheOps has the
// combinations that make no sense, such as writes to an instruction cache; kCacheEvents those that the presented CPU
// counts.
Answer<Quantity> cache_event(std::uint64_t config) {
    if (names_another_pmu(config)) return refuse(ENOENT, "the upper half of config names another PMU");
    const CacheNames names = TRY(cache_names(config));
    for (const InvalidCacheOpRow& row : kInvalidCacheOps)
        if (row.cache == names.cache && row.op == names.op)
            return refuse(EINVAL, "this cache does not have this operation");
    for (const CacheRow& row : kCacheEvents)
        if (row.cache == names.cache && row.op == names.op && row.result == names.result) return row.quantity;
    return refuse(ENOENT, "the presented CPU, a Skylake, has no such event of this cache");
}

/// A raw code of the presented CPU. Only the bits that select what is counted are compared (kEncodingBits).
Answer<Quantity> raw_event(std::uint64_t config) {
    const auto row = std::ranges::find(kRawEvents, config & kEncodingBits, &RawRow::config);
    if (row == kRawEvents.end()) return refuse(EINVAL, "the virtual PMU can't count this raw code");
    return row->quantity;
}

/// The counters that may count a quantity with this placement, a bit for each (Wiring::counters).
std::uint64_t counters_of(Placement placement, unsigned generic_counters) {
    const std::uint64_t generic = (1ull << generic_counters) - 1;
    switch (placement) {
        case Placement::generic: return generic;
        case Placement::low_four: return generic & 0xf;
        case Placement::fixed_0: return generic | 1ull << kFirstFixed;
        case Placement::fixed_1: return generic | 2ull << kFirstFixed;
        case Placement::fixed_2: return 4ull << kFirstFixed;
    }
    return generic;
}

/// The value of the two-bit field precise_ip: dividing by the mask's lowest bit shifts it down.
constexpr unsigned precise_ip(const abi::Attr& attr) {
    constexpr std::uint64_t mask = abi::flag("precise_ip");
    return static_cast<unsigned>((attr.flags & mask) / (mask & -mask));
}

/// x86_pmu_hw_config(): PEBS must exist at this level, and only makes sense for events that sample.
Answer<> check_precise(const abi::Attr& attr) {
    if (precise_ip(attr) > kMaxPrecise) return refuse(EOPNOTSUPP, "precise_ip is above caps/max_precise");
    if (precise_ip(attr) != 0 && attr.sample_period == 0) return refuse(EINVAL, "precise_ip requires a sampling event");
    return {};
}

consteval std::uint64_t branch_bit(std::string_view name) {
    return abi::bit(abi::kBranchBits, name);
}

/// intel_pmu_setup_lbr_filter(), for a CPU whose branch records contain no counters. LBR records either a call stack or
/// a selection of branches. The bits that only change what an entry contains can be combined with both. So can CALL and
/// IND_JUMP: the kernel looks at them after it has checked CALL_STACK.
Answer<> check_branches(const abi::Attr& attr, unsigned entries) {
    if (!(attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK"))) return {};
    if (entries == 0) return refuse(EOPNOTSUPP, "the virtual PMU records no branches");
    const std::uint64_t filter = attr.branch_sample_type;
    if (filter & branch_bit("PERF_SAMPLE_BRANCH_COUNTERS"))
        return refuse(EINVAL, "the virtual PMU's branch records have no counters");
    constexpr std::uint64_t kOtherKinds =
        branch_bit("PERF_SAMPLE_BRANCH_ANY") | branch_bit("PERF_SAMPLE_BRANCH_ANY_CALL") |
        branch_bit("PERF_SAMPLE_BRANCH_ANY_RETURN") | branch_bit("PERF_SAMPLE_BRANCH_IND_CALL") |
        branch_bit("PERF_SAMPLE_BRANCH_ABORT_TX") | branch_bit("PERF_SAMPLE_BRANCH_IN_TX") |
        branch_bit("PERF_SAMPLE_BRANCH_NO_TX") | branch_bit("PERF_SAMPLE_BRANCH_COND");
    if ((filter & branch_bit("PERF_SAMPLE_BRANCH_CALL_STACK")) && (filter & kOtherKinds))
        return refuse(EINVAL, "CALL_STACK can't be combined with other kinds of branches");
    return {};
}

/// MEM_TRANS_RETIRED:LOAD_LATENCY, whose config1 is the least latency of the loads that it counts (ldlat).
constexpr std::uint64_t kLoadLatency = 0x01cd;
constexpr std::uint64_t kLatencyMask = 0xffff;
/// No load is faster, so an event with this threshold, or none, counts all loads (SDM volume 3, "Load Latency").
constexpr std::uint64_t kLeastLatency = 3;

bool is_load_latency(const abi::Attr& attr) {
    return attr.type == abi::kTypeRaw && (attr.config & kEncodingBits) == kLoadLatency;
}

/// x86_pmu_extra_regs(): a Skylake's register of the threshold has 16 bits.
Answer<> check_latency(const abi::Attr& attr) {
    if (is_load_latency(attr) && (attr.config1 & ~kLatencyMask) != 0)
        return refuse(EINVAL, "the latency in config1 has more than 16 bits");
    return {};
}

/// Whether samples say of branches whether they were mispredicted. The stack of calls (CALL_STACK) does not.
bool samples_predictions(const abi::Attr& attr) {
    constexpr std::uint64_t kSilent =
        branch_bit("PERF_SAMPLE_BRANCH_NO_FLAGS") | branch_bit("PERF_SAMPLE_BRANCH_CALL_STACK");
    return (attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0 &&
           (attr.branch_sample_type & kSilent) == 0;
}

/// What the event counts; its samples may need the models, too.
Answer<subsystem::Source> source_of(const abi::Attr& attr, Quantity quantity) {
    constexpr std::uint64_t kModelledFields = abi::sample("PERF_SAMPLE_DATA_SRC") | abi::sample("PERF_SAMPLE_WEIGHT") |
                                              abi::sample("PERF_SAMPLE_WEIGHT_STRUCT");
    subsystem::Source source = quantity == Quantity::offcore_requests ? TRY(offcore_source(attr.config1)) : row_of(quantity).source;
    if (quantity == Quantity::slow_loads) source.term[0].counter += static_cast<std::uint32_t>(attr.config1);
    if (precise_ip(attr) != 0 && (attr.sample_type & kModelledFields) != 0) source.needs_accesses = true;
    source.needs_predictions = source.needs_predictions || samples_predictions(attr);
    return source;
}

bool is_cpu_type(std::uint32_t type) {
    return type == abi::kTypeHardware || type == abi::kTypeHwCache || type == abi::kTypeRaw;
}

}  // namespace

Answer<Quantity> quantity_of(const abi::Attr& attr) {
    switch (attr.type) {
        case abi::kTypeHardware: return generic_event(attr.config);
        case abi::kTypeHwCache: return cache_event(attr.config);
        case abi::kTypeRaw:
            if (is_load_latency(attr) && attr.config1 > kLeastLatency) return Quantity::slow_loads;
            return raw_event(attr.config);
        default: return refuse(ENOENT, "another PMU's type");
    }
}

std::uint32_t CpuPmu::type() const {
    return abi::kTypeRaw;
}

Answer<subsystem::Wiring> CpuPmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (!is_cpu_type(attr.type)) return refuse(ENOENT, "another PMU's type");
    TRY(check_precise(attr));
    const Quantity quantity = TRY(quantity_of(attr));
    TRY(check_latency(attr));
    TRY(check_branches(attr, options_.branch_entries));
    // The engine only counts user mode, and runs no guests. An event that excludes user mode or the host counts
    // nothing. An empty source stays 0 at all times: the event opens, as on Linux, and its count is right.
    const bool counts_nothing = attr.flags & (abi::flag("exclude_user") | abi::flag("exclude_host"));
    const subsystem::Source source = TRY(source_of(attr, quantity));
    return subsystem::Wiring{
        .source = counts_nothing ? subsystem::Source{} : source,
        .counters =
            options_.generic_counters == 0 ? 0 : counters_of(row_of(quantity).placement, options_.generic_counters),
        .monotonic_only = true,
    };
}

}  // namespace anyperf::pmu
