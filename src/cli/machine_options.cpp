// machine_options.cpp: see machine_options.h.
#include "cli/machine_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>

#include "broker/server.h"
#include "pmu/cpu_models.h"

namespace anyperf::cli {

namespace {

constexpr unsigned kMostCounters = 32;

std::string known_models() {
    std::string text;
    for (const auto& row : pmu::kCpuModels)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row.name, row.what);
    return text;
}

}  // namespace

bool MachineWish::given() const {
    return std::ranges::any_of(options, [](const CLI::Option* option) { return option->count() > 0; });
}

void declare_machine_options(CLI::App& verb, MachineWish& wish) {
    wish.options = {
        verb.add_option("--counters", wish.counters, "N: the virtual PMU has N generic counters (default: unlimited)")
            ->type_name("")
            ->check(CLI::Range(1u, kMostCounters)),
        verb.add_option("--cpu-model", wish.cpu_model, "NAME: the CPU that programs are shown, skx, skl or host")
            ->type_name(""),
        verb.add_flag("--deterministic", wish.deterministic, "the same addresses and random bytes in every run")};
}

Result<broker::MachineOptions> machine_of(const MachineWish& wish, pmu::CpuModel by_default) {
    if (wish.cpu_model.empty()) return broker::MachineOptions{.counters = wish.counters, .cpu_model = by_default};
    const auto row = std::ranges::find(pmu::kCpuModels, wish.cpu_model, &pmu::CpuModelRow::name);
    if (row == pmu::kCpuModels.end())
        return std::unexpected(Error{"bad --cpu-model " + wish.cpu_model, "there is no CPU model of this name",
                                     "one of: " + known_models()});
    return broker::MachineOptions{.counters = wish.counters, .cpu_model = row->model};
}

}  // namespace anyperf::cli
