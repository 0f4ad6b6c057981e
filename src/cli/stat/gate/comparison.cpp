// comparison.cpp: reads an earlier report and compares. The file is the user's, so it may be anything: every access to
// the JSON is checked.
#include "cli/stat/gate/comparison.h"

#include "try.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace anyperf::cli::stat {

namespace {

using Json = nlohmann::json;

/// The common form of all errors about the baseline file.
Error bad_baseline(const std::string& file, std::string cause) {
    return {"cannot compare with " + file, std::move(cause),
            "create it with anyperf stat --update-baseline --baseline " + file + " -- COMMAND"};
}

constexpr std::size_t kMostBytes = 64U << 20;  // far more than any report has

/// Reads a file or pipe to its end. O_NONBLOCK keeps open(2) and the first read(2) from waiting for a writer that may
/// never come: without a writer the pipe reads as empty. EAGAIN means that there is a writer (a shell's <(…)), so from
/// then on the read may block.
Result<std::string> read_whole(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return std::unexpected(bad_baseline(file, std::generic_category().message(errno)));
    std::string text;
    std::array<char, 4096> piece;
    ssize_t got = 0;
    while (text.size() <= kMostBytes) {
        got = ::read(fd, piece.data(), piece.size());
        if (got < 0 && errno == EAGAIN && ::fcntl(fd, F_SETFL, 0) == 0) continue;
        if (got <= 0) break;
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
    const int error = errno;
    ::close(fd);
    if (got < 0) return std::unexpected(bad_baseline(file, std::generic_category().message(error)));
    if (text.size() > kMostBytes) return std::unexpected(bad_baseline(file, "it is too large for a report"));
    if (text.empty()) return std::unexpected(bad_baseline(file, "it is empty, or a pipe without a writer"));
    return text;
}

/// A string member; empty if it is missing or no string.
std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Reports of anyperf before it wrote an identity, and of other tools, have none.
RunIdentity identity_in(const Json& report) {
    RunIdentity identity;
    if (const auto words = report.find("command"); words != report.end() && words->is_array())
        for (const auto& word : *words)
            if (word.is_string()) identity.command.push_back(word.get<std::string>());
    identity.mode = text_of(report, "mode");
    const auto object = report.find("identity");
    if (object == report.end() || !object->is_object()) return identity;
    identity.version = text_of(*object, "version");
    identity.cpu = text_of(*object, "cpu");
    identity.settings = text_of(*object, "settings");
    identity.environment = text_of(*object, "environment");
    identity.program = text_of(*object, "program");
    const auto repeats = object->find("repeats");
    identity.repeats = repeats != object->end() && repeats->is_boolean() && repeats->get<bool>();
    return identity;
}

/// "cycles CGROUP CPU0": what identifies a count within a report.
std::string full_name(const std::string& name, const std::string& where, const std::string& cgroup) {
    return name + (cgroup.empty() ? "" : " " + cgroup) + (where.empty() ? "" : " " + where);
}

/// Pairs the counts of both runs by name: those of the baseline first, then those that only this run has. A name that
/// occurs several times (-e cycles,cycles) is paired in order: the first with the first.
std::vector<Difference> pair_up(std::span<const BaselineValue> earlier, std::span<const BaselineValue> now) {
    std::vector<Difference> all;
    for (const auto& old : earlier) all.push_back({full_name(old.name, old.where, old.cgroup), old.value, {}, {}});
    for (const auto& value : now) {
        const std::string name = full_name(value.name, value.where, value.cgroup);
        const auto known = std::ranges::find_if(
            all, [&](const Difference& difference) { return difference.name == name && !difference.now; });
        if (known != all.end())
            known->now = value.value;
        else
            all.push_back({name, {}, value.value, {}});
    }
    return all;
}

/// A value of the file that must be a count: a number from 0 up. `place`: where it is, such as "events[2].value".
Result<double> count_of(const Json& value, const std::string& place, const std::string& file) {
    if (!value.is_number())
        return std::unexpected(bad_baseline(file, fmt::format("{} is {}, not a number", place, value.type_name())));
    const auto number = value.get<double>();
    if (number < 0) return std::unexpected(bad_baseline(file, fmt::format("{} is {}, below 0", place, value.dump())));
    return number;
}

/// The values of -r in an object of "events", which is at `place`; empty if it has none.
Result<std::vector<double>> runs_in(const Json& event, const std::string& place, const std::string& file) {
    std::vector<double> runs;
    const auto object = event.find("runs");
    if (object == event.end() || !object->is_object()) return runs;
    const auto values = object->find("values");
    if (values == object->end() || !values->is_array()) return runs;
    for (const auto& value : *values)
        runs.push_back(TRY(count_of(value, fmt::format("{}.runs.values[{}]", place, runs.size()), file)));
    return runs;
}

/// An object of "events"; without a value if it was not counted.
Result<std::optional<BaselineValue>> event_in(const Json& event, const std::string& place, const std::string& file) {
    if (!event.is_object() || text_of(event, "name").empty())
        return std::unexpected(bad_baseline(file, place + " has no name"));
    const auto value = event.find("value");
    if (value == event.end() || value->is_null()) return std::nullopt;
    const double count = TRY(count_of(*value, place + ".value", file));
    auto runs = TRY(runs_in(event, place, file));
    return BaselineValue{text_of(event, "name"), text_of(event, "where"), text_of(event, "cgroup"), count,
                         std::move(runs)};
}

/// Finds where a text stops being JSON.
struct SyntaxCheck : nlohmann::json_sax<Json> {
    std::size_t stopped = 0;  ///< bytes that were read

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        stopped = position;
        return false;
    }
};

/// "line 3, column 7": of the last byte that was read before the text stopped being JSON.
std::string syntax_error_place(const std::string& text) {
    SyntaxCheck check;
    Json::sax_parse(text, &check);
    const std::string_view before = std::string_view{text}.substr(0, std::max<std::size_t>(check.stopped, 1) - 1);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1, before.size() - line_start + 1);
}

/// Whether a gate applies to a difference. The gate of an event applies to it in every place and cgroup; the general
/// one to everything but the elapsed time.
bool applies_to(const Gate& gate, const std::string& name) {
    if (gate.event.empty()) return name != kWallTime;
    // The report adds ":u" to a name of which only user mode could be counted.
    return name == gate.event || name == gate.event + ":u" || name.starts_with(gate.event + " ") ||
           name.starts_with(gate.event + ":u ");
}

/// The limit of an event: that of the last gate that names it, else that of the last general gate.
std::optional<double> limit_of(const std::string& name, std::span<const Gate> gates) {
    std::optional<double> general;
    std::optional<double> own;
    for (const auto& gate : gates)
        if (applies_to(gate, name)) (gate.event.empty() ? general : own) = gate.percent;
    return own ? own : general;
}

/// A count: without decimals if it is whole and double holds it exactly.
std::string number(const std::optional<double>& value) {
    if (!value) return "-";
    return *value == std::floor(*value) && std::abs(*value) < 1e15 ? fmt::format("{:.0f}", *value)
                                                                   : fmt::format("{:.2f}", *value);
}

/// In events: "+12", as exact as a double is.
std::string change_text(const Difference& difference) {
    if (!difference.before || !difference.now) return "-";
    const double change = *difference.now - *difference.before;
    return change == std::floor(change) && std::abs(change) < 1e15 ? fmt::format("{:+.0f}", change)
                                                                   : fmt::format("{:+.2f}", change);
}

}  // namespace

Result<Baseline> baseline_in(const Json& report, const std::string& file) {
    if (!report.is_object() || !report.contains("events") || !report["events"].is_array())
        return std::unexpected(bad_baseline(file, "it has no array \"events\""));
    Baseline earlier{identity_in(report), {}};
    std::size_t number = 0;
    for (const auto& event : report["events"])
        if (auto counted = TRY(event_in(event, fmt::format("events[{}]", number++), file)))
            earlier.events.push_back(std::move(*counted));
    if (const auto wall = report.find("wall_ns"); wall != report.end() && !wall->is_null()) {
        const double time = TRY(count_of(*wall, "wall_ns", file));
        earlier.events.push_back({std::string{kWallTime}, "", "", time});
    }
    return earlier;
}

Result<Baseline> read_baseline(const std::string& file) {
    const std::string text = TRY(read_whole(file));
    const Json object = Json::parse(text, nullptr, false);
    if (object.is_discarded())
        return std::unexpected(
            bad_baseline(file, "not valid JSON, or more than one object, at " + syntax_error_place(text)));
    return baseline_in(object, file);
}

std::vector<BaselineValue> values_of(const Report& report) {
    std::vector<BaselineValue> values;
    for (const auto& line : report.lines)
        if (line.status() == Status::counted)
            values.push_back({line.name, line.where, line.cgroup, line.value(), line.runs});
    values.push_back({std::string{kWallTime}, "", "", static_cast<double>(report.wall_ns)});
    return values;
}

// Events whose count was the same in each run of -r. Their limit is 0: a count that repeats exactly and now differs is
// a change of the program.
std::vector<Gate> limits_of_repeating(std::span<const BaselineValue> values) {
    std::vector<Gate> limits;
    for (const auto& value : values)
        if (value.runs.size() > 1 && std::ranges::adjacent_find(value.runs, std::not_equal_to{}) == value.runs.end())
            limits.push_back({value.name, 0});
    return limits;
}

// In percent of the earlier count. From 0 any growth is infinite, which is above every limit.
std::optional<double> Difference::growth() const {
    if (!before || !now) return std::nullopt;
    if (*before == *now) return 0;
    if (*before == 0) return std::numeric_limits<double>::infinity();
    return (*now - *before) / *before * 100;
}

// A gate that applies to nothing that both runs counted fails. Otherwise a gate would pass for ever once its event is
// renamed, refused by the kernel or absent from the baseline. A smaller count never fails: growth() is negative then.
Comparison compare(std::span<const BaselineValue> earlier, std::span<const BaselineValue> now,
                   std::span<const Gate> gates) {
    Comparison result{pair_up(earlier, now), {}, true};
    for (auto& difference : result.differences) {
        difference.limit = limit_of(difference.name, gates);
        result.passed = result.passed && !difference.above();
    }
    for (const auto& gate : gates) {
        const bool measured = std::ranges::any_of(result.differences, [&](const Difference& difference) {
            return applies_to(gate, difference.name) && difference.growth().has_value();
        });
        if (measured) continue;
        result.passed = false;
        result.unmeasured.push_back(gate.event);
    }
    return result;
}

std::string growth_text(const std::optional<double>& growth) {
    if (!growth) return "-";
    if (std::isinf(*growth)) return "from 0";
    // A count that repeats may have grown by one in a milliard.
    return *growth != 0 && std::abs(*growth) < 0.01 ? fmt::format("{:+.2g}%", *growth)
                                                    : fmt::format("{:+.2f}%", *growth);
}

TextRow text_of(const Difference& difference) {
    return {difference.name, number(difference.before), number(difference.now), change_text(difference),
            growth_text(difference.growth())};
}

nlohmann::ordered_json json_of(const Difference& difference) {
    using OrderedJson = nlohmann::ordered_json;
    const auto number = [](const std::optional<double>& value) {
        return value && std::isfinite(*value) ? OrderedJson(*value) : OrderedJson();  // JSON has no infinity
    };
    return {{"name", difference.name},
            {"baseline", number(difference.before)},
            {"now", number(difference.now)},
            {"growth_percent", number(difference.growth())},
            {"limit_percent", number(difference.limit)},
            {"above", difference.above()}};
}

std::string to_table(const Comparison& comparison) {
    std::string table =
        fmt::format(" {:<32} {:>20} {:>20} {:>16} {:>12}\n", "event", "baseline", "now", "difference", "in percent");
    for (const auto& row : comparison.differences) {
        const TextRow text = text_of(row);
        table += fmt::format(" {:<32} {:>20} {:>20} {:>16} {:>12}{}\n", text.name, text.before, text.now, text.change,
                             text.growth, row.above() ? fmt::format("  above {}%", *row.limit) : "");
    }
    for (const auto& event : comparison.unmeasured)
        table += event.empty() ? " --fail-above: no event was counted in both runs, so nothing can be compared\n"
                               : fmt::format(" --fail-above {}: not counted in both runs\n", event);
    return table;
}

}  // namespace anyperf::cli::stat
