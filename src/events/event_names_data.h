// event_names_data.h: what is behind EventNames. Private to events.
#pragma once

#include <string>
#include <string_view>

#include "anyperf/event_names.h"
#include "events/catalog/machine.h"
#include "events/catalog/refusal.h"
#include "events/fault.h"

namespace anyperf::events {

struct EventNames::Data {
    explicit Data(const std::string& root)
        : machine(catalog::MachineOptions{.root = root == "/" ? std::string_view{} : std::string_view{root},
                                          .encode_inactive = true}) {}
    catalog::Machine machine;
};

/// The PMU of that name, or the only one whose name ends with it ("zen4"); nullptr: none.
const catalog::PmuRow* pmu_called(std::string_view name);

/// A refusal as people read it: the rule, what could stand there, which CPUs have the name. `text` is what was refused.
Fault explain_refusal(const catalog::Machine& machine, std::string_view text, const catalog::Refusal& refusal);

/// "zen4::X" with the PMU's whole name; the string itself where there is nothing to complete.
std::string with_whole_prefix(std::string_view text);

/// Names of a PMU's events that this model has.
std::vector<std::string> names_of_events(const catalog::Machine& machine, const catalog::PmuRow& pmu);

/// Names of the events of all active PMUs.
std::vector<std::string> names_of_actives(const catalog::Machine& machine);

/// PMUs that have an event of that name, each table once, at most `most`.
std::vector<std::string> pmus_with_event(std::string_view event, std::size_t most);

}  // namespace anyperf::events
