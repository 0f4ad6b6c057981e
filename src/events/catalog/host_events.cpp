// host_events.cpp: the four PMUs whose events depend on the machine: ix86arch (what CPUID leaf 0xA has), rapl (four
// tables), perf (events that sysfs lists), cpum_cf (put together from the versions of the counter facility and the
// machine type).
#include <algorithm>
#include <array>

#include "events/catalog/machine.h"

namespace anyperf::catalog {

namespace {

constexpr unsigned kForcedArchVersion = 3;  // with all seven events, as libpfm presents it

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

void Machine::HostEvents::add(std::uint32_t first, std::uint32_t events, std::uint16_t table) {
    Segment* last = count == 0 ? nullptr : &segments[count - 1];
    const std::uint32_t base = last == nullptr ? 0 : last->base + last->count;
    if (last != nullptr && last->table == table && last->first + last->count == first)
        last->count += events;
    else if (events != 0 && count < segments.size())
        segments[count++] = Segment{first, events, base, table};
}

Machine::HostEvents& Machine::host_events(std::string_view pmu_name) {
    const PmuRow* pmu = find_pmu(pmu_name);
    const auto slot = std::ranges::find_if(host_events_, [&](const HostEvents& host) { return host.pmu == nullptr; });
    slot->pmu = pmu;
    return *slot;
}

void Machine::choose_host_events(bool forced) {
    choose_arch_events(forced);
    choose_perf_events();
    choose_counter_sets();
    const PmuRow& rapl = *find_pmu("rapl");
    const std::uint16_t chosen = rapl_table_ == 0 ? rapl.table : static_cast<std::uint16_t>(rapl_table_ - 1);
    host_events("rapl").add(tables()[chosen].first_event, tables()[chosen].events, chosen);
}

void Machine::choose_arch_events(bool forced) {
    HostEvents& host = host_events("ix86arch");
    if (!active(*host.pmu)) return;
    arch_version_ = forced ? kForcedArchVersion : cpu_.perfmon_version;
    const TableRow& table = tables()[host.pmu->table];
    for (const EventRow& event : events(table))
        if (forced || ((cpu_.perfmon_missing >> event.detail) & 1) == 0) host.add(index_of(event), 1, host.pmu->table);
}

void Machine::choose_perf_events() {
    HostEvents& host = host_events("perf");
    const TableRow& table = tables()[host.pmu->table];
    for (const EventRow& event : events(table)) {
        const bool optional = (event.flags & event_flag::optional) != 0;
        if (!optional || files_.exists({"/sys/bus/event_source/devices/", text(event.sysfs)}))
            host.add(index_of(event), 1, host.pmu->table);
    }
}

void Machine::choose_counter_sets() {
    HostEvents& host = host_events("cpum_cf");
    const bool here = active(*host.pmu);
    const auto add = [&](std::string_view name, std::uint32_t without_last) {
        if (const TableRow* table = find_table(name))
            host.add(table->first_event, table->events - without_last, table_number(*table));
    };
    add(!here || cpu_.counter_first >= 3 ? "s390x/cpum_cf_fvn3" : "s390x/cpum_cf_fvn1", 0);
    add("s390x/cpum_cf_svn", here && cpu_.counter_second < 6 ? 4 : 0);
    const std::uint16_t newest = kMachineSets.back().type;  // what any other machine is shown
    const auto set = std::ranges::find(kMachineSets, here ? cpu_.machine_type : newest, &MachineSet::type);
    if (set != kMachineSets.end()) add(set->table, 0);
}

EventSpace Machine::events_of(const PmuRow& pmu) const {
    if ((pmu.flags & pmu_flag::host_events) != 0)
        for (const HostEvents& host : host_events_)
            if (host.pmu == &pmu)
                return host.count == 0 ? EventSpace{Segment{}}
                                       : EventSpace{std::span{host.segments.data(), host.count}};
    return EventSpace{Segment{tables()[pmu.table].first_event, pmu.rows, 0, pmu.table}};
}

unsigned Machine::counters_of(const PmuRow& pmu) const {
    return &pmu == find_pmu("ix86arch") && active(pmu) ? cpu_.perfmon_counters : pmu.num_counters;
}

unsigned Machine::fixed_counters_of(const PmuRow& pmu) const {
    if (&pmu == find_pmu("ix86arch") && active(pmu)) return cpu_.perfmon_fixed;
    return pmu.num_fixed;
}

}  // namespace anyperf::catalog
