// machine_options.cpp: declares and translates the options of the presented machine.
#include "cli/machine_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "broker/launch/run_options.h"
#include "cli/option_checks.h"
#include "models/machines/machine_file.h"
#include "models/machines/presets.h"
#include "pmu/cpu/cpu_models.h"
#include "try.h"

namespace anyperf::cli {

namespace {

constexpr unsigned kMostCounters = 32;  // anyperf-run(1), --counters
constexpr unsigned kMostCpus = 64;      // a mask of one word

/// "skx (a Skylake server, …), skl (…), host (…)", for an error message.
std::string known_models() {
    std::string text;
    for (const auto& row : pmu::kCpuModels)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row.name, row.what);
    return text;
}

/// "skx, skl, …".
std::string known_machines() {
    std::string text;
    for (const models::Preset& row : models::presets()) text += fmt::format("{}{}", text.empty() ? "" : ", ", row.name);
    return text;
}

/// The machine whose caches are modelled if the user chose none: that of the presented CPU. There is no description of
/// the host's caches, so for `host` it is the Skylake that has the host's instructions.
std::string default_machine(pmu::CpuModel model) {
    if (model == pmu::CpuModel::host) model = pmu::skylake_model_of_host();
    if (pmu::level_of(model) != 0) model = pmu::CpuModel::skylake_server;  // whose caches a level has
    const auto row = std::ranges::find(pmu::kCpuModels, model, &pmu::CpuModelRow::model);
    return std::string{row->name};
}

/// A preset, or the machine that a file describes.
Result<models::Machine> machine_called(const std::string& name) {
    if (const models::Preset* const preset = models::find_preset(name)) return preset->machine;
    std::ifstream file{name};
    std::stringstream text;
    if (file) text << file.rdbuf();
    if (!file || !text)
        return std::unexpected(Error{"bad --machine " + name,
                                     "it is neither a known machine nor a file that can be read",
                                     "use a JSON file or one of: " + known_machines()});
    return models::parse_machine(text.view(), name);
}

}  // namespace

bool MachineArguments::any_given() const {
    return std::ranges::any_of(options, [](const CLI::Option* option) { return option->count() > 0; });
}

// Only the options that the user typed: the gate of `stat` compares two runs by this text, and a default may change
// between versions.
std::string MachineArguments::as_given() const {
    std::string text;
    for (const CLI::Option* option : options) {
        if (option->count() == 0) continue;
        text += (text.empty() ? "" : " ") + option->get_name();
        if (option->get_expected_max() > 0) text += fmt::format(" {}", fmt::join(option->results(), " "));
    }
    return text;
}

std::vector<std::string> MachineArguments::words() const {
    std::vector<std::string> words;
    for (const CLI::Option* option : options) {
        if (option->count() == 0) continue;
        words.push_back(option->get_name());
        if (option->get_expected_max() > 0)
            words.insert(words.end(), option->results().begin(), option->results().end());
    }
    return words;
}

void MachineArguments::apply_to(broker::RunOptions& run) const {
    run.deterministic = deterministic;
    run.turns = deterministic && !no_turns;
    run.order = order.value_or(seed);
    run.priorities = order.has_value();
    run.cpus = cpus;
    run.seed = seed;
    run.epoch = epoch;
}

void declare_machine_options(CLI::App& verb, MachineArguments& arguments) {
    CLI::Option* const counters = verb.add_option("--counters", arguments.counters,
                                                  "N: the virtual PMU has N generic counters (default: unlimited)")
                                      ->type_name("")
                                      ->transform(whole_number_from(1u, kMostCounters));
    CLI::Option* const cpu_model =
        verb.add_option("--cpu-model", arguments.cpu_model,
                        "NAME: the CPU that programs see: skx, skl, x86-64-v2, -v3, -v4 or host")
            ->type_name("");
    CLI::Option* const machine =
        verb.add_option("--machine", arguments.machine,
                        "NAME|FILE: the machine whose caches, TLBs and branch predictors are modelled")
            ->type_name("");
    CLI::Option* const deterministic = verb.add_flag("--deterministic", arguments.deterministic,
                                                     "use the same addresses, random bytes and time in every run");
    CLI::Option* const turns =
        verb.add_flag("--turns")
            ->description("with --deterministic, run one thread at a time, in a fixed order (default)")
            ->needs(deterministic);
    CLI::Option* const no_turns =
        verb.add_flag("--no-turns", arguments.no_turns,
                      "with --deterministic, run threads at the same time: faster, but then their counts vary")
            ->needs(deterministic)
            ->excludes(turns);
    CLI::Option* const seed =
        verb.add_option("--seed", arguments.seed, "N: with --deterministic, other random bytes for each N (default: 0)")
            ->type_name("")
            ->transform(whole_number_from(std::uint64_t{0}, ~std::uint64_t{0}).description(""))
            ->needs(deterministic);
    CLI::Option* const order =
        verb.add_option("--order", arguments.order,
                        "N: with --deterministic, another order of the threads for each N, as a run of --schedules")
            ->type_name("")
            ->transform(whole_number_from(std::uint64_t{0}, ~std::uint64_t{0}).description(""))
            ->needs(deterministic)
            ->excludes(no_turns);
    CLI::Option* const cpus =
        verb.add_option("--cpus", arguments.cpus, "N: with --deterministic, programs see N CPUs (default: the host's)")
            ->type_name("")
            ->transform(whole_number_from(1u, kMostCpus))
            ->needs(deterministic);
    // 2^33 s in nanoseconds are 20 years below 2^63. So the clock does not become negative, even if a program sleeps
    // for years.
    CLI::Option* const epoch =
        verb.add_option("--epoch", arguments.epoch,
                        "SECONDS: with --deterministic, the time of day at the start, since 1970 (default: 2026-12-01)")
            ->type_name("")
            ->transform(whole_number_from(std::uint64_t{0}, std::uint64_t{1} << 33))
            ->needs(deterministic);
    // It changes no result, so it is not one of `options`, by which runs are compared.
    verb.add_flag("--no-cache", arguments.no_cache, "neither use nor keep translations of earlier runs");
    arguments.options = {counters, cpu_model, machine, deterministic, turns, no_turns, order, cpus, seed, epoch};
}

Result<broker::MachineOptions> machine_options(const MachineArguments& arguments, pmu::CpuModel by_default) {
    broker::MachineOptions options{.counters = arguments.counters, .cpu_model = by_default};
    // An unknown model is refused here rather than by CLI11, so that the message can describe each model.
    if (!arguments.cpu_model.empty()) {
        const auto row = std::ranges::find(pmu::kCpuModels, arguments.cpu_model, &pmu::CpuModelRow::name);
        if (row == pmu::kCpuModels.end())
            return std::unexpected(Error{"bad --cpu-model " + arguments.cpu_model, "not a known CPU model",
                                         "use one of: " + known_models()});
        options.cpu_model = row->model;
    }
    options.modelled_name = modelled_machine_name(arguments, by_default);
    options.modelled = TRY(machine_called(arguments.machine.empty() ? options.modelled_name : arguments.machine));
    return options;
}

std::string modelled_machine_name(const MachineArguments& arguments, pmu::CpuModel by_default) {
    if (!arguments.machine.empty()) return std::filesystem::path{arguments.machine}.filename().string();
    const auto row = std::ranges::find(pmu::kCpuModels, arguments.cpu_model, &pmu::CpuModelRow::name);
    return default_machine(row == pmu::kCpuModels.end() ? by_default : row->model);
}

}  // namespace anyperf::cli
