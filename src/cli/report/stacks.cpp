// stacks.cpp: the stacks below a row of a report, in the four styles of perf report -g. The layout is that of
// callchain__fprintf_graph() and its neighbours in tools/perf/ui/stdio/hist.c, which a test compares.
//
// perf's tree has a node for each run of functions between two forks. The nodes of profile::Caller are single
// functions, so a run is a node with those below it that all of its samples go on to.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <span>

#include "cli/command/target_options.h"
#include "cli/report/tables.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using profile::Caller;
using profile::Profile;
using Style = StackOptions::Style;
using Value = StackOptions::Value;

constexpr std::size_t kIndent = 12;  // of all lines
constexpr std::size_t kStep = 10;    // of each level

template <class Number>
bool is_number(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

template <class Choice>
struct Word {
    std::string_view name;
    Choice choice;
};
template <class Choice, std::size_t kSize>
bool choose(std::string_view text, const std::array<Word<Choice>, kSize>& words, Choice& choice) {
    const auto row = std::ranges::find(words, text, &Word<Choice>::name);
    if (row != words.end()) choice = row->choice;
    return row != words.end();
}

constexpr std::array kStyles{Word{"none", Style::none}, Word{"graph", Style::graph}, Word{"fractal", Style::fractal},
                             Word{"flat", Style::flat}, Word{"folded", Style::folded}};
constexpr std::array kOrders{Word{"callee", profile::CallOrder::callee}, Word{"caller", profile::CallOrder::caller}};
constexpr std::array kKeys{Word{"function", profile::CallKey::function}, Word{"address", profile::CallKey::address},
                           Word{"srcline", profile::CallKey::source_line}};
constexpr std::array kValues{Word{"percent", Value::percent}, Word{"period", Value::period},
                             Word{"count", Value::count}};

/// Writes the stacks of one row.
class StackWriter {
  public:
    StackWriter(const Profile& profile, std::uint64_t whole, const StackOptions& options)
        : profile_(profile), whole_(whole), options_(options) {}

    std::string graph(const Caller& root, bool skip_own) {
        const Caller* forks = &root;
        std::string head;
        const std::vector<const Caller*> shown = shown_of(root, whole_of(root));
        // A single way has no share of its own: the row has it.
        if (shown.size() == 1 && shown.front()->weight == root.weight) {
            add_trunk(run_of(*shown.front()), skip_own, head);
            forks = run_of(*shown.front()).back();
        }
        text_ = head;
        if (!head.empty()) margin_ += 3;
        add_forks(*forks, options_.style == Style::fractal ? root.weight : whole_, 1, 1);
        return text_.empty() ? text_ : text_ + '\n';
    }

    /// Each stack, the heaviest first, with the weight of the samples that end there.
    std::string list(const Caller& root) {
        std::vector<const Caller*> path;
        collect(root, path);
        std::ranges::stable_sort(ends_, std::greater{}, &End::weight);
        if (ends_.size() > options_.most) ends_.resize(options_.most);
        const bool folded = options_.style == Style::folded;
        for (const End& each : ends_) {
            text_ += folded ? "" : "           ";
            add_value(each.weight, each.samples, whole_);
            text_ += folded ? ' ' : '\n';
            for (std::size_t i = 0; i < each.path.size(); ++i) {
                if (folded) text_ += i == 0 ? "" : ";";
                if (!folded) text_ += "                ";
                text_ += name_of(*each.path[i]);
                if (!folded) text_ += '\n';
            }
            text_ += '\n';
        }
        return text_;
    }

  private:
    struct End {
        std::vector<const Caller*> path;
        std::uint64_t weight, samples;
    };

    // As "%#lx" prints an address without a symbol (callchain_list__sym_name() of perf).
    std::string name_of(const Caller& node) const {
        const profile::Location& place = profile_.locations[node.place];
        if (function_of(profile_, place, node.frame) == profile::kNone<profile::FunctionId>)
            return place.address == 0 ? "0" : fmt::format("{:#x}", place.address);
        return symbol_text(profile_, place, node.frame) + line_of(place, node.frame) +
               (node.frame == profile::kSymbolFrame ? "" : " (inlined)");
    }

    /// The line of a frame after a blank, if nodes have one, as in perf.
    std::string line_of(const profile::Location& place, profile::FrameIndex frame) const {
        if (options_.key == profile::CallKey::function) return {};
        const auto frames = profile_.frames(place);
        const std::size_t index = std::min<std::size_t>(frame, frames.size() - 1);
        if (frames[index].line == 0) return " ??:0";
        return ' ' + source_line_text(profile_, place, static_cast<profile::FrameIndex>(index));
    }

    std::uint64_t whole_of(const Caller& node) const {
        return options_.style == Style::fractal ? node.weight - ended_at(node) : whole_;
    }
    /// Those below a node that are heavy enough, the heaviest first.
    std::vector<const Caller*> shown_of(const Caller& node, std::uint64_t whole) const {
        const double least = static_cast<double>(whole) * options_.least_percent / 100.0;
        std::vector<const Caller*> shown;
        for (const Caller& each : node.callers)
            if (each.weight != 0 && each.weight >= static_cast<std::uint64_t>(least)) shown.push_back(&each);
        return shown;
    }

    /// The node and those below it that all of its samples go on to.
    static std::vector<const Caller*> run_of(const Caller& first) {
        std::vector<const Caller*> run{&first};
        while (run.back()->callers.size() == 1 && run.back()->callers.front().weight == run.back()->weight)
            run.push_back(&run.back()->callers.front());
        return run;
    }

    void begin_line(std::string& text) const { text.append(kIndent + margin_, ' '); }

    void add_trunk(const std::vector<const Caller*>& run, bool skip_own, std::string& text) {
        const auto shown = std::span{run}.subspan(skip_own ? 1 : 0);
        for (std::size_t i = 0; i < shown.size(); ++i) {
            if (i == 0) {
                begin_line(text);
                text += "|\n";
            }
            begin_line(text);
            text += (i == 0 ? "---" : "   ") + name_of(*shown[i]) + '\n';
        }
    }

    void add_value(std::uint64_t weight, std::uint64_t samples, std::uint64_t whole) {
        const auto out = std::back_inserter(text_);
        const double share = whole == 0 ? 0.0 : 100.0 * static_cast<double>(weight) / static_cast<double>(whole);
        switch (options_.value) {
            case Value::percent: fmt::format_to(out, "{:.2f}%", share); break;
            case Value::period: fmt::format_to(out, "{}", weight); break;
            case Value::count: fmt::format_to(out, "{}", samples); break;
        }
    }

    /// The bars of the levels above; `bars` has a bit for each. perf's masks have 32 bits, and so many levels.
    void add_bars(std::size_t depth, std::uint64_t bars) {
        begin_line(text_);
        for (std::size_t i = 0; i < depth; ++i) {
            text_ += (bars >> i & 1) != 0 ? '|' : ' ';
            if (i + 1 < depth) text_.append(kStep, ' ');
        }
    }

    // The bar of a level ends at its last node.
    void add_forks(const Caller& node, std::uint64_t whole, std::size_t depth, std::uint64_t bars) {
        constexpr std::size_t kMostLevels = 63;
        const std::vector<const Caller*> shown = shown_of(node, whole_of(node));
        std::uint64_t left = whole;
        std::size_t printed = 0;
        for (const Caller* each : shown) {
            left -= std::min(left, each->weight);
            std::uint64_t below = bars;
            const bool last = each == shown.back();
            if (last && (options_.style != Style::fractal || left == 0)) below &= ~(std::uint64_t{1} << (depth - 1));
            add_bars(depth, bars);
            text_.append(kStep, ' ');
            text_ += '\n';
            const std::vector<const Caller*> run = run_of(*each);
            for (std::size_t i = 0; i < run.size(); ++i) add_function(*run[i], i == 0, whole, depth, below);
            if (depth < kMostLevels)
                add_forks(*run.back(),
                          options_.style == Style::fractal ? run.back()->weight - ended_at(*run.back()) : whole,
                          depth + 1, below | std::uint64_t{1} << depth);
            if (++printed == options_.most) break;
        }
        if (options_.style == Style::fractal && left != 0 && left != whole && !shown.empty())
            add_rest(left, whole, depth, bars);
    }

    static std::uint64_t ended_at(const Caller& node) {
        std::uint64_t below = 0;
        for (const Caller& each : node.callers) below += each.weight;
        return node.weight - below;
    }

    void add_function(const Caller& node, bool with_value, std::uint64_t whole, std::size_t depth, std::uint64_t bars) {
        add_bars(depth, bars);
        if (with_value) {
            text_ += "--";
            add_value(node.weight, node.samples, whole);
            text_ += "--";
        } else {
            text_.append(kStep, ' ');
        }
        text_ += name_of(node) + '\n';
    }

    void add_rest(std::uint64_t left, std::uint64_t whole, std::size_t depth, std::uint64_t bars) {
        add_bars(depth, bars & ~(std::uint64_t{1} << (depth - 1)));
        text_ += "--";
        add_value(left, 0, whole);
        text_ += "--[...]\n";
    }

    /// Gathers where samples end, below `node`.
    void collect(const Caller& node, std::vector<const Caller*>& path) {
        const double least = static_cast<double>(whole_) * options_.least_percent / 100.0;
        for (const Caller& each : node.callers) {
            path.push_back(&each);
            std::uint64_t samples = each.samples;
            for (const Caller& below : each.callers) samples -= below.samples;
            const std::uint64_t weight = ended_at(each);
            if (weight != 0 && weight >= static_cast<std::uint64_t>(least)) ends_.push_back({path, weight, samples});
            collect(each, path);
            path.pop_back();
        }
    }

    const Profile& profile_;
    std::uint64_t whole_;
    const StackOptions& options_;
    std::size_t margin_ = 0;  // after a trunk
    std::string text_;
    std::vector<End> ends_;
};

}  // namespace

Result<StackOptions> stack_options(const std::string& text, profile::CallOrder default_order,
                                   std::optional<double> percent_limit) {
    StackOptions options{.style = Style::graph, .order = default_order};
    options.least_percent = percent_limit.value_or(options.least_percent);
    std::size_t numbers = 0;
    for (const std::string_view word : split_at_commas(text)) {
        if (word.empty() || word == "fp") continue;
        if (choose(word, kStyles, options.style) || choose(word, kOrders, options.order) ||
            choose(word, kValues, options.value) || choose(word, kKeys, options.key))
            continue;
        if (numbers == 0 && is_number(word, options.least_percent) && options.least_percent >= 0) {
            ++numbers;
            continue;
        }
        if (numbers == 1 && is_number(word, options.most)) {
            ++numbers;
            continue;
        }
        return std::unexpected(bad_option(
            "-g " + text, fmt::format("'{}' is neither a style nor an order", word),
            "give graph, fractal, flat, folded or none; the least share in per cent; how many functions of each "
            "level; callee or caller; function, address or srcline; percent, period or count"));
    }
    return options;
}

std::string stacks_as_text(const Profile& profile, const profile::Row& row, std::uint64_t whole, bool skip_own,
                           const StackOptions& options) {
    // Most rows are too light to have a function of this share; their stacks would be for nothing.
    const double least = static_cast<double>(whole) * options.least_percent / 100.0;
    const bool too_light = std::max(row.total, row.self) < static_cast<std::uint64_t>(least);
    if (options.style == Style::none || (too_light && options.style != Style::fractal)) return {};
    const Caller root = stacks_of(profile, row, options.order, options.key);
    StackWriter writer{profile, whole, options};
    const bool is_tree = options.style == Style::graph || options.style == Style::fractal;
    return is_tree ? writer.graph(root, skip_own) : writer.list(root);
}

}  // namespace anyperf::cli
