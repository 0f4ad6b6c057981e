// virtual_events.cpp: events and refusals of the virtual PMU. Its codes are a Skylake's, so event names in -e are first
// those of a Skylake (HostedRun::read_events()). On a machine with an AMD CPU they may also be that CPU's. The codes of
// these are translated here.
#include "cli/stat/events/virtual_events.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "anyperf/event_names.h"
#include "events/catalog/text.h"
#include "events/names/event_names_data.h"
#include "events/vendor/vendor_lists.h"
#include "host/kernel/tracefs.h"
#include "host/root.h"
#include "pmu/cpu/cpu_pmu.h"
#include "pmu/software_pmu.h"
#include "pmu/tracing/uprobe_pmu.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::uint64_t kExcludeKernel = abi::flag("exclude_kernel");
constexpr std::uint64_t kExcludeUser = abi::flag("exclude_user");
constexpr std::uint64_t kPreciseIp = abi::flag("precise_ip");

/// An event of AMD's CPUs that the virtual PMU can count. AMD's own codes mean something else on the virtual PMU, which
/// is an Intel one (pmu/cpu/cpu_events.h).
struct AmdName {
    std::string_view name;     ///< in the catalog
    std::string_view of_perf;  ///< in perf's lists
    std::uint64_t config;      ///< the same quantity on the virtual PMU: event | unit mask << 8
};
constexpr std::array kAmdNames{
    AmdName{"RETIRED_INSTRUCTIONS", "ex_ret_instr", 0x00c0},
    AmdName{"CYCLES_NOT_IN_HALT", "ls_not_halted_cyc", 0x003c},
    AmdName{"RETIRED_BRANCH_INSTRUCTIONS", "ex_ret_brn", 0x00c4},
    AmdName{"RETIRED_TAKEN_BRANCH_INSTRUCTIONS", "ex_ret_brn_tkn", 0x20c4},
    AmdName{"RETIRED_FAR_CONTROL_TRANSFERS", "ex_ret_brn_far", 0x40c4},
    AmdName{"RETIRED_NEAR_RETURNS", "ex_ret_near_ret", 0x08c4},
    AmdName{"RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", "ex_ret_cond", 0x01c4},
    AmdName{"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "ex_ret_brn_misp", 0x00c5},
    AmdName{"RETIRED_NEAR_RETURNS_MISPREDICTED", "ex_ret_near_ret_mispred", 0x08c5},
};
constexpr std::uint64_t kNoSuchCode = 0xffff;  // a config that the virtual PMU refuses
constexpr std::uint64_t kPlainCode = 0xffff;   // bits of event and unit mask, without counter mask, edge or invert

/// A software event whose count includes anyperf's own work. `config` is the number of PERF_COUNT_SW_*.
struct SharedEvent {
    std::uint64_t config;
    bool counts_time;
};
constexpr std::array kSharedEvents{
    SharedEvent{0, true},   // CPU_CLOCK
    SharedEvent{1, true},   // TASK_CLOCK
    SharedEvent{3, false},  // CONTEXT_SWITCHES
    SharedEvent{4, false},  // CPU_MIGRATIONS
};

/// The row of the event; null if it has none.
const SharedEvent* shared_event(const events::Event& event) {
    if (event.attr.type != abi::kTypeSoftware) return nullptr;
    const auto row = std::ranges::find(kSharedEvents, event.attr.config, &SharedEvent::config);
    return row == kSharedEvents.end() ? nullptr : &*row;
}

/// perf's name for the event, if the user typed that and this machine's CPU is an AMD one that has the event; else
/// empty. Terms and modifiers may follow the name: "cpu/ex_ret_instr,cmask=1/u".
std::string_view amd_name_of_perf(const events::EventNames& names, std::string_view typed) {
    constexpr std::string_view kPmu = "cpu/";
    if (typed.starts_with(kPmu)) typed.remove_prefix(kPmu.size());
    typed = typed.substr(0, typed.find_first_of(":/,"));
    const vendor::ListRow* list = vendor::list_of(names.data().machine.cpu());
    const bool known =
        list != nullptr && vendor::text(list->name).starts_with("amd") && !vendor::find_events(*list, typed).empty();
    return known ? typed : std::string_view{};
}

/// Translates the code of an event that was typed by an AMD name. An event without an equivalent gets kNoSuchCode: it
/// must be refused, and not counted as the Intel event with the same code. Events typed as numbers stay as they are.
/// The encoder has already replaced the name by AMD's code, so the name is looked up again. It may be the catalog's
/// (RETIRED_INSTRUCTIONS) or perf's (ex_ret_instr).
events::Event with_virtual_pmu_code(events::Event event, const events::EventNames& names) {
    const std::string_view of_perf = amd_name_of_perf(names, event.source_text);
    const auto named = names.encode(event.source_text);
    if (of_perf.empty() && (!named || !named->pmu.starts_with("amd64_"))) return event;
    const auto row = std::ranges::find_if(kAmdNames, [&](const AmdName& each) {
        return of_perf.empty() ? each.name == named->event : catalog::same_name(each.of_perf, of_perf);
    });
    const bool known = row != kAmdNames.end() && (event.attr.config & ~kPlainCode) == 0;
    event.attr.config = known ? row->config : kNoSuchCode;
    return event;
}

/// The same, with the names of this machine's CPU.
events::Event with_virtual_pmu_code(events::Event event) {
    if (event.attr.type != abi::kTypeRaw) return event;  // reading the names costs more than the rest
    return with_virtual_pmu_code(std::move(event), events::EventNames::read());
}

/// The probe as an event of the run's PMU uprobe, which has the same format as the kernel's (pmu/tracing/uprobe_pmu.h).
events::Event as_uprobe(events::Event event, host::UserProbe probe) {
    constexpr unsigned kCounterOffset = 32;  // config has the counter offset from this bit on
    event.attr.type = subsystem::kTypeUprobe;
    event.attr.config = (probe.at_return ? 1u : 0u) | std::uint64_t{probe.counter_offset} << kCounterOffset;
    event.attr.config2 = probe.offset;
    event.config1_text = std::move(probe.file);
    return event;
}

/// The probe of a tracepoint that `perf probe -x` has defined; no value for other events.
std::optional<host::UserProbe> user_probe_of(const events::Event& event) {
    const std::size_t colon = event.name.find(':');
    if (event.attr.type != abi::kTypeTracepoint || colon == std::string::npos) return std::nullopt;
    const auto tracefs = host::Tracefs::find(host::Root{});
    if (!tracefs) return std::nullopt;
    const std::string_view name = event.name;
    return tracefs->user_probe(name.substr(0, colon), name.substr(colon + 1));
}

/// The kernel and the virtual PMU accept precise_ip for sampling events only (x86_pmu_hw_config() in
/// arch/x86/events/core.c, Linux 6.18).
Error why_precise_is_refused(const events::Event& event) {
    return Error{"cannot count " + event.name,
                 "the modifier p asks for precise samples, and stat counts without sampling: a PMU refuses that",
                 "leave out the modifier p"};
}

}  // namespace

bool is_cpu_event(const events::Event& event) {
    const auto type = event.attr.type;
    return type == abi::kTypeHardware || type == abi::kTypeHwCache || type == abi::kTypeRaw;
}

bool is_modelled(const events::Event& event, bool deterministic) {
    if (const auto* shared = shared_event(event); shared != nullptr && shared->counts_time) return deterministic;
    if (!is_cpu_event(event)) return false;
    const auto quantity = pmu::quantity_of(with_virtual_pmu_code(event).attr);
    return quantity && pmu::row_of(*quantity).source.modelled;
}

bool uses_models(const events::Event& event) {
    if (!is_cpu_event(event)) return false;
    const auto quantity = pmu::quantity_of(with_virtual_pmu_code(event).attr);
    return quantity && subsystem::uses_models(pmu::row_of(*quantity).source);
}

std::string modelled_machine_of_run(const host::Root& root) {
    std::ifstream file{root.path("/sys/bus/event_source/devices/cpu/caps/modelled_machine")};
    std::string name;
    std::getline(file, name);
    return name;
}

bool has_own_share(const events::Event& event) {
    return shared_event(event) != nullptr;
}

bool is_counted_in_user_space(const events::Event& event, const events::EventNames& names) {
    if (event.attr.type == abi::kTypeRaw) return pmu::quantity_of(with_virtual_pmu_code(event, names).attr).has_value();
    if (is_cpu_event(event)) return pmu::quantity_of(event.attr).has_value();
    return event.attr.type == abi::kTypeSoftware && event.attr.config < pmu::kSoftwareEvents.size();
}

// A uprobe that perf has defined is a tracepoint of the kernel, which would never fire in translated code. So it
// becomes an event of the run's own PMU uprobe, at the same place of the file.
events::Event for_virtual_pmu(events::Event event) {
    if (auto probe = user_probe_of(event)) return as_uprobe(std::move(event), *std::move(probe));
    if (is_cpu_event(event)) event.attr.flags |= kExcludeKernel;
    return with_virtual_pmu_code(std::move(event));
}

std::optional<Error> why_not_counted(const events::Event& event, const counting::Refusal* refusal) {
    if (is_cpu_event(event) && (event.attr.flags & kExcludeUser) != 0)
        return Error{"cannot count " + event.name, "the virtual PMU sees user mode only",
                     "leave out the modifier k, or --all-kernel"};
    if (refusal == nullptr) return std::nullopt;
    if ((event.attr.flags & kPreciseIp) != 0) return why_precise_is_refused(event);
    const int refused = refusal->errno_value;
    // For other errnos (rights, descriptors) the subsystem has already given the cause.
    if (refused != ENOENT && refused != EOPNOTSUPP && refused != EINVAL) return refusal->error;
    if (is_cpu_event(event))
        return Error{refusal->error.what,
                     "the virtual PMU counts what retires in user mode and what models of caches and branch prediction "
                     "see, but not " +
                         event.name,
                     "a machine whose kernel has a PMU counts it"};
    return Error{
        refusal->error.what,
        "a run has hardware and software events, breakpoints, uprobes, and the tracepoints of system calls and "
        "processes",
        "anyperf stat --kernel counts it with the kernel"};
}

}  // namespace anyperf::cli::stat
