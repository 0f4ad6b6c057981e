// event_facts.cpp: gathers the facts of events, and shows them.
#include "cli/explain/event_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "abi/describe.h"
#include "abi/event_ids.h"
#include "anyperf/event_names.h"
#include "cli/command/backend.h"
#include "cli/command/event_call.h"
#include "cli/machine_options.h"
#include "cli/output/wrap.h"
#include "cli/stat/events/virtual_events.h"
#include "host/hardware/cpu_counters.h"
#include "pmu/tracing/tracepoint_table.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using events::EventGroup;
using host::Use;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kColumn = 17;  // of the text of each row

/// A row of the table of ways in which the virtual PMU counts.
struct VirtualCountRow {
    VirtualCount way;
    std::string_view id;    ///< in JSON
    std::string_view text;  ///< "{}": the machine whose caches and predictors are modelled
};
constexpr std::array kVirtualCounts{
    VirtualCountRow{
        VirtualCount::none, "no",
        "does not count it: it counts what happens in user mode, system calls, and what its models compute"},
    VirtualCountRow{VirtualCount::exact, "exact", "counts it in user mode, exactly"},
    VirtualCountRow{
        VirtualCount::cost_model, "modelled",
        "computes it from what retires in user mode, by a simple model of a CPU; compare it only with other "
        "modelled counts"},
    VirtualCountRow{VirtualCount::machine_models, "modelled",
                    "computes it in user mode by models of the caches, TLBs and branch predictors of the machine {} "
                    "(--machine chooses another)"},
    VirtualCountRow{VirtualCount::with_own_share, "with-own-share",
                    "counts it, together with anyperf's own work in the program's threads"},
};

const VirtualCountRow& row_of(VirtualCount way) {
    return *std::ranges::find(kVirtualCounts, way, &VirtualCountRow::way);
}

/// The names of the events that a run can have. Both lists are read once for all events.
struct NamesOfRun {
    events::EventNames events;
    std::set<std::string> tracepoints;  ///< "syscalls:sys_enter_read"
};

NamesOfRun names_of_run(const host::Root& root) {
    NamesOfRun names{events::EventNames::read(root.path("/")), {}};
    for (const pmu::Tracepoint& each : pmu::tracepoints()) names.tracepoints.insert(each.system + ":" + each.name);
    return names;
}

/// Whether a run observes the event without a PMU: a breakpoint, a uprobe, or one of its tracepoints.
bool is_observed_in_run(const events::Event& event, const NamesOfRun& names) {
    if (event.attr.type == abi::kTypeBreakpoint || event.pmu == "uprobe") return true;
    return event.attr.type == abi::kTypeTracepoint && names.tracepoints.contains(event.name);
}

VirtualCount virtual_count(const events::Event& event, const NamesOfRun& names) {
    if (!event.absent_pmu.empty() || stat::why_not_counted(event, nullptr)) return VirtualCount::none;
    if (is_observed_in_run(event, names)) return VirtualCount::exact;
    if (!stat::is_counted_in_user_space(event, names.events)) return VirtualCount::none;
    if (stat::has_own_share(event)) return VirtualCount::with_own_share;
    if (stat::uses_models(event)) return VirtualCount::machine_models;
    return stat::is_modelled(event, false) ? VirtualCount::cost_model : VirtualCount::exact;
}

/// What the kernel answers to an open. The open of a tracepoint and its close take the kernel some 40 ms. It answers
/// alike for all tracepoints of a system: the users that may open them differ by system only (TRACE_EVENT_FL_CAP_ANY:
/// system calls). So one of each system is opened.
class KernelAnswers {
  public:
    explicit KernelAnswers(const host::Root& root) : root_(root) {}

    host::Usability to(const events::Event& event) {
        if (event.attr.type != abi::kTypeTracepoint) return ask(event);
        const std::string system = event.name.substr(0, event.name.find(':'));
        const auto [answer, fresh] = of_systems_.try_emplace({system, event.attr.flags});
        if (fresh) answer->second = ask(event);
        return answer->second;
    }

  private:
    host::Usability ask(const events::Event& event) const { return host::usability(call_of(event), event.name, root_); }

    const host::Root& root_;
    std::map<std::pair<std::string, std::uint64_t>, host::Usability> of_systems_;  // by system and flags
};

/// Why the kernel was not asked to open the event, or what it answered.
host::Usability kernel_usability(const EventFacts& facts, KernelAnswers& answers) {
    const events::Event& event = facts.event;
    const std::string what = "cannot open " + event.name;
    if (!event.absent_pmu.empty())
        return {Use::no_pmu, {what, event.absent_pmu + " is not a PMU of this machine's CPU", ""}};
    if (!event.missing_pmu.empty())
        return {Use::no_pmu, {what, "this machine's kernel has no PMU " + event.missing_pmu, ""}};
    if (facts.of_presented_machine)
        return {Use::no_pmu, {what, "only the CPU that a run presents has an event of this name", ""}};
    return answers.to(event);
}

/// The command that counts the event; empty if nothing does.
std::string command_of(const EventFacts& facts) {
    const bool by_kernel = facts.kernel.use == Use::yes || facts.kernel.use == Use::user_only;
    if (!by_kernel && facts.virtual_pmu == VirtualCount::none) return "";
    const std::string& typed = facts.event.source_text;
    const bool only_user = facts.kernel.use == Use::user_only && typed.find(':') == typed.npos;
    if (facts.event.cpu_wide_only) return fmt::format("anyperf stat -a -e {}", typed);
    return fmt::format("anyperf stat -e {}{} -- COMMAND", typed, only_user ? ":u" : "");
}

std::string line(std::string_view label, std::string_view text) {
    return fmt::format("  {:<{}}{}\n", label, kColumn - 2, wrap(text, kWidth, kColumn));
}

/// "type 0 (PERF_TYPE_HARDWARE), config 0x5 (PERF_COUNT_HW_BRANCH_MISSES), exclude_guest": the fields that are not
/// zero, of flags only the names. `anyperf encode` shows all of it.
std::string attr_text(const events::Event& event) {
    std::string text;
    for (const abi::DescribedField& field : abi::describe(event.attr, false)) {
        if (field.name == "size") continue;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", field.name);
        if (field.name.starts_with("exclude_")) continue;
        text += field.hex ? fmt::format(" {:#x}", field.value) : fmt::format(" {}", field.value);
        if (field.name == "type" && !event.pmu.empty()) text += fmt::format(" (PMU {})", event.pmu);
        if (!field.meaning.empty()) text += fmt::format(" ({})", field.meaning);
    }
    return text;
}

std::string text_of(const EventFacts& facts) {
    const host::Usability& kernel = facts.kernel;
    std::string text = facts.event.name + '\n';
    if (facts.event.missing_pmu.empty()) text += line("attr:", attr_text(facts.event));
    text += line("kernel:", kernel.why.cause.empty() ? std::string{words(kernel.use)}
                                                     : fmt::format("{}: {}", words(kernel.use), kernel.why.cause));
    if (!kernel.why.fix.empty()) text += line("fix:", kernel.why.fix);
    const std::string machine = modelled_machine_name({}, pmu::CpuModel::host);
    text += line("virtual PMU:", fmt::format(fmt::runtime(row_of(facts.virtual_pmu).text), machine));
    const std::string command = command_of(facts);
    text += line("to count it:", command.empty() ? "not possible here" : command);
    return text;
}

/// A string's events, and whether only the machine that a run presents has them.
struct Parsed {
    std::vector<EventGroup> groups;
    bool of_presented_machine = false;
};

Result<Parsed> parse(const events::Machine& machine, const host::Root& root, const std::string& text) {
    auto groups = events::parse(machine, text);
    if (groups) return Parsed{*std::move(groups), false};
    Parsed presented{{}, true};
    const bool known = root.is_this_machine() && only_presented_machine_accepts([&](const events::Machine& shown) {
                           auto there = events::parse(shown, text, events::CatalogScope::this_machine);
                           if (!there) return false;
                           presented.groups = *std::move(there);
                           return true;
                       });
    if (!known) return std::unexpected(std::move(groups).error());
    return presented;
}

}  // namespace

Result<std::vector<EventFacts>> event_facts(const host::Root& root, const std::vector<std::string>& texts) {
    const auto machine = events::Machine::read(root.path("/"));
    const NamesOfRun names = names_of_run(root);
    const bool has_virtual_pmu = host::is_x86(root);
    KernelAnswers answers{root};
    std::vector<EventFacts> all;
    for (const std::string& text : texts) {
        const Parsed parsed = TRY(parse(machine, root, text));
        for (const EventGroup& group : parsed.groups)
            for (const events::Event& event : group.events) {
                EventFacts facts{event, parsed.of_presented_machine, {}, VirtualCount::none};
                if (has_virtual_pmu) facts.virtual_pmu = virtual_count(event, names);
                facts.kernel = kernel_usability(facts, answers);
                all.push_back(std::move(facts));
            }
    }
    return all;
}

std::string facts_as_text(const std::vector<EventFacts>& facts) {
    std::string text;
    for (const EventFacts& each : facts) text += (text.empty() ? "" : "\n") + text_of(each);
    return text;
}

nlohmann::ordered_json facts_as_json(const std::vector<EventFacts>& facts) {
    auto all = nlohmann::ordered_json::array();
    for (const EventFacts& each : facts) {
        nlohmann::ordered_json json{{"name", each.event.name}};
        if (each.event.missing_pmu.empty()) json["type"] = each.event.attr.type;
        json["config"] = each.event.attr.config;
        json["kernel"] = {
            {"usable", id(each.kernel.use)}, {"cause", each.kernel.why.cause}, {"fix", each.kernel.why.fix}};
        json["virtual_pmu"] = row_of(each.virtual_pmu).id;
        json["command"] = command_of(each);
        all.push_back(std::move(json));
    }
    return all;
}

}  // namespace anyperf::cli
