// text.cpp: an annotated function as perf annotate --stdio shows it: the hottest source lines, then the instructions,
// each with its share of the function's samples, and between them the source lines that they come from. The optimiser
// mixes the instructions of lines, so a line appears again wherever the code comes back to it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "cli/annotate/views.h"

namespace anyperf::cli {

namespace {

using annotation::Line;

// Per cent. The summary leaves out smaller lines, as perf does (annotation__calc_lines()).
constexpr double kLeastHotLine = 0.5;

double per_cent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Prints one function.
class TextView {
  public:
    TextView(const AnnotatedEvent& shown, annotation::SourceText* source, ShownParts parts)
        : shown_(shown), function_(shown.annotation), source_(source), parts_(parts) {}

    std::string text() {
        add_head();
        add_summary();
        add_titles();
        function_.is_script ? add_script() : add_code();
        return std::move(text_);
    }

  private:
    template <class... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    }

    /// Per cent of what the user has chosen.
    double share(const annotation::Heat& heat) const { return share_of(shown_, heat); }
    double share_of(const AnnotatedEvent& event, const annotation::Heat& heat) const {
        const annotation::Heat& whole = parts_.of_event ? event.heat : event.annotation.heat;
        return parts_.of_samples ? per_cent(heat.samples, whole.samples) : per_cent(heat.weight, whole.weight);
    }
    std::string_view file_name(std::string_view path) const {
        return parts_.directories ? path : path.substr(path.rfind('/') + 1);
    }

    void add_head() {
        add("# {} in {}\n", function_.name, function_.path);
        add_event(shown_);
        for (const AnnotatedEvent& other : shown_.others) add_event(other);
        if (!function_.has_debug_info && !function_.is_script)
            add("# {} has no DWARF for it, so there is no source\n", function_.path);
    }

    void add_event(const AnnotatedEvent& event) {
        const annotation::Annotation& function = event.annotation;
        add("# {} samples of '{}', {:.2f}% of the event; per cent are of the {}{}\n", function.heat.samples,
            event.event, per_cent(function.heat.weight, event.heat.weight), parts_.of_event ? "event" : "function",
            parts_.of_samples ? "'s samples" : "");
        if (function.elsewhere.samples > 0)
            add("# {} samples are at addresses where no instruction begins\n", function.elsewhere.samples);
    }

    void add_summary() {
        const std::vector<HotLine> lines = hot_lines(function_);
        if (!lines.empty()) text_ += "#\n# Hottest lines\n";
        for (const HotLine& each : lines)
            if (share(each.heat) >= kLeastHotLine)
                add("# {:>8.2f}%  {}:{}\n", share(each.heat), file_name(each.file), each.line);
    }

    void add_titles() {
        text_ += "#\n# ";
        for (std::size_t i = 0; i <= shown_.others.size(); ++i) {
            text_ += i == 0 ? "Percent" : " Percent";
            if (parts_.samples) add("{:>12}", "Samples");
            if (parts_.periods) add("{:>14}", "Period");
        }
        if (function_.is_script)
            text_ += "       Line   Source\n";
        else
            add("    Address   {}Instruction\n", parts_.bytes ? fmt::format("{:<{}}", "Bytes", kBytesWidth) : "");
    }

    /// What the columns before an instruction or a line have, of each event.
    void add_numbers(std::size_t line) {
        add_heat(shown_, function_.lines[line].heat);
        for (const AnnotatedEvent& other : shown_.others) add_heat(other, heat_beside(shown_, other, line));
        text_ += ":  ";
    }
    void add_heat(const AnnotatedEvent& event, const annotation::Heat& heat) {
        add("{:>7.2f} ", share_of(event, heat));
        if (parts_.samples) add("{:>11} ", heat.samples);
        if (parts_.periods) add("{:>13} ", heat.weight);
    }

    void add_script() {
        for (std::size_t i = 0; i < function_.lines.size(); ++i) {
            const Line& each = function_.lines[i];
            add_numbers(i);
            add("{:>8}   {}\n", each.line, source_ ? source_->line(each.file, each.line) : "");
        }
    }

    void add_code() {
        const Line* before = nullptr;
        for (std::size_t i = 0; i < function_.lines.size(); ++i) {
            const Line& each = function_.lines[i];
            add_source(each, before);
            add_numbers(i);
            add("{:>8x}:   {}{}\n", each.instruction.address, bytes_of(each.instruction), each.instruction.text);
            before = &each;
        }
    }

    /// The bytes of an instruction, as objdump writes them.
    std::string bytes_of(const annotation::Instruction& instruction) const {
        if (!parts_.bytes) return {};
        const std::span bytes{instruction.bytes.data(), instruction.size};
        return fmt::format("{:<{}}", fmt::format("{:02x}", fmt::join(bytes, " ")), kBytesWidth);
    }

    /// Adds the source line of an instruction, if it is not that of the instruction before.
    void add_source(const Line& line, const Line* before) {
        const bool other_place = !before || before->file != line.file || before->function != line.function;
        if (line.line == 0 || (!other_place && before->line == line.line)) return;
        if (other_place) add("{:>{}}  {} ({}):\n", ":", width(), line.function, file_name(line.file));
        if (source_) add("{:>{}}  {:<5}{}\n", ":", width(), line.line, source_->line(line.file, line.line));
    }

    /// Of the first column and the colon after it; of a group of the columns of all events.
    std::size_t width() const { return 9 + 8 * shown_.others.size(); }

    static constexpr std::size_t kBytesWidth = 24;  // of eight bytes; few instructions have more

    const AnnotatedEvent& shown_;
    const annotation::Annotation& function_;
    annotation::SourceText* source_;
    ShownParts parts_;
    std::string text_;
};

}  // namespace

annotation::Heat heat_beside(const AnnotatedEvent& leader, const AnnotatedEvent& other, std::size_t line) {
    const std::vector<Line>& lines = other.annotation.lines;
    if (!leader.annotation.is_script) return line < lines.size() ? lines[line].heat : annotation::Heat{};
    const std::uint32_t number = leader.annotation.lines[line].line;
    const auto same = std::ranges::find(lines, number, &Line::line);
    return same == lines.end() ? annotation::Heat{} : same->heat;
}

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

std::string annotation_as_text(const AnnotatedEvent& shown, annotation::SourceText* source, ShownParts parts) {
    return TextView{shown, source, parts}.text();
}

}  // namespace anyperf::cli
