#include "events/names/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "events/catalog/encoding/encoding.h"
#include "events/catalog/encoding/request.h"
#include "events/machine/machine_data.h"
#include "events/sources/cache_names.h"
#include "events/sources/kernel_names.h"
#include "events/sources/vendor_pmus.h"

namespace anyperf::events {

namespace {

/// The events that perf_event_open(2) has by number, whatever the CPU: hardware or software events.
EventList kernel_defined(NameOrigin kind, std::uint32_t type) {
    EventList list{kind, false, type == abi::kTypeSoftware ? "software" : "", {}, {}};
    for (const KernelName& row : kKernelNames)
        if (row.type == type) list.events.push_back({std::string{row.name}, std::string{row.alias}, "", ""});
    return list;
}

EventList cache_events() {
    EventList list{NameOrigin::cache, false, "", {}, {}};
    for (std::string& name : cache_event_names()) list.events.push_back({std::move(name), "", "", ""});
    return list;
}

/// The events that the kernel offers by name for a PMU: the files in events/ of its directory in sysfs.
EventList of_pmu(const host::Pmu& pmu) {
    EventList list{NameOrigin::pmu, false, pmu.name(), {}, {}};
    for (const host::Alias& alias : pmu.details().aliases)
        list.events.push_back({fmt::format("{}/{}/", pmu.name(), alias.name), "", alias.terms, alias.unit});
    return list;
}

/// An event of the catalog, with the names of its unit masks as the detail.
ListedEvent from_catalog(const catalog::EventRow& row, const std::string& prefix) {
    ListedEvent event{prefix + std::string{catalog::name_of(row)}, "", "", ""};
    for (const catalog::MaskRow& mask : catalog::masks(row))
        event.detail += (event.detail.empty() ? ":" : " :") + std::string{catalog::name_of(mask)};
    return event;
}

/// The events of a PMU of the catalog. Those of another CPU have the prefix in their names, which is needed to type
/// them.
EventList of_catalog(const Machine::Data& machine, const catalog::PmuRow& pmu) {
    const catalog::MachinePmus& known = machine.catalog();
    EventList list{NameOrigin::catalog, !known.is_active(pmu), std::string{catalog::text(pmu.name)}, {}, {}};
    const std::string prefix = list.foreign ? list.pmu + "::" : "";
    for (int next = -1; (next = catalog::next_event(known, pmu, next)) >= 0;)
        if (const auto* row = catalog::event_at(known, pmu, static_cast<std::uint32_t>(next)))
            list.events.push_back(from_catalog(*row, prefix));
    return list;
}

/// Adds the PMUs of the catalog, except `perf` and `perf_raw`: the first lists have the events of the kernel.
void add_catalog(std::vector<EventList>& lists, const Machine::Data& machine, bool every_cpu) {
    for (const catalog::PmuRow& pmu : catalog::pmus()) {
        const std::string_view name = catalog::text(pmu.name);
        if (name == "perf" || name == "perf_raw" || (!every_cpu && !machine.catalog().is_active(pmu))) continue;
        lists.push_back(of_catalog(machine, pmu));
    }
}

/// Whether the machine has the PMU that a list of perf's names. Its events of cores are raw events where sysfs has no
/// PMU of the cores (from_vendor.cpp).
bool has_box(const Machine::Data& machine, std::string_view pmu) {
    return pmu.empty() ||
           std::ranges::any_of(machine.pmus, [&](const host::Pmu& known) { return is_instance_of(known.name(), pmu); });
}

/// The names that perf has for events of this CPU: a list for each PMU of them.
void add_vendor(std::vector<EventList>& lists, const Machine::Data& machine) {
    const vendor::ListRow* const names = machine.vendor_list();
    if (names == nullptr) return;
    std::map<std::string_view, EventList> by_pmu;  // the cores, whose PMU has no name there, come first
    for (const vendor::EventRow& row : vendor::events(*names)) {
        const std::string_view pmu = vendor::text(vendor::box_of(*names, row).pmu);
        if (!has_box(machine, pmu)) continue;
        EventList& list = by_pmu[pmu];
        list.events.push_back({vendor::name_of(row), "", "", ""});
    }
    for (auto& [pmu, list] : by_pmu) {
        list.kind = NameOrigin::vendor;
        list.pmu = pmu.empty() ? vendor::text(names->name) : pmu;
        lists.push_back(std::move(list));
    }
}

/// The names of all tracepoints, or why tracefs can't be read.
EventList tracepoints(const Machine::Data& machine) {
    EventList list{NameOrigin::tracepoint, false, "tracepoint", {}, {}};
    const auto& tracefs = machine.tracefs();
    if (!tracefs) {
        list.unreadable = tracefs.error();
        return list;
    }
    for (const std::string& system : tracefs->systems())
        for (const std::string& event : tracefs->events(system))
            list.events.push_back({system + ':' + event, "", "", ""});
    return list;
}

/// The fields of a PMU with their ranges: "cmask=0..0xff,edge,event=0..0xfff".
std::string terms_of(const host::Pmu& pmu) {
    std::string terms;
    for (const host::Format& format : pmu.details().formats) {
        terms += (terms.empty() ? "" : ",") + format.name;
        if (format.width() > 1)
            terms += format.width() > 32 ? "=N" : fmt::format("=0..{:#x}", (1ull << format.width()) - 1);
    }
    return terms;
}

/// A way to write an event that no list of names can have, since it contains an address or a place.
struct Form {
    std::string_view pmu;  ///< the PMU it needs; empty: a core PMU
    std::string_view form;
    std::string_view detail;
};

constexpr std::array kForms{
    Form{"", "rNNN", "raw code of the CPU's PMU, in hexadecimal"},
    Form{"breakpoint", "mem:ADDRESS[/LENGTH][:rwx]", "breakpoint or watchpoint"},
    Form{"uprobe", "uprobe:PATH:SYMBOL[+OFFSET]", "calls of a function of a program or library"},
    Form{"kprobe", "kprobe/func=SYMBOL/", "calls of a function of the kernel"},
};

/// The forms of kForms whose PMU this machine has, and the fields of each PMU.
EventList forms(const Machine::Data& machine) {
    EventList list{NameOrigin::syntax, false, "", {}, {}};
    for (const Form& row : kForms)
        if (row.pmu.empty() || machine.pmu(row.pmu) != nullptr)
            list.events.push_back({std::string{row.form}, "", std::string{row.detail}, ""});
    for (const host::Pmu& pmu : machine.pmus) {
        const std::string terms = terms_of(pmu);
        if (!terms.empty())
            list.events.push_back({fmt::format("{}/{}/", pmu.name(), terms), "", "fields of the PMU", ""});
    }
    return list;
}

}  // namespace

std::vector<EventList> list_events(const Machine& machine, bool every_cpu) {
    const Machine::Data& data = machine.data();
    std::vector<EventList> lists{kernel_defined(NameOrigin::hardware, abi::kTypeHardware), cache_events(),
                                 kernel_defined(NameOrigin::software, abi::kTypeSoftware)};
    for (const host::Pmu& pmu : data.pmus)
        if (!pmu.details().aliases.empty()) lists.push_back(of_pmu(pmu));
    add_catalog(lists, data, every_cpu);
    add_vendor(lists, data);
    lists.push_back(tracepoints(data));
    lists.push_back(forms(data));
    return lists;
}

}  // namespace anyperf::events
