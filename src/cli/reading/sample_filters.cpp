#include "cli/reading/sample_filters.h"

#include <algorithm>

#include "cli/command/target_options.h"
#include "host/hardware/cpus.h"
#include "try.h"

namespace anyperf::cli {

namespace {

/// "-c,--comms" if the verb has that letter, else "--comms".
std::string names_of(std::string_view short_options, char letter, const std::string& name) {
    return short_options.contains(letter) ? std::string{'-', letter, ','} + name : name;
}

void add_list(CLI::App& verb, const std::string& names, std::vector<std::string>& list, const std::string& what) {
    verb.add_option(names, list, what)->delimiter(',')->allow_extra_args(false)->take_all()->type_name("LIST");
}

// Recordings have pid 0, the idle task, which parse_ids() refuses; so numbers are parsed here.
Result<std::vector<std::uint32_t>> numbers(const std::vector<std::string>& texts, std::string_view option) {
    std::vector<std::uint32_t> result;
    for (const std::string& text : texts) {
        const auto id = whole_number(text);
        if (!id || *id > 0xffff'ffffu)
            return std::unexpected(bad_option(option, "'" + text + "' is not the number of a process or thread",
                                              "give numbers, separated by commas"));
        result.push_back(static_cast<std::uint32_t>(*id));
    }
    return result;
}

}  // namespace

void declare_filters(CLI::App& verb, std::string_view short_options, FilterOptions& options) {
    add_list(verb, short_options.contains('m') ? "-C,--comms" : names_of(short_options, 'c', "--comms"), options.comms,
             "only samples of tasks with these names");
    add_list(verb, names_of(short_options, 'd', "--dsos"), options.dsos, "only samples in these files: libc.so.6,…");
    if (short_options.contains('S')) add_list(verb, "-S,--symbols", options.symbols, "only samples in these functions");
    add_list(verb, "--pid", options.pids, "only samples of these processes");
    add_list(verb, "--tid", options.tids, "only samples of these threads");
    verb.add_option(names_of(short_options, 'C', "--cpu"), options.cpus, "only samples of these CPUs: 0-3,7")
        ->type_name("CPUS");
    verb.add_option("--time", options.time, "only samples of this time: START,STOP in seconds; 10%-20%; 10%/2")
        ->type_name("TIME");
}

Result<Filters> filters_of(const FilterOptions& options) {
    Filters filters{.samples = {.comms = options.comms,
                                .dsos = options.dsos,
                                .symbols = options.symbols,
                                .symbol_part = options.symbol_part,
                                .pids = TRY(numbers(options.pids, "--pid")),
                                .tids = TRY(numbers(options.tids, "--tid")),
                                .socket = options.socket,
                                .only_resolved = options.only_resolved},
                    .time = {},
                    .cpus = {},
                    .address_range = options.address_range};
    if (!options.time.empty()) filters.time = TRY(analysis::TimeRanges::parse(options.time));
    for (const int cpu : TRY(host::parse_cpu_list(options.cpus))) {
        filters.cpus.resize(std::max(filters.cpus.size(), static_cast<std::size_t>(cpu) + 1));
        filters.cpus[static_cast<std::size_t>(cpu)] = true;
    }
    return filters;
}

void Filters::add_to(analysis::ReadOptions& options) const {
    options.time = time;
    options.cpus = cpus;
    options.pid |= !samples.pids.empty();
    options.tid |= !samples.tids.empty();
    options.cpu |= samples.socket.has_value();
}

}  // namespace anyperf::cli
