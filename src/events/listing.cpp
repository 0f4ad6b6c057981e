// listing.cpp: see listing.h.
#include "events/listing.h"

#include <fmt/format.h>

#include <array>

#include "events/cache_names.h"
#include "events/catalog/encoding.h"
#include "events/catalog/request.h"
#include "events/kernel_names.h"
#include "events/machine_data.h"

namespace anyperf::events {

namespace {

EventList kernel_defined(Listed kind, std::uint32_t type) {
    EventList list{kind, false, type == abi::kTypeSoftware ? "software" : "", {}, {}};
    for (const KernelName& row : kKernelNames)
        if (row.type == type) list.events.push_back({std::string{row.name}, std::string{row.alias}, "", ""});
    return list;
}

EventList cache_events() {
    EventList list{Listed::cache, false, "", {}, {}};
    for (std::string& name : cache_event_names()) list.events.push_back({std::move(name), "", "", ""});
    return list;
}

EventList of_pmu(const host::Pmu& pmu) {
    EventList list{Listed::pmu, false, pmu.name(), {}, {}};
    for (const host::Alias& alias : pmu.details().aliases)
        list.events.push_back({fmt::format("{}/{}/", pmu.name(), alias.name), "", alias.terms, alias.unit});
    return list;
}

/// "UOPS_EXECUTED", with the names of its umasks.
ListedEvent from_catalog(const catalog::EventRow& row, const std::string& prefix) {
    ListedEvent event{prefix + std::string{catalog::text(row.name)}, "", "", ""};
    for (const catalog::MaskRow& mask : catalog::masks(row))
        event.detail += (event.detail.empty() ? ":" : " :") + std::string{catalog::text(mask.name)};
    return event;
}

EventList of_catalog(const Machine::Data& machine, const catalog::PmuRow& pmu) {
    const catalog::Machine& known = machine.catalog();
    EventList list{Listed::catalog, !known.active(pmu), std::string{catalog::text(pmu.name)}, {}, {}};
    const std::string prefix = list.foreign ? list.pmu + "::" : "";
    for (int next = -1; (next = catalog::next_event(known, pmu, next)) >= 0;)
        if (const auto* row = catalog::event_at(known, pmu, static_cast<std::uint32_t>(next)))
            list.events.push_back(from_catalog(*row, prefix));
    return list;
}

/// Not the catalog's own rows for what the kernel names: those stand in the first lists.
void add_catalog(std::vector<EventList>& lists, const Machine::Data& machine, bool every_cpu) {
    for (const catalog::PmuRow& pmu : catalog::pmus()) {
        const std::string_view name = catalog::text(pmu.name);
        if (name == "perf" || name == "perf_raw" || (!every_cpu && !machine.catalog().active(pmu))) continue;
        lists.push_back(of_catalog(machine, pmu));
    }
}

EventList tracepoints(const Machine::Data& machine) {
    EventList list{Listed::tracepoint, false, "tracepoint", {}, {}};
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

/// "cpu/cmask=0..255,edge,event=0..4095/": the fields of a PMU, with what they hold.
std::string terms_of(const host::Pmu& pmu) {
    std::string terms;
    for (const host::Format& format : pmu.details().formats) {
        terms += (terms.empty() ? "" : ",") + format.name;
        if (format.width() > 1)
            terms += format.width() > 32 ? "=N" : fmt::format("=0..{:#x}", (1ull << format.width()) - 1);
    }
    return terms;
}

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

EventList forms(const Machine::Data& machine) {
    EventList list{Listed::syntax, false, "", {}, {}};
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
    std::vector<EventList> lists{kernel_defined(Listed::hardware, abi::kTypeHardware), cache_events(),
                                 kernel_defined(Listed::software, abi::kTypeSoftware)};
    for (const host::Pmu& pmu : data.pmus)
        if (!pmu.details().aliases.empty()) lists.push_back(of_pmu(pmu));
    add_catalog(lists, data, every_cpu);
    lists.push_back(tracepoints(data));
    lists.push_back(forms(data));
    return lists;
}

}  // namespace anyperf::events
