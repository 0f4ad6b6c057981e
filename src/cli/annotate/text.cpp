// text.cpp: an annotated function as perf annotate --stdio shows it: the hottest source lines, then the instructions,
// each with its share of the function's samples, and between them the source lines that they come from. The optimiser
// mixes the instructions of lines, so a line appears again wherever the code comes back to it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "cli/annotate/views.h"

namespace anyperf::cli {

namespace {

using annotation::Line;

// Per cent of the function. The summary leaves out smaller lines, as perf does (annotation__calc_lines()).
constexpr double kLeastHotLine = 0.5;

double per_cent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

void add_summary(const annotation::Annotation& function, std::string& text) {
    const auto out = std::back_inserter(text);
    const std::vector<HotLine> lines = hot_lines(function);
    if (!lines.empty()) text += "#\n# Hottest lines\n";
    for (const HotLine& each : lines)
        if (per_cent(each.heat.weight, function.heat.weight) >= kLeastHotLine)
            fmt::format_to(out, "# {:>8.2f}%  {}:{}\n", per_cent(each.heat.weight, function.heat.weight),
                           file_name(each.file), each.line);
}

/// Adds the source line of an instruction, if it is not that of the instruction before.
void add_source(const Line& line, const Line* before, annotation::SourceText* source, std::string& text) {
    const auto out = std::back_inserter(text);
    const bool other_place = !before || before->file != line.file || before->function != line.function;
    if (line.line == 0 || (!other_place && before->line == line.line)) return;
    if (other_place) fmt::format_to(out, "{:>9}  {} ({}):\n", ":", line.function, file_name(line.file));
    if (source) fmt::format_to(out, "{:>9}  {:<5}{}\n", ":", line.line, source->line(line.file, line.line));
}

/// What the columns before an instruction or a line have.
std::string numbers_of(const Line& line, std::uint64_t weight, ShownNumbers numbers) {
    std::string text = fmt::format("{:>7.2f} ", per_cent(line.heat.weight, weight));
    if (numbers.samples) text += fmt::format("{:>11} ", line.heat.samples);
    if (numbers.periods) text += fmt::format("{:>13} ", line.heat.weight);
    return text + ":  ";
}

/// Adds the lines of a script.
void add_script(const annotation::Annotation& function, annotation::SourceText* source, ShownNumbers numbers,
                std::string& text) {
    for (const Line& each : function.lines)
        fmt::format_to(std::back_inserter(text), "{}{:>8}   {}\n", numbers_of(each, function.heat.weight, numbers),
                       each.line, source ? source->line(each.file, each.line) : "");
}

}  // namespace

std::vector<HotLine> hot_lines(const annotation::Annotation& annotation) {
    std::map<std::pair<std::string_view, std::uint32_t>, annotation::Heat> sums;
    for (const Line& each : annotation.lines) {
        if (each.heat.samples == 0 || each.line == 0) continue;
        annotation::Heat& sum = sums[{each.file, each.line}];
        sum.samples += each.heat.samples;
        sum.weight += each.heat.weight;
    }
    std::vector<HotLine> lines;
    lines.reserve(sums.size());
    for (const auto& [place, heat] : sums) lines.push_back({std::string{place.first}, place.second, heat});
    std::ranges::stable_sort(lines, std::greater{}, [](const HotLine& each) { return each.heat.weight; });
    return lines;
}

std::string annotation_as_text(const AnnotatedEvent& shown, annotation::SourceText* source, ShownNumbers numbers) {
    const annotation::Annotation& function = shown.annotation;
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "# {} in {}\n# {} samples of '{}', {:.2f}% of the event; per cent are of the function\n",
                   function.name, function.path, function.heat.samples, shown.event,
                   per_cent(function.heat.weight, shown.weight));
    if (function.elsewhere.samples > 0)
        fmt::format_to(out, "# {} samples are at addresses where no instruction begins\n", function.elsewhere.samples);
    if (!function.has_debug_info && !function.is_script)
        fmt::format_to(out, "# {} has no DWARF for it, so there is no source\n", function.path);
    add_summary(function, text);
    text += "#\n# Percent";
    if (numbers.samples) fmt::format_to(out, "{:>12}", "Samples");
    if (numbers.periods) fmt::format_to(out, "{:>14}", "Period");
    text += function.is_script ? "       Line   Source\n" : "    Address   Instruction\n";
    if (function.is_script) {
        add_script(function, source, numbers, text);
        return text;
    }
    const Line* before = nullptr;
    for (const Line& each : function.lines) {
        add_source(each, before, source, text);
        fmt::format_to(out, "{}{:>8x}:   {}\n", numbers_of(each, function.heat.weight, numbers),
                       each.instruction.address, each.instruction.text);
        before = &each;
    }
    return text;
}

}  // namespace anyperf::cli
