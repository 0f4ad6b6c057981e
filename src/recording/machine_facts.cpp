#include "recording/machine_facts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "host/hardware/cpus.h"
#include "host/hardware/pmu.h"
#include "host/hardware/topology.h"

namespace anyperf::recording {

namespace {

using perfdata::Facts;

/// The value in the first line of the form "name : value"; empty if there is none.
std::string value_of(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || !line.starts_with(name)) continue;
        if (line.substr(0, colon).find_last_not_of(" \t") + 1 != name.size()) continue;
        const auto begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string_view::npos ? std::string{} : std::string{line.substr(begin)};
    }
    return {};
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void read_system(Facts& facts) {
    utsname names{};
    if (::uname(&names) != 0) return;
    facts.host = names.nodename;
    facts.release = names.release;
    facts.arch = names.machine;
}

/// `cpu_id` has the form of perf's feature CPUID on x86: "vendor,family,model,stepping".
void read_cpu(const host::Root& root, Facts& facts) {
    const std::string info = root.read("/proc/cpuinfo").value_or("");
    facts.cpu = value_of(info, "model name");
    const std::string vendor = value_of(info, "vendor_id");
    if (!vendor.empty())
        facts.cpu_id = vendor + "," + value_of(info, "cpu family") + "," + value_of(info, "model") + "," +
                       value_of(info, "stepping");
    facts.memory_kib = number(value_of(root.read("/proc/meminfo").value_or(""), "MemTotal"));
}

/// Adds the contents of a file unless the list has them already: all CPUs that are siblings have the same contents.
void add_once(std::vector<std::string>& list, const host::Root& root, const std::string& path) {
    const auto text = root.read(path);
    if (text && !text->empty() && std::ranges::find(list, *text) == list.end()) list.push_back(*text);
}

/// "Core siblings" are the CPUs of one socket, in sysfs as in perf. perf has a place for each number up to the highest
/// present CPU (cpu__max_present_cpu() in tools/perf/util/cpumap.c).
void read_topology(const host::Root& root, Facts& facts) {
    const auto present = host::present_cpus(root).value_or(std::vector<int>{});
    const int end = present.empty() ? 1 : present.back() + 1;
    facts.cpus_available = static_cast<std::uint32_t>(end);
    const auto online = host::online_cpus(root);
    facts.cpus_online = online ? static_cast<std::uint32_t>(online->size()) : facts.cpus_available;
    for (int cpu = 0; cpu < end; ++cpu) {
        const std::string directory = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
        add_once(facts.core_siblings, root, directory + "core_siblings_list");
        add_once(facts.thread_siblings, root, directory + "thread_siblings_list");
        add_once(facts.die_siblings, root, directory + "die_cpus_list");
        const auto place = host::position_of(root, cpu);
        const auto unsign = [](std::optional<int> value) { return static_cast<std::uint32_t>(value.value_or(-1)); };
        facts.cpu_places.push_back({unsign(place.core), unsign(place.socket), unsign(place.die)});
    }
}

/// The NUMA nodes; none on a kernel without them.
void read_nodes(const host::Root& root, Facts& facts) {
    const std::string directory = "/sys/devices/system/node/";
    for (const int node :
         host::parse_cpu_list(root.read(directory + "online").value_or("")).value_or(std::vector<int>{})) {
        const std::string own = directory + "node" + std::to_string(node) + "/";
        const std::string memory = root.read(own + "meminfo").value_or("");  // "Node 0 MemTotal:  1234 kB"
        const std::string prefix = "Node " + std::to_string(node) + " ";
        facts.numa_nodes.push_back({.node = static_cast<std::uint32_t>(node),
                                    .total_kib = number(value_of(memory, prefix + "MemTotal")),
                                    .free_kib = number(value_of(memory, prefix + "MemFree")),
                                    .cpus = root.read(own + "cpulist").value_or("")});
    }
}

void read_pmus(const host::Root& root, Facts& facts) {
    for (const auto& pmu : host::read_pmus(root)) facts.pmus.push_back({pmu.name(), std::to_string(pmu.type())});
}

}  // namespace

Facts machine_facts(const host::Root& root, std::vector<std::string> command_line) {
    Facts facts;
    facts.command_line = std::move(command_line);
    read_system(facts);
    read_cpu(root, facts);
    read_topology(root, facts);
    read_nodes(root, facts);
    read_pmus(root, facts);
    return facts;
}

}  // namespace anyperf::recording
