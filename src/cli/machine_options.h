// machine_options.h: the options that choose the presented machine of a run: --counters, --cpu-model, --machine,
// --cpus, --deterministic, --turns, --no-turns, --order, --seed, --epoch. `run` has them, and so has every verb that
// may count its command with the virtual PMU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "pmu/cpu/cpu_models.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace anyperf::broker {
struct MachineOptions;
struct RunOptions;
}  // namespace anyperf::broker

namespace anyperf::cli {

/// The time of day at which a deterministic run begins: 2026-12-01 00:00:00 UTC. It is about that of the release. Files
/// that are older keep their times in a run (engine/syscalls/made_files.h), so that Python takes its compiled modules
/// for valid. In a run of a later time programs that remove what is old, as git gc does, would remove what is new.
inline constexpr std::uint64_t kDefaultEpoch = 1'796'083'200;

/// The options as the user gave them.
struct MachineArguments {
    unsigned counters = 0;  ///< generic counters of the virtual PMU; 0: unlimited
    std::string cpu_model;  ///< empty: the verb's default
    std::string machine;    ///< a preset or a file; empty: that of the CPU model
    bool deterministic = false;
    bool no_cache = false;                    ///< no stored translations are used, and none are stored
    bool no_turns = false;                    ///< threads of a deterministic run do not wait for their turn
    std::optional<std::uint64_t> order;       ///< of the turns, by priorities (--schedules); none: the seed's
    std::uint32_t cpus = 0;                   ///< how many CPUs programs see; 0: the host's
    std::uint64_t seed = 0;                   ///< of the random bytes of a deterministic run
    std::uint64_t epoch = kDefaultEpoch;      ///< when a deterministic run begins, in seconds since 1970
    std::vector<const CLI::Option*> options;  ///< the declared options, in no particular order

    /// Whether the user gave any of them.
    bool any_given() const;
    /// The options that the user gave: "--counters 4 --deterministic". Empty: none.
    std::string as_given() const;
    /// The same as words of a command line.
    std::vector<std::string> words() const;
    /// Copies the arguments that machine_options() does not translate to the options of a run.
    void apply_to(broker::RunOptions& run) const;
};

/// Adds the options to `verb`. `arguments` must live until the command line is parsed.
void declare_machine_options(CLI::App& verb, MachineArguments& arguments);

/// Translates the arguments for the broker. `by_default` is the CPU model if the user chose none. What decides how the
/// run goes on (`deterministic`, `no_turns`, `order`, `cpus`, `seed`, `epoch`) belongs to broker::RunOptions:
/// apply_to(). Error: --cpu-model or --machine names nothing known, or the machine's file is not valid.
Result<broker::MachineOptions> machine_options(const MachineArguments& arguments, pmu::CpuModel by_default);

/// The name of the modelled machine, which is shown with modelled counts: a preset's name, or that of the file without
/// its directory.
std::string modelled_machine_name(const MachineArguments& arguments, pmu::CpuModel by_default);

}  // namespace anyperf::cli
