// cpu.cpp: from attr to quantity, and from quantity to counters.
#include "pmu/cpu.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "abi/branch_types.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "pmu/cpu_events.h"
#include "pmu/identity.h"

namespace anyperf::pmu {
namespace {

using subsystem::Answer;
using subsystem::refuse;

constexpr unsigned kFirstFixed = 32;  ///< bits of Wiring::counters: generic ones below

constexpr bool rows_name_the_generic_events() {
    return std::ranges::equal(kGenericEvents, abi::kHardware, {}, &GenericRow::name, &abi::Constant::name);
}
static_assert(rows_name_the_generic_events(), "attr.config is the row's place");

/// The upper half of config names a PMU by its type, on machines with several (PERF_PMU_TYPE_SHIFT); 0 means this one.
bool names_another_pmu(std::uint64_t config) {
    const std::uint64_t type = config >> abi::kPmuTypeShift;
    return type != 0 && type != abi::kTypeRaw;
}

Answer<Quantity> generic_event(std::uint64_t config) {
    if (names_another_pmu(config)) return refuse(ENOENT, "the upper half of config names another PMU");
    config &= 0xffff'ffff;
    if (config >= kGenericEvents.size()) return refuse(EINVAL, "no generic event has this number");
    const GenericRow& row = kGenericEvents[config];
    if (!row.quantity) return refuse(ENOENT, "the virtual PMU has no model of caches or branch prediction");
    return *row.quantity;
}

struct CacheNames {
    std::string_view cache, op, result;
};

Answer<CacheNames> cache_names(std::uint64_t config) {
    const CacheNames names{abi::name_of(abi::kCaches, config & 0xff),
                           abi::name_of(abi::kCacheOps, config >> abi::kCacheOpShift & 0xff),
                           abi::name_of(abi::kCacheResults, config >> abi::kCacheResultShift & 0xff)};
    if (names.cache.empty() || names.op.empty() || names.result.empty())
        return refuse(EINVAL, "no cache, operation or result has this number");
    return names;
}

Answer<Quantity> cache_event(std::uint64_t config) {
    if (names_another_pmu(config)) return refuse(ENOENT, "the upper half of config names another PMU");
    const CacheNames names = TRY(cache_names(config));
    for (const SenselessRow& row : kSenselessCacheEvents)
        if (row.cache == names.cache && row.op == names.op) return refuse(EINVAL, "that cache has no such operation");
    for (const CacheRow& row : kCacheEvents)
        if (row.cache == names.cache && row.op == names.op && row.result == names.result) return row.quantity;
    return refuse(ENOENT, "the virtual PMU has no model of this cache");
}

Answer<Quantity> raw_event(std::uint64_t config) {
    const auto row = std::ranges::find(kRawEvents, config & kEncodingBits, &RawRow::config);
    if (row == kRawEvents.end()) return refuse(EINVAL, "a raw code that the virtual PMU can't count");
    return row->quantity;
}

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

constexpr unsigned precise_ip(const abi::Attr& attr) {
    constexpr std::uint64_t mask = abi::flag("precise_ip");
    return static_cast<unsigned>((attr.flags & mask) / (mask & -mask));
}

Answer<> check_precise(const abi::Attr& attr) {
    if (precise_ip(attr) > kMaxPrecise) return refuse(EOPNOTSUPP, "precise_ip is above caps/max_precise");
    if (precise_ip(attr) != 0 && attr.sample_period == 0) return refuse(EINVAL, "precise_ip is for events that sample");
    return {};
}

consteval std::uint64_t branch_bit(std::string_view name) {
    return abi::bit(abi::kBranchBits, name);
}

/// intel_pmu_setup_lbr_filter(), on a CPU without counters in its branch records.
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
        return refuse(EINVAL, "a call stack is recorded alone");
    return {};
}

bool is_mine(std::uint32_t type) {
    return type == abi::kTypeHardware || type == abi::kTypeHwCache || type == abi::kTypeRaw;
}

}  // namespace

Answer<Quantity> quantity_of(const abi::Attr& attr) {
    switch (attr.type) {
        case abi::kTypeHardware: return generic_event(attr.config);
        case abi::kTypeHwCache: return cache_event(attr.config);
        case abi::kTypeRaw: return raw_event(attr.config);
        default: return refuse(ENOENT, "another PMU's type");
    }
}

std::uint32_t CpuPmu::type() const {
    return abi::kTypeRaw;
}

Answer<subsystem::Wiring> CpuPmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (!is_mine(attr.type)) return refuse(ENOENT, "another PMU's type");
    TRY(check_precise(attr));
    const QuantityRow& row = row_of(TRY(quantity_of(attr)));
    TRY(check_branches(attr, options_.branch_entries));
    // Neither kernel mode nor a guest is seen, so an event without user mode of the host has nothing to count.
    const bool sees_nothing = attr.flags & (abi::flag("exclude_user") | abi::flag("exclude_host"));
    return subsystem::Wiring{
        .source = sees_nothing ? subsystem::Source{} : row.source,
        .counters = options_.generic_counters == 0 ? 0 : counters_of(row.placement, options_.generic_counters),
        .monotonic_only = true,
    };
}

}  // namespace anyperf::pmu
