#include "cli/reading/head_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <string_view>

#include "abi/describe.h"

namespace anyperf::cli {

namespace {

using perfdata::Facts;
using perfdata::Feature;

constexpr std::uint64_t kSecond = 1'000'000'000;

template <class... Values>
void add(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
    text += "# ";
    fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
    text += '\n';
}

/// perf's names of fields that share a place.
std::string_view perf_name(std::string_view name) {
    struct Shared {
        std::string_view name, perf;
    };
    constexpr std::array kShared{Shared{"sample_period", "{ sample_period, sample_freq }"},
                                 Shared{"sample_freq", "{ sample_period, sample_freq }"},
                                 Shared{"wakeup_events", "{ wakeup_events, wakeup_watermark }"},
                                 Shared{"wakeup_watermark", "{ wakeup_events, wakeup_watermark }"},
                                 Shared{"bp_addr", "{ bp_addr, config1 }"},
                                 Shared{"config1", "{ bp_addr, config1 }"},
                                 Shared{"bp_len", "{ bp_len, config2 }"},
                                 Shared{"config2", "{ bp_len, config2 }"}};
    const auto row = std::ranges::find(kShared, name, &Shared::name);
    return row == kShared.end() ? name : row->perf;
}

std::string value_text(const abi::DescribedField& field) {
    const bool is_mask =
        field.name == "sample_type" || field.name == "read_format" || field.name == "branch_sample_type";
    if (is_mask && !field.meaning.empty()) return field.meaning;
    if (field.hex || field.name == "config") return fmt::format("{:#x}", field.value);
    return field.is_signed ? std::to_string(static_cast<std::int64_t>(field.value)) : std::to_string(field.value);
}

void add_event(const perfdata::EventInfo& event, std::string& text) {
    std::string line = fmt::format("event : name = {}, ", event.name);
    if (!event.ids.empty()) line += fmt::format(", id = {{ {} }}", fmt::join(event.ids, ", "));
    for (const abi::DescribedField& field : abi::describe(event.attr, false))
        if (field.value != 0) line += fmt::format(", {} = {}", perf_name(field.name), value_text(field));
    add(text, "{}", line);
}

void add_list(std::string_view name, const std::vector<std::string>& list, std::string& text) {
    for (const std::string& each : list) add(text, "{} : {}", name, each);
}

void add_topology(const Facts& facts, std::string& text) {
    add_list("sibling sockets", facts.core_siblings, text);
    add_list("sibling dies   ", facts.die_siblings, text);
    add_list("sibling threads", facts.thread_siblings, text);
    const bool dies = !facts.die_siblings.empty();
    for (std::size_t i = 0; i < facts.cpu_places.size(); ++i) {
        const perfdata::CpuPlace& each = facts.cpu_places[i];
        const std::string die = dies ? fmt::format("Die ID {}, ", each.die) : std::string{};
        add(text, "CPU {}: Core ID {}, {}Socket ID {}", i, each.core, die, each.socket);
    }
}

void add_nodes(const Facts& facts, std::string& text) {
    for (const perfdata::NumaNode& each : facts.numa_nodes) {
        add(text, "node{} meminfo  : total = {} kB, free = {} kB", each.node, each.total_kib, each.free_kib);
        add(text, "node{} cpu list : {}", each.node, each.cpus);
    }
}

void add_caches(const Facts& facts, std::string& text) {
    add(text, "CPU cache info:");
    for (const perfdata::Cache& each : facts.caches)
        add(text, " L{} {:<15} {:>8} [{}]", each.level, each.type, each.size, each.cpus);
}

void add_pmus(const Facts& facts, std::string& text) {
    if (facts.pmus.empty()) return;
    std::string list;
    for (const perfdata::Named& each : facts.pmus)
        list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", each.name, each.value);
    add(text, "pmu mappings: {}", list);
}

std::string seconds(std::uint64_t ns) {
    return fmt::format("{}.{:06}", ns / kSecond, ns % kSecond / 1000);
}

void add_times(const Facts& facts, std::string& text) {
    if (facts.last_ns == 0) return;
    add(text, "time of first sample : {}", seconds(facts.first_ns));
    add(text, "time of last sample : {}", seconds(facts.last_ns));
    add(text, "sample duration : {:>10.3f} ms", static_cast<double>(facts.last_ns - facts.first_ns) / 1e6);
}

/// As in perf: a blank after each word, and quotes with a backslash.
std::string command_text(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        for (const char letter : word) {
            if (letter == '\'') text += '\\';
            text += letter;
        }
        text += ' ';
    }
    return text;
}

void add_machine(const Facts& facts, std::string& text) {
    const auto add_text = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) add(text, "{} : {}", name, value);
    };
    add_text("hostname", facts.host);
    add_text("os release", facts.release);
    add_text("perf version", facts.version);
    add_text("arch", facts.arch);
    if (facts.cpus_online != 0) add(text, "nrcpus online : {}", facts.cpus_online);
    if (facts.cpus_available != 0) add(text, "nrcpus avail : {}", facts.cpus_available);
    add_text("cpudesc", facts.cpu);
    add_text("cpuid", facts.cpu_id);
    if (facts.memory_kib != 0) add(text, "total memory : {} kB", facts.memory_kib);
    if (!facts.command_line.empty()) add(text, "cmdline : {}", command_text(facts.command_line));
}

bool has(const perfdata::FileHeader& header, Feature feature) {
    return std::ranges::find(header.features, feature, &perfdata::FeatureSection::feature) != header.features.end();
}

/// The features of perf 6.1 that the file does not have.
void add_missing(const perfdata::FileHeader& header, std::string& text) {
    constexpr auto kFirst = static_cast<unsigned>(Feature::tracing_data);
    constexpr auto kLast = static_cast<unsigned>(Feature::hybrid_topology);
    std::string names;
    for (unsigned i = kFirst; i <= kLast; ++i)
        if (!has(header, Feature{i})) names += perfdata::feature_name(Feature{i}) + " ";
    if (!names.empty()) add(text, "missing features: {}", names);
}

/// What perf shows with -I only. Else a line says that it is there.
void add_extended(const perfdata::FileHeader& header, const Facts& facts, bool full, std::string& text) {
    const auto add_part = [&](Feature feature, void (*add_full)(const Facts&, std::string&)) {
        if (!has(header, feature)) return;
        if (full)
            add_full(facts, text);
        else
            add(text, "{} info available, use -I to display", perfdata::feature_name(feature));
    };
    add_part(Feature::cpu_topology, add_topology);
    add_part(Feature::numa_topology, add_nodes);
    add_pmus(facts, text);
    add_part(Feature::cache, add_caches);
    add_times(facts, text);
}

}  // namespace

void declare_head(CLI::App& verb, HeadOptions& options) {
    verb.add_flag("--header", options.shown, "print what the recording says about itself first");
    verb.add_flag("--header-only", options.only, "print only that");
    verb.add_flag("-I,--show-info", options.full, "print that with the places of CPUs, nodes and caches");
}

Result<std::string> head_text(const std::string& path, const perfdata::Reader& reader, bool full) {
    const perfdata::FileHeader& header = reader.header();
    if (header.pipe)
        return std::unexpected(Error{"cannot show the header of " + path,
                                     "it is a recording of pipe mode, whose facts come between the samples",
                                     "record to a file: -o FILE"});
    std::string text;
    add(text, "========");
    if (struct stat status{}; ::stat(path.c_str(), &status) == 0) {
        std::tm local{};
        ::localtime_r(&status.st_mtime, &local);
        add(text, "captured on    : {:%a %b %e %H:%M:%S %Y}", local);
    }
    add(text, "header version : 1");
    add(text, "data offset    : {}", header.data.offset);
    add(text, "data size      : {}", header.data.size);
    add(text, "feat offset    : {}", header.data.offset + header.data.size);
    const Facts& facts = reader.facts();
    add_machine(facts, text);
    for (const perfdata::EventInfo& event : facts.events) add_event(event, text);
    add_extended(header, facts, full, text);
    add_missing(header, text);
    text += "# ========\n#\n";
    return text;
}

}  // namespace anyperf::cli
