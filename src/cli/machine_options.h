// machine_options.h: the options by which a user chooses the virtual machine of a run. `run` has them, and every verb
// that may run its command there.
#pragma once

#include <string>
#include <vector>

#include "anyperf/error.h"
#include "pmu/cpu_models.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace anyperf::broker {
struct MachineOptions;
}

namespace anyperf::cli {

struct MachineWish {
    unsigned counters = 0;
    std::string cpu_model;  ///< empty: the verb's choice
    bool deterministic = false;
    std::vector<const CLI::Option*> options;  ///< as they were declared

    /// Whether the user has asked for any of them.
    bool given() const;
};

/// Adds --counters, --cpu-model and --deterministic. `wish` lives until they are parsed.
void declare_machine_options(CLI::App& verb, MachineWish& wish);

/// `by_default` where the user has not chosen a CPU model. Error: there is no such model.
Result<broker::MachineOptions> machine_of(const MachineWish& wish, pmu::CpuModel by_default);

}  // namespace anyperf::cli
