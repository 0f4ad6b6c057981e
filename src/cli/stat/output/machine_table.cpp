// machine_table.cpp: the table of --machine A,B. Each machine had a run of its own with the same events, so the reports
// have the same lines in the same order. The first machine is the one that the others are compared with.
#include "cli/stat/output/machine_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>

#include "cli/stat/output/writers.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::size_t kValueWidth = 16;
constexpr std::size_t kShareWidth = 10;

/// By how much a count differs from that of the first machine, in %; empty if they are equal or one is missing.
std::string difference(const Line& line, const Line& first) {
    if (line.status() != Status::counted || first.status() != Status::counted) return {};
    if (first.value() == 0 || line.value() == first.value()) return {};
    return fmt::format("({:+.1f}%)", 100 * (line.value() / first.value() - 1));
}

/// Why events could not be counted, once for each event.
std::string refusals(const Report& report) {
    std::string text;
    for (const Line& line : report.lines)
        if (line.refusal) text += fmt::format(" {}: {}; {}\n", line.name, line.refusal->cause, line.refusal->fix);
    return text;
}

}  // namespace

std::vector<std::string> machines_of(const std::string& argument) {
    std::error_code error;
    if (std::filesystem::exists(argument, error)) return {argument};
    std::vector<std::string> names;
    for (const auto part : std::views::split(argument, ',')) names.emplace_back(part.begin(), part.end());
    return names;
}

std::string to_machine_table(std::span<const MachineReport> reports, const Options& options) {
    const Report& first = reports.front().report;
    std::size_t name_width = 0;
    for (const Line& line : first.lines) name_width = std::max(name_width, line.name.size());
    std::string text = fmt::format("\n Performance counter stats for {} on modelled machines:\n\n {:{}}", first.target,
                                   "", name_width);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        text += fmt::format(" {:>{}}", reports[i].machine, kValueWidth);
        if (i != 0 && i + 1 != reports.size()) text += std::string(kShareWidth + 1, ' ');
    }
    text += "\n";
    for (std::size_t row = 0; row < first.lines.size(); ++row) {
        std::string line_text = fmt::format(" {:{}}", first.lines[row].name, name_width);
        for (const auto& [machine, report] : reports) {
            const Line& line = report.lines.at(row);
            line_text += fmt::format(" {:>{}}", value_text(line, options), kValueWidth);
            if (&report != &first) line_text += fmt::format(" {:{}}", difference(line, first.lines[row]), kShareWidth);
        }
        line_text.erase(line_text.find_last_not_of(' ') + 1);
        text += line_text + "\n";
    }
    text +=
        "\n cycles, caches, TLBs and branch predictors are models of these machines; each column is a run of its own\n";
    return text + refusals(first);
}

}  // namespace anyperf::cli::stat
