// encode.cpp: `anyperf encode EVENT…`: shows the perf_event_attr that would be passed to perf_event_open(2).
#include "cli/encode.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/event_ids.h"
#include "anyperf/event.h"
#include "anyperf/event_names.h"
#include "cli/encode/formats.h"
#include "host/machine_copy.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::vector<std::string> events;
    std::string root = "/";
    std::string cpu;
    bool all = false;
    bool json = false;
    bool c = false;
};

/// The event names of the machine or CPU that the options choose. Nothing if the catalog does not have the CPU.
std::optional<events::EventNames> names_of(const Options& options) {
    if (options.cpu.empty()) return events::EventNames::read(options.root);
    auto names = events::EventNames::of_cpu(options.cpu);
    return names ? std::optional{*std::move(names)} : std::nullopt;
}

/// Looks up the names of an event among names_of(options). Generic events (hardware, cache, software …) have no names
/// there. An event whose PMU the machine lacks was typed by its catalog name anyway. The names are read on first use.
NameLookup name_lookup(const Options& options) {
    return [options, names = std::optional<events::EventNames>{}](const events::Event& event) mutable {
        const bool named = event.attr.type != abi::kTypeRaw && event.attr.type <= abi::kTypeBreakpoint;
        if (named || !event.missing_pmu.empty()) return std::vector<std::string>{};
        if (!names) names = names_of(options);
        return names ? names->explain(event.attr) : std::vector<std::string>{};
    };
}

/// Parses all strings before it prints, so that a wrong one leaves no partial output.
Result<int> encode(const Options& options, Output& out) {
    TRY(host::check_copy(host::Root{options.root}));
    const auto machine =
        options.cpu.empty() ? events::Machine::read(options.root) : TRY(events::Machine::of_cpu(options.cpu));
    std::vector<events::EventGroup> groups;
    for (const std::string& text : options.events)
        for (events::EventGroup& group : TRY(events::parse(machine, text))) groups.push_back(std::move(group));
    if (options.json)
        out.print(encoded_as_json(groups, options.all, name_lookup(options)));
    else if (options.c)
        out.print(encoded_as_c(groups));
    else
        out.print(encoded_as_text(groups, options.all, name_lookup(options)));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("EVENT", options->events, "as in `anyperf stat -e`")->required();
    verb.add_flag("--all", options->all, "also show the fields that are zero");
    auto* json = verb.add_flag("--json", options->json, "print one JSON object");
    verb.add_flag("--c", options->c, "print a C initialiser for each event")->excludes(json);
    auto* cpu = verb.add_option("--cpu", options->cpu,
                                "encode names of this CPU's events: skylake, amdzen5, skl, arm_n1, power9");
    cpu->type_name("CPU");
    verb.add_option("--root", options->root,
                    "encode as on the machine whose /sys and /proc are copied below this directory")
        ->check(CLI::ExistingDirectory)
        ->excludes(cpu)
        ->type_name("DIR");
    return [options](Output& out) { return encode(*options, out); };
}

}  // namespace

constinit const Verb kEncode{"encode", "show the perf_event_attr that an event string becomes", declare};

}  // namespace anyperf::cli
