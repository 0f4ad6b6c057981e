// event_names_data.h: the data of EventNames, and functions that event_names*.cpp and the messages about unknown names
// share. Private to src/events.
#pragma once

#include <string>
#include <string_view>

#include "anyperf/event_names.h"
#include "events/catalog/detection/machine_pmus.h"
#include "events/catalog/encoding/refusal.h"
#include "events/syntax/parse_error.h"

namespace anyperf::events {

struct EventNames::Data {
    /// `core`: the machine's cores are those of this PMU, whatever its CPU is; empty: those of its CPU.
    explicit Data(const std::string& root, std::string_view core = {})
        : machine(catalog::DetectionOptions{.root = root == "/" ? std::string_view{} : std::string_view{root},
                                            .force = core,
                                            .encode_inactive = true,
                                            .force_hides = false}) {}
    catalog::MachinePmus machine;
};

/// The PMU of that name, or the only PMU whose name ends with "_" and `name` ("zen4" for "amd64_fam19h_zen4"); nullptr
/// if there is none.
const catalog::PmuRow* resolve_pmu_name(std::string_view name);

/// The error for a refusal, for users: the rule, what could be written instead, which CPUs have the name. `text` is the
/// string that was refused.
ParseError explain_refusal(const catalog::MachinePmus& machine, std::string_view text, const catalog::Refusal& refusal);

/// "zen4::X" with the full name of the PMU; the string itself if there is nothing to complete.
std::string expand_pmu_prefix(std::string_view text);

/// The names of the events of a PMU that this model has.
std::vector<std::string> pmu_event_names(const catalog::MachinePmus& machine, const catalog::PmuRow& pmu);

/// The names of the events of all active PMUs.
std::vector<std::string> active_event_names(const catalog::MachinePmus& machine);

/// At most `most` PMUs that have an event of that name; of the PMUs that share a table only the first.
std::vector<std::string> pmus_with_event(std::string_view event, std::size_t most);

}  // namespace anyperf::events
