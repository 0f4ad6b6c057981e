// bench_file.cpp: a key is a row of kKeys with the function that reads its value into a Bench. The same rows serve the
// top level, whose values are the defaults, and each [[bench]]. toml++ keeps the position of each value; errors name
// that position.
#include "cli/bench/bench_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "cli/bench/toml_library.h"
#include "cli/stat/gate/comparison.h"
#include "events/suggest/near_names.h"
#include "models/machines/presets.h"
#include "pmu/cpu/cpu_models.h"
#include "try.h"

namespace anyperf::cli::bench {

namespace {

constexpr std::size_t kMostBytes = 16U << 20;  // far more than any list of commands has
constexpr std::int64_t kMostRuns = 10'000;

/// The bench file: the name by which errors call it, and the base of relative paths in it.
struct Place {
    std::string file;
    std::string directory;  ///< absolute
};

Error bad_file(const Place& place, std::string cause, std::string fix) {
    return {"cannot use " + place.file, std::move(cause), std::move(fix)};
}

Error bad_value(const Place& place, const toml::source_position& at, const std::string& what, std::string fix) {
    return bad_file(place, fmt::format("line {}, column {}: {}", at.line, at.column, what), std::move(fix));
}

Error bad_value(const Place& place, const toml::node& node, const std::string& what, std::string fix) {
    return bad_value(place, node.source().begin, what, std::move(fix));
}

/// A string without a zero byte, which no path, argument or variable may have.
Result<std::string> string_of(const Place& place, const toml::node& node, std::string_view what,
                              const std::string& example) {
    const auto* const text = node.as_string();
    if (text == nullptr)
        return std::unexpected(bad_value(place, node, fmt::format("{} is not a string", what), example));
    if (text->get().find('\0') != std::string::npos)
        return std::unexpected(bad_value(place, node, fmt::format("{} contains a zero byte", what), example));
    return text->get();
}

Result<std::vector<std::string>> strings_of(const Place& place, const toml::node& node, std::string_view what,
                                            const std::string& example) {
    const auto* const array = node.as_array();
    if (array == nullptr || array->empty())
        return std::unexpected(bad_value(place, node, fmt::format("{} is not a list of strings", what), example));
    std::vector<std::string> found;
    for (const auto& element : *array) found.push_back(TRY(string_of(place, element, what, example)));
    return found;
}

/// A path as the file names it, absolute.
std::string absolute(const Place& place, const std::string& path) {
    return (std::filesystem::path{place.directory} / path).lexically_normal().string();
}

/// The growth that a limit allows, in percent: 0.5, 2, "2" or "0.5%", as for `stat --fail-above`.
Result<double> percentage_of(const Place& place, const toml::node& node) {
    const std::string fix = "write it as \"0.5%\", or as 0";
    double value = -1;
    if (const auto number = node.value<double>(); number && !node.is_string()) {
        value = *number;
    } else if (const auto* const text = node.as_string(); text != nullptr) {
        std::string_view digits = text->get();
        if (digits.ends_with('%')) digits.remove_suffix(1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) value = -1;
    }
    if (!(value >= 0) || !std::isfinite(value))
        return std::unexpected(bad_value(place, node, "a limit is not a percentage >= 0", fix));
    return value;
}

Result<std::int64_t> whole_number(const Place& place, const toml::node& node, std::string_view what, std::int64_t least,
                                  std::int64_t most) {
    const auto* const number = node.as_integer();
    if (number == nullptr || number->get() < least || number->get() > most)
        return std::unexpected(
            bad_value(place, node, fmt::format("{} is not a whole number from {} to {}", what, least, most), ""));
    return number->get();
}

Result<void> read_command(const Place& place, const toml::node& node, Bench& bench) {
    const std::string example =
        R"(command = ["sort", "numbers.txt"], or command = "sort numbers.txt | uniq" for a shell)";
    if (node.is_string()) {
        const std::string line = TRY(string_of(place, node, "command", example));
        bench.command = {"/bin/sh", "-c", line};
    } else {
        bench.command = TRY(strings_of(place, node, "command", example));
    }
    if (bench.command.back().empty() && bench.command.size() == 1)
        return std::unexpected(bad_value(place, node, "command is empty", example));
    return {};
}

Result<void> read_directory(const Place& place, const toml::node& node, Bench& bench) {
    bench.directory = absolute(place, TRY(string_of(place, node, "directory", "directory = \"data\"")));
    return {};
}

Result<void> read_setup(const Place& place, const toml::node& node, Bench& bench) {
    bench.setup = TRY(string_of(place, node, "setup", "setup = \"make numbers.txt\""));
    return {};
}

Result<void> read_input(const Place& place, const toml::node& node, Bench& bench) {
    bench.input = absolute(place, TRY(string_of(place, node, "input", "input = \"numbers.txt\"")));
    return {};
}

/// Adds variables to those of the top level. If both have one of that name, the bench's replaces the other.
Result<void> read_environment(const Place& place, const toml::node& node, Bench& bench) {
    const std::string example = R"(environment = { PATH = "/usr/bin:/bin", LANG = "C" })";
    const auto* const table = node.as_table();
    if (table == nullptr) return std::unexpected(bad_value(place, node, "environment is not a table", example));
    for (const auto& [key, value] : *table) {
        const std::string name{key.str()};
        if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
            return std::unexpected(bad_value(place, value, fmt::format("'{}' cannot name a variable", name), example));
        bench.environment[name] = TRY(string_of(place, value, "variable " + name, example));
    }
    return {};
}

Result<void> read_events(const Place& place, const toml::node& node, Bench& bench) {
    bench.events = TRY(strings_of(place, node, "events", R"(events = ["instructions:u", "branches:u"])"));
    return {};
}

Result<void> read_limit(const Place& place, const toml::node& node, Bench& bench) {
    const double percent = TRY(percentage_of(place, node));
    std::erase_if(bench.limits, [](const stat::Gate& gate) { return gate.event.empty(); });
    bench.limits.push_back({"", percent});
    return {};
}

Result<void> read_limits(const Place& place, const toml::node& node, Bench& bench) {
    const auto* const table = node.as_table();
    if (table == nullptr)
        return std::unexpected(
            bad_value(place, node, "limits is not a table", R"(limits = { "instructions:u" = "0.1%" })"));
    for (const auto& [key, value] : *table) {
        const std::string event{key.str()};
        const double percent = TRY(percentage_of(place, value));
        std::erase_if(bench.limits, [&](const stat::Gate& gate) { return gate.event == event; });
        bench.limits.push_back({event, percent});
    }
    return {};
}

Result<void> read_runs(const Place& place, const toml::node& node, Bench& bench) {
    bench.runs = static_cast<int>(TRY(whole_number(place, node, "runs", 2, kMostRuns)));
    return {};
}

Result<void> read_seed(const Place& place, const toml::node& node, Bench& bench) {
    bench.seed =
        static_cast<std::uint64_t>(TRY(whole_number(place, node, "seed", 0, std::numeric_limits<std::int64_t>::max())));
    return {};
}

Result<void> read_turns(const Place& place, const toml::node& node, Bench& bench) {
    const auto* const value = node.as_boolean();
    if (value == nullptr) return std::unexpected(bad_value(place, node, "turns is not true or false", "turns = false"));
    bench.turns = value->get();
    return {};
}

/// The names in the rows of a table.
std::vector<std::string> names_of(const auto& rows) {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const auto& row : rows) names.emplace_back(row.name);
    return names;
}

/// Error: `name` is not in `known`.
Result<void> check_name(const Place& place, const toml::node& node, std::string_view what, const std::string& name,
                        const std::vector<std::string>& known) {
    if (std::ranges::find(known, name) != known.end()) return {};
    const std::string near = events::did_you_mean(name, known);
    return std::unexpected(bad_value(place, node, fmt::format("'{}' is not the name of {}", name, what),
                                     near.empty() ? fmt::format("use one of: {}", fmt::join(known, ", ")) : near));
}

Result<void> read_cpu_model(const Place& place, const toml::node& node, Bench& bench) {
    bench.cpu_model = TRY(string_of(place, node, "cpu-model", "cpu-model = \"skl\""));
    return check_name(place, node, "a CPU model", bench.cpu_model, names_of(pmu::kCpuModels));
}

/// A file of that name, relative to the bench file, is preferred to a preset.
Result<void> read_machine(const Place& place, const toml::node& node, Bench& bench) {
    bench.machine = TRY(string_of(place, node, "machine", "machine = \"zen4\""));
    if (const std::string file = absolute(place, bench.machine); std::filesystem::exists(file)) {
        bench.machine = file;
        return {};
    }
    return check_name(place, node, "a machine, nor a file", bench.machine, names_of(models::presets()));
}

struct Key {
    std::string_view name;
    Result<void> (*read)(const Place&, const toml::node&, Bench&);
    bool of_defaults;  ///< the top level may have it, too
};
constexpr std::array kKeys{
    Key{"command", read_command, false},
    Key{"directory", read_directory, true},
    Key{"setup", read_setup, true},
    Key{"input", read_input, true},
    Key{"environment", read_environment, true},
    Key{"events", read_events, true},
    Key{"limit", read_limit, true},
    Key{"limits", read_limits, true},
    Key{"runs", read_runs, true},
    Key{"turns", read_turns, true},
    Key{"seed", read_seed, true},
    Key{"cpu-model", read_cpu_model, true},
    Key{"machine", read_machine, true},
};

/// Keys that are not rows of kKeys.
constexpr std::string_view kName = "name";
constexpr std::string_view kBenches = "bench";
constexpr std::string_view kBaseline = "baseline";

Error unknown_key(const Place& place, const toml::key& key, bool top_level) {
    std::vector<std::string> known;
    for (const Key& each : kKeys)
        if (!top_level || each.of_defaults) known.emplace_back(each.name);
    if (top_level)
        known.insert(known.end(), {std::string{kBenches}, std::string{kBaseline}});
    else
        known.emplace_back(kName);
    std::string near = events::did_you_mean(key.str(), known);
    return bad_value(place, key.source().begin,
                     fmt::format("there is no key '{}' {}", key.str(), top_level ? "at the top level" : "of a bench"),
                     near.empty() ? "anyperf-bench(1) lists the keys" : std::move(near));
}

/// Reads the keys of a table into `bench`. Skips those that the callers read: `name` of a bench, and at the top level
/// `bench` and `baseline`.
Result<void> read_keys(const Place& place, const toml::table& table, bool top_level, Bench& bench) {
    for (const auto& [key, value] : table) {
        if (top_level ? key.str() == kBenches || key.str() == kBaseline : key.str() == kName) continue;
        const auto row = std::ranges::find(kKeys, key.str(), &Key::name);
        if (row == kKeys.end() || (top_level && !row->of_defaults))
            return std::unexpected(unknown_key(place, key, top_level));
        TRY(row->read(place, value, bench));
    }
    return {};
}

/// The names of the events that the bench counts. None if a string has more than names, such as a group or the terms
/// of a PMU: what such a string counts is known when it has been resolved.
std::vector<std::string> plain_names(const std::vector<std::string>& events) {
    std::vector<std::string> names;
    for (const std::string& text : events) {
        if (text.find_first_of("{}/*?[] ") != std::string::npos) return {};
        for (std::size_t from = 0; from <= text.size();) {
            const std::size_t end = std::min(text.find(',', from), text.size());
            names.push_back(text.substr(from, end - from));
            from = end + 1;
        }
    }
    return names;
}

/// Checks before any command runs that the bench counts the events of its own limits. Those of the top level are for
/// all benches, of which some may count other events.
Result<void> check_limits(const Place& place, const toml::table& table, const Bench& bench) {
    const auto* const limits = table.get_as<toml::table>("limits");
    std::vector<std::string> names = plain_names(bench.events);
    if (limits == nullptr || names.empty()) return {};
    names.emplace_back(stat::kWallTime);
    for (const auto& [key, value] : *limits) {
        const std::string event{key.str()};
        const auto is_it = [&](const std::string& name) {
            return event == name || event == name + ":u" || event + ":u" == name;
        };
        if (std::ranges::any_of(names, is_it)) continue;
        const std::string near = events::did_you_mean(event, names);
        return std::unexpected(bad_value(place, key.source().begin,
                                         fmt::format("no such event is counted: {}", fmt::join(names, ", ")),
                                         near.empty() ? fmt::format("events = [\"{}\"] adds it", event) : near));
    }
    return {};
}

Result<Bench> read_bench(const Place& place, const toml::table& table, const Bench& defaults) {
    Bench bench = defaults;
    TRY(read_keys(place, table, false, bench));
    const toml::node* const name = table.get(kName);
    if (name == nullptr)
        return std::unexpected(bad_value(place, table, "a bench has no name", "name = \"sort numbers\""));
    bench.name = TRY(string_of(place, *name, "name", "name = \"sort numbers\""));
    if (bench.name.empty()) return std::unexpected(bad_value(place, *name, "name is empty", ""));
    TRY(check_limits(place, table, bench));
    if (bench.command.empty())
        return std::unexpected(bad_value(place, table, fmt::format("bench '{}' has no command", bench.name),
                                         "command = [\"sort\", \"numbers.txt\"]"));
    return bench;
}

Result<std::vector<Bench>> read_benches(const Place& place, const toml::table& file, const Bench& defaults) {
    const std::string example = "begin each command with a line [[bench]]";
    const toml::array* const tables = file.get_as<toml::array>(kBenches);
    if (tables == nullptr || tables->empty()) return std::unexpected(bad_file(place, "it has no [[bench]]", example));
    std::vector<Bench> benches;
    for (const auto& element : *tables) {
        const toml::table* const table = element.as_table();
        if (table == nullptr) return std::unexpected(bad_value(place, element, "a bench is not a table", example));
        benches.push_back(TRY(read_bench(place, *table, defaults)));
        const auto same = std::ranges::find(benches, benches.back().name, &Bench::name);
        if (same != std::prev(benches.end()))
            return std::unexpected(bad_value(place, *table,
                                             fmt::format("there are two benches '{}'", benches.back().name),
                                             "give each a name of its own"));
    }
    return benches;
}

/// Error: the text is not TOML.
Result<toml::table> parse_toml(std::string_view text, const Place& place) {
    try {
        return toml::parse(text, place.file);
    } catch (const toml::parse_error& error) {
        return std::unexpected(bad_value(place, error.source().begin,
                                         "not valid TOML: " + std::string{error.description()},
                                         "anyperf-bench(1) shows such a file"));
    }
}

/// The absolute path of a file's directory. If the current directory has been removed, the directory as `path` names
/// it.
std::string directory_of(const std::string& path) {
    std::error_code failure;
    const auto whole = std::filesystem::absolute(path, failure);
    return (failure ? std::filesystem::path{path} : whole).parent_path().string();
}

}  // namespace

Result<BenchFile> parse_bench_file(std::string_view text, const std::string& path) {
    const Place place{path, directory_of(path)};
    const toml::table table = TRY(parse_toml(text, place));
    Bench defaults;
    defaults.directory = place.directory;
    defaults.events = {"instructions:u"};
    TRY(read_keys(place, table, true, defaults));
    BenchFile file;
    file.benches = TRY(read_benches(place, table, defaults));
    if (const toml::node* const baseline = table.get(kBaseline))
        file.baseline = absolute(place, TRY(string_of(place, *baseline, "baseline", "baseline = \"counts.json\"")));
    return file;
}

Result<BenchFile> read_bench_file(const std::string& path) {
    const auto refused = [&](std::string cause) {
        return std::unexpected(
            Error{"cannot read " + path, std::move(cause), "anyperf bench FILE; anyperf-bench(1) shows such a file"});
    };
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return refused(std::generic_category().message(errno));
    if (!S_ISREG(status.st_mode)) return refused("it is not a regular file");
    if (static_cast<std::size_t>(status.st_size) > kMostBytes) return refused("it is larger than 16 MiB");
    std::ifstream in{path, std::ios::binary};
    if (!in) return refused(std::generic_category().message(errno));
    const std::string text{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
    return parse_bench_file(text, path);
}

}  // namespace anyperf::cli::bench
