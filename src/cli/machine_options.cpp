// machine_options.cpp: declares and translates the options of the virtual machine.
#include "cli/machine_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>

#include "broker/machine/machine_options.h"
#include "pmu/cpu/cpu_models.h"

namespace anyperf::cli {

namespace {

constexpr unsigned kMostCounters = 32;  // anyperf-run(1), --counters

/// "skx (a Skylake server, …), skl (…), host (…)", for an error message.
std::string known_models() {
    std::string text;
    for (const auto& row : pmu::kCpuModels)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row.name, row.what);
    return text;
}

}  // namespace

bool MachineArguments::any_given() const {
    return std::ranges::any_of(options, [](const CLI::Option* option) { return option->count() > 0; });
}

void declare_machine_options(CLI::App& verb, MachineArguments& arguments) {
    CLI::Option* const counters = verb.add_option("--counters", arguments.counters,
                                                  "N: the virtual PMU has N generic counters (default: unlimited)")
                                      ->type_name("")
                                      ->check(CLI::Range(1u, kMostCounters));
    CLI::Option* const cpu_model =
        verb.add_option("--cpu-model", arguments.cpu_model, "NAME: the CPU that programs see: skx, skl or host")
            ->type_name("");
    CLI::Option* const deterministic = verb.add_flag("--deterministic", arguments.deterministic,
                                                     "use the same addresses and random bytes in every run");
    CLI::Option* const seed =
        verb.add_option("--seed", arguments.seed, "N: with --deterministic, other random bytes for each N (default: 0)")
            ->type_name("")
            ->needs(deterministic);
    arguments.options = {counters, cpu_model, deterministic, seed};
}

Result<broker::MachineOptions> machine_options(const MachineArguments& arguments, pmu::CpuModel by_default) {
    // An unknown model is refused here rather than by CLI11, so that the message can describe each model.
    if (arguments.cpu_model.empty())
        return broker::MachineOptions{.counters = arguments.counters, .cpu_model = by_default};
    const auto row = std::ranges::find(pmu::kCpuModels, arguments.cpu_model, &pmu::CpuModelRow::name);
    if (row == pmu::kCpuModels.end())
        return std::unexpected(
            Error{"bad --cpu-model " + arguments.cpu_model, "not a known CPU model", "use one of: " + known_models()});
    return broker::MachineOptions{.counters = arguments.counters, .cpu_model = row->model};
}

}  // namespace anyperf::cli
