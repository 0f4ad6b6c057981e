// host_events.cpp: the events of the four PMUs whose events depend on the machine:
// - ix86arch: the architectural events that CPUID leaf 0xA reports.
// - rapl: one of four tables, chosen by the CPU.
// - perf: the optional ones only if sysfs lists them.
// - cpum_cf (s390x): sets chosen by the versions of the counter facility and by the machine type.
#include <algorithm>
#include <array>

#include "events/catalog/detection/machine_pmus.h"

namespace anyperf::catalog {

namespace {

constexpr unsigned kForcedArchVersion = 3;  // with all seven events, as libpfm does for a forced PMU

std::uint16_t table_number(const TableRow& table) {
    return static_cast<std::uint16_t>(&table - tables().data());
}

struct MachineSet {
    std::uint16_t type;
    std::string_view table;
};

// Machine types of s390x and the table of their own counter set (linux arch/s390/kernel/perf_cpum_cf_events.c).
constexpr std::array kMachineSets{
    MachineSet{2097, "s390x/cpum_cf_z10"},   MachineSet{2098, "s390x/cpum_cf_z10"},
    MachineSet{2817, "s390x/cpum_cf_z196"},  MachineSet{2818, "s390x/cpum_cf_z196"},
    MachineSet{2827, "s390x/cpum_cf_zec12"}, MachineSet{2828, "s390x/cpum_cf_zec12"},
    MachineSet{2964, "s390x/cpum_cf_z13"},   MachineSet{2965, "s390x/cpum_cf_z13"},
    MachineSet{3906, "s390x/cpum_cf_z14"},   MachineSet{3907, "s390x/cpum_cf_z14"},
    MachineSet{8561, "s390x/cpum_cf_z15"},   MachineSet{8562, "s390x/cpum_cf_z15"},
    MachineSet{3931, "s390x/cpum_cf_z16"},   MachineSet{3932, "s390x/cpum_cf_z16"},
    MachineSet{9175, "s390x/cpum_cf_z17"},   MachineSet{9176, "s390x/cpum_cf_z17"},
};

}  // namespace

/// Adjacent ranges of one table are joined, so that eight ranges are enough.
void MachinePmus::HostEvents::add(const EventRow* first, std::uint32_t events, std::uint16_t table) {
    EventRange* last = count == 0 ? nullptr : &segments[count - 1];
    const std::uint32_t base = last == nullptr ? 0 : last->base + last->count;
    if (last != nullptr && last->table == table && last->first + last->count == first)
        last->count += events;
    else if (events != 0 && count < segments.size())
        segments[count++] = EventRange{first, events, base, table};
}

MachinePmus::HostEvents& MachinePmus::host_events(std::string_view pmu_name) {
    const PmuRow* pmu = find_pmu(pmu_name);
    const auto slot = std::ranges::find_if(host_events_, [&](const HostEvents& host) { return host.pmu == nullptr; });
    slot->pmu = pmu;
    return *slot;
}

void MachinePmus::choose_host_events(bool forced) {
    choose_arch_events(forced);
    choose_perf_events();
    choose_counter_sets();
    const PmuRow& rapl = *find_pmu("rapl");
    const std::uint16_t chosen = rapl_table_ == 0 ? rapl.table : static_cast<std::uint16_t>(rapl_table_ - 1);
    host_events("rapl").add(catalog::events(tables()[chosen]).data(), tables()[chosen].events, chosen);
}

/// CPUID leaf 0xA, EBX, has a bit for each architectural event that is missing.
void MachinePmus::choose_arch_events(bool forced) {
    HostEvents& host = host_events("ix86arch");
    if (!is_active(*host.pmu)) return;
    arch_version_ = forced ? kForcedArchVersion : cpu_.perfmon_version;
    const TableRow& table = tables()[host.pmu->table];
    for (const EventRow& event : events(table))
        if (forced || ((cpu_.perfmon_missing >> event.detail) & 1) == 0) host.add(&event, 1, host.pmu->table);
}

void MachinePmus::choose_perf_events() {
    HostEvents& host = host_events("perf");
    const TableRow& table = tables()[host.pmu->table];
    for (const EventRow& event : events(table))
        if ((event.flags & event_flag::optional) == 0) host.add(&event, 1, host.pmu->table);
    if (!reads_tracepoints_) add_optional_events(host);
}

/// The optional events are the last of the table, so private indexes stay in the order of the table.
void MachinePmus::add_optional_events(HostEvents& perf) const {
    for (const EventRow& event : events(tables()[perf.pmu->table]))
        if ((event.flags & event_flag::optional) != 0 &&
            files_.exists({"/sys/bus/event_source/devices/", text(event.sysfs)}))
            perf.add(&event, 1, perf.pmu->table);
}

/// In the order of libpfm: the tracepoints come before the optional events.
const MachinePmus::HostEvents& MachinePmus::with_tracepoints() const {
    if (tracepoints_read_.load(std::memory_order_acquire)) return perf_events_;
    const std::lock_guard lock{reading_};
    if (tracepoints_read_.load(std::memory_order_relaxed)) return perf_events_;
    perf_events_ = *host_events_of(*find_pmu("perf"));
    tracepoints_ = TracepointEvents::read(files_);
    const auto found = tracepoints_.events();
    perf_events_.add(found.data(), static_cast<std::uint32_t>(found.size()), EventRange::kNoTable);
    add_optional_events(perf_events_);
    tracepoints_read_.store(true, std::memory_order_release);
    return perf_events_;
}

/// The PMU has three sets. The first version number of the counter facility chooses one, and the machine type another;
/// a machine type that is not known has none. The second version number decides whether the third set has its last
/// four events (from 6 on). Machines without this PMU show the newest sets.
void MachinePmus::choose_counter_sets() {
    HostEvents& host = host_events("cpum_cf");
    const bool here = is_active(*host.pmu);
    const auto add = [&](std::string_view name, std::uint32_t without_last) {
        if (const TableRow* table = find_table(name))
            host.add(catalog::events(*table).data(), table->events - without_last, table_number(*table));
    };
    add(!here || cpu_.counter_first >= 3 ? "s390x/cpum_cf_fvn3" : "s390x/cpum_cf_fvn1", 0);
    add("s390x/cpum_cf_svn", here && cpu_.counter_second < 6 ? 4 : 0);
    const std::uint16_t newest = kMachineSets.back().type;  // shown on machines of other architectures
    const auto set = std::ranges::find(kMachineSets, here ? cpu_.machine_type : newest, &MachineSet::type);
    if (set != kMachineSets.end()) add(set->table, 0);
}

const MachinePmus::HostEvents* MachinePmus::host_events_of(const PmuRow& pmu) const {
    if ((pmu.flags & pmu_flag::host_events) == 0) return nullptr;
    const auto host = std::ranges::find(host_events_, &pmu, &HostEvents::pmu);
    return host == host_events_.end() ? nullptr : &*host;
}

EventRanges MachinePmus::ranges_of(const HostEvents& host) {
    return host.count == 0 ? EventRanges{EventRange{}} : EventRanges{std::span{host.segments.data(), host.count}};
}

EventRanges MachinePmus::first_events_of(const PmuRow& pmu) const {
    if (const HostEvents* host = host_events_of(pmu)) return ranges_of(*host);
    return EventRanges{EventRange{events(tables()[pmu.table]).data(), pmu.rows, 0, pmu.table}};
}

EventRanges MachinePmus::events_of(const PmuRow& pmu) const {
    return has_tracepoints(pmu) ? ranges_of(with_tracepoints()) : first_events_of(pmu);
}

unsigned MachinePmus::counters_of(const PmuRow& pmu) const {
    return &pmu == find_pmu("ix86arch") && is_active(pmu) ? cpu_.perfmon_counters : pmu.num_counters;
}

unsigned MachinePmus::fixed_counters_of(const PmuRow& pmu) const {
    if (&pmu == find_pmu("ix86arch") && is_active(pmu)) return cpu_.perfmon_fixed;
    return pmu.num_fixed;
}

}  // namespace anyperf::catalog
