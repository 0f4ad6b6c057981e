// rows.cpp: which places a line of the results adds up. An event has a count for each place: for each CPU, or for each
// thread. The results have a line for each CPU, core, die, socket, node or thread, or one for all places. A row is a
// label and the places whose counts are summed. Rows of levels are sorted by their numbers. Rows of CPUs and threads
// are in the order of the places.
#include "cli/stat/places/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "host/hardware/topology.h"
#include "host/printable.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

using counting::Place;
using host::CpuPosition;

/// The numbers of a row, such as socket, die and core. Rows are printed in the order of their keys.
using Key = std::vector<int>;

/// A level of the machine, and the numbers that identify a unit of it.
struct Level {
    CpuLevel level;
    std::string_view option;
    std::string_view letters;  ///< one for each number, as in perf's labels: "SDC" gives S0-D0-C0
    std::array<std::optional<int> CpuPosition::*, 3> numbers;
};
constexpr std::array kLevels{
    Level{CpuLevel::core, "--per-core", "SDC", {&CpuPosition::socket, &CpuPosition::die, &CpuPosition::core}},
    Level{CpuLevel::die, "--per-die", "SD", {&CpuPosition::socket, &CpuPosition::die, nullptr}},
    Level{CpuLevel::socket, "--per-socket", "S", {&CpuPosition::socket, nullptr, nullptr}},
    Level{CpuLevel::node, "--per-node", "N", {&CpuPosition::node, nullptr, nullptr}},
};

const Level& row_of(CpuLevel level) {
    return *std::ranges::find(kLevels, level, &Level::level);
}

/// The numbers of the unit that has the CPU. Cores are numbered anew in each socket and die, so all three are needed.
Result<Key> key_of(int cpu, const Level& level, const host::Root& root) {
    const CpuPosition position = host::position_of(root, cpu);
    Key key;
    for (std::size_t i = 0; i < level.letters.size(); ++i) {
        const auto number = position.*level.numbers.at(i);
        if (!number)
            return std::unexpected(
                Error{fmt::format("cannot use {}", level.option),
                      fmt::format("sysfs does not say where CPU {} is: there is {}", cpu,
                                  level.level == CpuLevel::node
                                      ? fmt::format("no /sys/devices/system/cpu/cpu{}/node*", cpu)
                                      : fmt::format("no number of its {} in /sys/devices/system/cpu/"
                                                    "cpu{}/topology",
                                                    level.letters[i] == 'C' ? "core" : "socket", cpu)),
                      "use -A, a line for each CPU"});
        key.push_back(*number);
    }
    return key;
}

std::string label_of(const Key& key, const Level& level) {
    std::string label;
    for (std::size_t i = 0; i < key.size(); ++i)
        label += fmt::format("{}{}{}", i == 0 ? "" : "-", level.letters[i], key[i]);
    return label;
}

/// The rows of cores, dies, sockets or nodes.
Result<std::vector<Row>> rows_of_level(std::span<const Place> places, const Level& level, const host::Root& root) {
    std::map<int, Key> keys;  // by CPU; many places have the same CPU
    std::map<Key, Row> rows;
    std::map<Key, std::set<int>> cpus;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int cpu = places[i].cpu;
        if (!keys.contains(cpu)) keys[cpu] = TRY(key_of(cpu, level, root));
        rows[keys[cpu]].places.push_back(i);
        cpus[keys[cpu]].insert(cpu);
    }
    std::vector<Row> sorted;
    for (auto& [key, row] : rows) {
        row.label = label_of(key, level);
        row.cpus = static_cast<int>(cpus[key].size());
        sorted.push_back(std::move(row));
    }
    return sorted;
}

/// "COMM-TID", as in perf.
std::string thread_label(pid_t thread, const host::Root& root) {
    return fmt::format("{}-{}", host::printable(root.read(fmt::format("/proc/{}/comm", thread)).value_or("")), thread);
}

/// The row of the place with -A, with --per-thread or with neither. Its list of places is empty.
Row row_for(const Place& place, const Options& options, const host::Root& root) {
    Row row;
    if (options.per_cpu && place.cpu >= 0) {
        row.label = fmt::format("CPU{}", place.cpu);
    } else if (options.per_thread && place.pid > 0) {
        row.thread = place.pid;
        row.label = thread_label(place.pid, root);
    }
    return row;
}

}  // namespace

Result<std::vector<Row>> rows_of(std::span<const Place> places, const Options& options, const host::Root& root) {
    if (options.cpu_level) return rows_of_level(places, row_of(*options.cpu_level), root);
    std::vector<Row> rows;
    std::map<std::string, std::size_t> known;  // by label: the index in `rows`
    for (std::size_t i = 0; i < places.size(); ++i) {
        Row row = row_for(places[i], options, root);
        const auto [entry, first] = known.try_emplace(row.label, rows.size());
        if (first) rows.push_back(std::move(row));
        rows[entry->second].places.push_back(i);
    }
    return rows;
}

// A thread may have changed its name since its events were opened (exec, pthread_setname_np(3)). A thread that has
// ended keeps the old label.
std::string current_label(const Row& row, const host::Root& root) {
    if (row.thread == 0 || !root.exists(fmt::format("/proc/{}/comm", row.thread))) return row.label;
    return thread_label(row.thread, root);
}

// This is a snapshot: threads that begin later are missing, and some may end before events are opened on them.
std::vector<pid_t> all_threads(const host::Root& root) {
    const auto number = [](const std::string& name) {
        pid_t id = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
        return error == std::errc{} && end == name.data() + name.size() ? id : 0;
    };
    std::vector<pid_t> threads;
    for (const auto& process : root.list("/proc"))
        if (number(process) > 0)
            for (const auto& name : root.list("/proc/" + process + "/task"))
                if (const pid_t thread = number(name); thread > 0) threads.push_back(thread);
    return threads;
}

}  // namespace anyperf::cli::stat
