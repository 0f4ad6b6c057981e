// event_facts.h: what `anyperf explain EVENT` shows: what an event string becomes, whether the kernel of the machine
// opens it, whether the virtual PMU counts it and how, and the command that counts it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/event.h"
#include "host/root.h"
#include "host/usability.h"

namespace anyperf::cli {

/// How the virtual PMU of a run comes to a count.
enum class VirtualCount : std::uint8_t {
    none,            ///< it does not have the event
    exact,           ///< counted, instruction by instruction
    cost_model,      ///< computed from what retires, by a model of a CPU's speed
    machine_models,  ///< computed by the models of caches, TLBs and branch predictors
    with_own_share,  ///< counted, anyperf's own work included
};

/// One event of the strings that were given.
struct EventFacts {
    events::Event event;
    bool of_presented_machine = false;  ///< only the machine that a run presents has the name
    host::Usability kernel;             ///< whether the kernel opens it
    VirtualCount virtual_pmu = VirtualCount::none;
};

/// The facts of every event in `texts`, in order. On this machine each is opened, disabled, and closed. Error: a string
/// names no event, neither of the machine nor of the one that a run presents.
Result<std::vector<EventFacts>> event_facts(const host::Root& root, const std::vector<std::string>& texts);

/// A paragraph for each event.
std::string facts_as_text(const std::vector<EventFacts>& facts);

/// An array with an object for each event: "name", "type", "config", "kernel": {"usable", "cause", "fix"},
/// "virtual_pmu", "command".
nlohmann::ordered_json facts_as_json(const std::vector<EventFacts>& facts);

}  // namespace anyperf::cli
