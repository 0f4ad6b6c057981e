// view.cpp: a state machine. A key goes to the first of three places that wants it: the line of input at the bottom (a
// filter, a number of seconds), a pane of text (code, callers, help), or the table.
//
// show() replaces the profile every few seconds, so nothing may refer into it but what sum_up() has just made: the rows
// and the selected one, which is kept by its position. A pane of text is a copy, and stays as it was when it was
// opened.
//
// A render has three parts: the head, as many rows as fit, and the last line with a message, the input or the keys.
#include "cli/top/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/annotate/views.h"
#include "host/printable.h"
#include "profile/call_tree.h"

namespace anyperf::cli::top {

namespace {

using Named = Key::Named;
using Style = Line::Style;
using host::printable;  // names come from recorded programs
using profile::Row;

constexpr std::size_t kWidestColumn = 60;      // as in `report`: longer texts push the columns after them
constexpr double kHot = 5.0, kWarm = 0.5;      // per cent, as the colours of perf
constexpr double kLongestDelay = 3'600'000.0;  // ms

constexpr std::array<std::string_view, 17> kHelp{
    "up, down, page up, page down, home, end    move",
    "enter, a         the code of the function, with the share of each instruction",
    "c                its callers (with -g)",
    "s                sum up by the next key: those of -s, symbol, dso, comm, pid",
    "t                totals with what was called, or not (with -g)",
    "e                the next event",
    "/                show only rows that contain a text; an empty one shows all",
    "k, u             hide or show functions of the kernel, of programs",
    "z                forget all samples so far",
    "space            pause, and go on",
    "d                the seconds between two updates",
    "h, ?             this page",
    "escape, q        back to the table; there q ends anyperf",
    "",
    "Each update lets older samples weigh an eighth less, unless -z was given.",
    "",
    "escape or q: back",
};

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Style style_of(double percent) {
    return percent >= kHot ? Style::hot : percent >= kWarm ? Style::warm : Style::plain;
}

/// Where to cut a text to at most `width` bytes without cutting a character of UTF-8.
std::size_t cut_at(std::string_view text, std::size_t width) {
    if (text.size() <= width) return text.size();
    while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xc0) == 0x80) --width;
    return width;
}

std::vector<Line> lines_of(std::string_view text, Style style) {
    std::vector<Line> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back({printable(std::string{text.substr(0, end)}), style});
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

/// Adds the tree of callers, the innermost first. A caller with less than kWarm per cent of the samples is left out,
/// with all callers of its own.
void add_callers(const profile::Profile& profile, const profile::Caller& caller, std::uint64_t whole, std::size_t depth,
                 std::vector<Line>& lines) {
    for (const profile::Caller& each : caller.callers) {
        const double percent = share(each.weight, whole);
        if (percent < kWarm) continue;
        const std::string name = symbol_text(profile, profile.locations[each.place], each.frame);
        lines.push_back({printable(fmt::format("{:>{}.2f}%  {}", percent, 7 + depth * 2, name)), style_of(percent)});
        add_callers(profile, each, whole, depth + 1, lines);
    }
}

}  // namespace

View::View(ViewOptions options)
    : options_(std::move(options)),
      keys_(options_.keys),
      annotator_(options_.paths, annotation::Syntax::att),
      source_(options_.paths.root) {}

void View::show(profile::Profile profile) {
    if (paused_) return;
    profile_ = std::move(profile);
    if (!options_.filter.admits_all()) admitted_ = admitted_by(options_.filter, profile_);
    events_.clear();
    for (std::uint32_t i = 0; i < profile_.events.size(); ++i)
        if (!profile_.events[{i}].name.starts_with("dummy")) events_.push_back(i);
    event_ = std::min(event_, events_.empty() ? 0 : events_.size() - 1);
    sum_up();
}

bool View::shows(const Row& row) const {
    const bool kernel = profile_.locations[row.place].kernel;
    if (kernel ? options_.hide_kernel : options_.hide_user) return false;
    if (share(options_.children ? row.total : row.self, rows_.weight) < options_.percent_limit) return false;
    if (filter_.empty()) return true;
    return std::ranges::any_of(keys_, [&](profile::Key key) { return key_text(profile_, key, row).contains(filter_); });
}

// keep_samples: open_callers() needs the samples of the row, and they only have callers with call chains.
void View::sum_up() {
    rows_ = {};
    if (events_.empty()) return;
    rows_ = profile::sum_up(profile_, event(),
                            {.keys = keys_,
                             .children = options_.children,
                             .keep_samples = options_.children,
                             .admitted = options_.filter.admits_all() ? nullptr : &admitted_});
    std::erase_if(rows_.rows, [this](const Row& row) { return !shows(row); });
    select(selected_);
}

void View::select(std::size_t row) {
    selected_ = rows_.rows.empty() ? 0 : std::min(row, rows_.rows.size() - 1);
}

View::Wish View::press(Key key) {
    message_.clear();
    if (input_ != Input::none) {
        press_in_input(key);
        return Wish::none;
    }
    if (pane_ != Pane::table) {
        press_in_text(key);
        return Wish::none;
    }
    if (key.letter == 'q') return Wish::quit;
    if (key.letter == 'z') return Wish::forget;
    press_in_table(key);
    return Wish::none;
}

// Keys that move the selection return at once; all others may change what the table shows, so it is made again.
void View::press_in_table(Key key) {
    switch (key.named) {
        case Named::up: return select(selected_ - std::min<std::size_t>(selected_, 1));
        case Named::down: return select(selected_ + 1);
        case Named::page_up: return select(selected_ - std::min(selected_, page_));
        case Named::page_down: return select(selected_ + page_);
        case Named::home: return select(0);
        case Named::end: return select(rows_.rows.size());
        case Named::enter: return open_code();
        default: break;
    }
    switch (key.letter) {
        case 'a': return open_code();
        case 'c': return open_callers();
        case 'e': event_ = events_.empty() ? 0 : (event_ + 1) % events_.size(); break;
        case 's': {
            using profile::Key;
            const std::array<std::vector<Key>, 5> choices{
                options_.keys, {Key::symbol}, {Key::dso}, {Key::comm}, {Key::pid, Key::comm}};
            const auto now = std::ranges::find(choices, keys_);
            keys_ = now + 1 == choices.end() ? choices.front() : now[1];
            break;
        }
        case 't': options_.children = !options_.children; break;
        case 'k': options_.hide_kernel = !options_.hide_kernel; break;
        case 'u': options_.hide_user = !options_.hide_user; break;
        case ' ': paused_ = !paused_; break;
        case '/':
            input_ = Input::filter;
            typed_ = filter_;
            break;
        case 'd':
            input_ = Input::delay;
            typed_.clear();
            break;
        case 'h':
        case '?': pane_ = Pane::help; break;
        default: break;
    }
    sum_up();
}

void View::press_in_text(Key key) {
    const std::size_t last = text_.empty() ? 0 : text_.size() - 1;
    switch (key.named) {
        case Named::up: text_first_ -= std::min<std::size_t>(text_first_, 1); break;
        case Named::down: text_first_ = std::min(text_first_ + 1, last); break;
        case Named::page_up: text_first_ -= std::min(text_first_, page_); break;
        case Named::page_down: text_first_ = std::min(text_first_ + page_, last); break;
        case Named::home: text_first_ = 0; break;
        case Named::end: text_first_ = last; break;
        case Named::escape: pane_ = Pane::table; break;
        default:
            if (key.letter == 'q') pane_ = Pane::table;
    }
}

void View::press_in_input(Key key) {
    if (key.named == Named::escape) input_ = Input::none;
    if (key.named == Named::backspace && !typed_.empty()) typed_.pop_back();
    if (key.letter != 0) typed_ += key.letter;
    if (key.named == Named::enter) finish_input();
}

void View::finish_input() {
    if (std::exchange(input_, Input::none) == Input::filter) {
        filter_ = typed_;
        return sum_up();
    }
    char* end = nullptr;
    const double milliseconds = std::strtod(typed_.c_str(), &end) * 1000.0;
    const bool valid = milliseconds >= 1.0 && milliseconds <= kLongestDelay;  // false for "nan", too
    if (typed_.empty() || *end != 0 || !valid) return say("'" + typed_ + "' is not a number of seconds up to 3600");
    options_.delay_ms = static_cast<std::uint64_t>(milliseconds);
}

void View::open_code() {
    if (rows_.rows.empty()) return;
    const Row& row = rows_.rows[selected_];
    const profile::FunctionId function = profile::function_of(profile_, profile_.locations[row.place]);
    const auto hot = annotation::hot_functions(profile_, event());
    const auto found = std::ranges::find(hot, function, &annotation::HotFunction::function);
    if (function == profile::kNone<profile::FunctionId> || found == hot.end())
        return say("no samples in a function with a symbol: there is no code to show");
    auto annotated = annotator_.annotate(profile_, event(), *found);
    if (!annotated) return say(annotated.error().what + ": " + annotated.error().cause);
    // Each line of code begins with its share of the function's samples, if it has any. The pane opens at the hottest.
    double hottest = 0;
    text_ =
        lines_of(annotation_as_text({profile_.events[event()].name, {.weight = rows_.weight}, *annotated}, &source_),
                 Style::plain);
    text_first_ = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
        const double percent = std::strtod(text_[i].text.c_str(), nullptr);
        if (text_[i].text.starts_with('#')) continue;
        text_[i].style = style_of(percent);
        if (percent <= hottest) continue;
        hottest = percent;
        text_first_ = i - std::min<std::size_t>(i, page_ / 2);
    }
    pane_ = Pane::text;
}

// The shares are of the row's own samples: of those that its callees had, the callers are in the callees' rows.
void View::open_callers() {
    if (rows_.rows.empty()) return;
    if (!options_.children) return say("to see callers, record them (-g) and turn totals on (t)");
    const Row& row = rows_.rows[selected_];
    if (row.sample_indices.empty()) return say("no sample ends in this function: it only calls others");
    text_ = {{printable(fmt::format("callers of {}", key_text(profile_, profile::Key::symbol, row))), Style::head}};
    add_callers(profile_, profile::callers_of(profile_, row), row.self, 0, text_);
    if (text_.size() == 1) return say("no caller is known: programs without frame pointers need --call-graph dwarf");
    text_first_ = 0;
    pane_ = Pane::text;
}

std::string View::head() const {
    if (events_.empty()) return "anyperf top: waiting for samples";
    std::string text = fmt::format("{} samples of {}", rows_.samples, profile_.events[event()].name);
    if (events_.size() > 1) text += fmt::format(" ({} of {} events)", event_ + 1, events_.size());
    text += fmt::format(", weight {}, every {:g} s", rows_.weight, static_cast<double>(options_.delay_ms) / 1000.0);
    if (!filter_.empty()) text += ", with '" + filter_ + "'";
    if (options_.hide_kernel) text += ", kernel hidden";
    if (options_.hide_user) text += ", programs hidden";
    if (paused_) text += ", paused";
    if (ended_) text += ", the recording has ended";
    return printable(text);
}

/// The widths for the rows that are on the screen only, so that one long name far below does not widen a column.
std::vector<std::size_t> View::column_widths(std::size_t first, std::size_t count) const {
    std::vector<std::size_t> widths;
    for (const profile::Key key : keys_) {
        std::size_t width = title_of(key).size();
        for (std::size_t i = first; i < std::min(rows_.rows.size(), first + count); ++i)
            width = std::max(width, std::min(kWidestColumn, key_text(profile_, key, rows_.rows[i]).size()));
        widths.push_back(width);
    }
    return widths;
}

std::string View::title(const std::vector<std::size_t>& widths) const {
    std::string text = options_.children ? "Children     Self" : "Overhead";
    if (options_.sample_counts) text += "       Samples";
    if (options_.periods) text += "        Period";
    for (std::size_t i = 0; i < keys_.size(); ++i)
        fmt::format_to(std::back_inserter(text), "  {:<{}}", title_of(keys_[i]), i + 1 < keys_.size() ? widths[i] : 0);
    return text;
}

std::string View::row_text(const Row& row, const std::vector<std::size_t>& widths) const {
    std::string text = fmt::format("{:>7.2f}%", share(options_.children ? row.total : row.self, rows_.weight));
    if (options_.children) fmt::format_to(std::back_inserter(text), " {:>7.2f}%", share(row.self, rows_.weight));
    if (options_.sample_counts) fmt::format_to(std::back_inserter(text), "  {:>12}", row.samples);
    if (options_.periods) fmt::format_to(std::back_inserter(text), "  {:>12}", row.self);
    for (std::size_t i = 0; i < keys_.size(); ++i)
        fmt::format_to(std::back_inserter(text), "  {:<{}}", key_text(profile_, keys_[i], row),
                       i + 1 < keys_.size() ? widths[i] : 0);
    return printable(text);
}

/// Scrolls no further than needed to show the selected row.
std::vector<Line> View::render_table(std::size_t height) {
    if (selected_ < first_) first_ = selected_;
    if (selected_ >= first_ + height) first_ = selected_ + 1 - height;
    const auto widths = column_widths(first_, height);
    std::vector<Line> lines{{title(widths), Style::head}};
    for (std::size_t i = first_; i < std::min(rows_.rows.size(), first_ + height); ++i) {
        const Row& row = rows_.rows[i];
        const double percent = share(options_.children ? row.total : row.self, rows_.weight);
        lines.push_back({row_text(row, widths), i == selected_ ? Style::selected : style_of(percent)});
    }
    return lines;
}

std::vector<Line> View::render_text(std::size_t height) {
    std::vector<Line> lines;
    for (std::size_t i = text_first_; i < std::min(text_.size(), text_first_ + height + 1); ++i)
        lines.push_back(text_[i]);
    return lines;
}

std::vector<Line> View::render(std::size_t width, std::size_t height) {
    if (height < 4) return {{head(), Style::head}};
    page_ = height - 3;
    std::vector<Line> lines{{head(), Style::faint}};
    std::vector<Line> body = pane_ == Pane::table  ? render_table(page_)
                             : pane_ == Pane::text ? render_text(page_)
                                                   : std::vector<Line>{};
    if (pane_ == Pane::help)
        for (const auto text : kHelp) body.push_back({std::string{text}, Style::plain});
    std::ranges::move(body, std::back_inserter(lines));
    lines.resize(height - 1);
    std::string last = message_;
    if (input_ == Input::filter) last = "show rows with: " + typed_;
    if (input_ == Input::delay) last = "seconds between updates: " + typed_;
    if (last.empty())
        last = pane_ == Pane::table ? "enter: code  c: callers  s: sort  /: filter  h: keys  q: quit" : "q: back";
    lines.push_back({printable(last), Style::faint});
    for (Line& line : lines) line.text.resize(cut_at(line.text, width));
    return lines;
}

std::string View::table(std::size_t most) {
    std::string text = "# " + head() + "\n";
    if (rows_.rows.empty()) return text;
    const auto widths = column_widths(0, most);
    text += "# " + title(widths) + "\n";
    for (std::size_t i = 0; i < std::min(most, rows_.rows.size()); ++i)
        text += "  " + row_text(rows_.rows[i], widths) + "\n";
    return text;
}

}  // namespace anyperf::cli::top
