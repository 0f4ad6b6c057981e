// encode.cpp: `anyperf encode EVENT…`: what perf_event_open(2) is asked for.
#include "cli/encode.h"

#include <memory>
#include <string>
#include <vector>

#include "anyperf/event.h"
#include "cli/encode_formats.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::vector<std::string> events;
    std::string root = "/";
    bool all = false;
    bool json = false;
    bool c = false;
};

Result<int> encode(const Options& options, Output& out) {
    const auto machine = events::Machine::read(options.root);
    std::vector<events::EventGroup> groups;
    for (const std::string& text : options.events)
        for (events::EventGroup& group : TRY(events::parse(machine, text))) groups.push_back(std::move(group));
    if (options.json)
        out.print(encoded_as_json(groups, options.all));
    else if (options.c)
        out.print(encoded_as_c(groups));
    else
        out.print(encoded_as_text(groups, options.all));
    return 0;
}

Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("EVENT", options->events, "as in `anyperf stat -e`")->required();
    verb.add_flag("--all", options->all, "show the fields that are zero too");
    auto* json = verb.add_flag("--json", options->json, "one JSON object");
    verb.add_flag("--c", options->c, "a C initialiser for each event")->excludes(json);
    verb.add_option("--root", options->root, "as on the machine whose /sys and /proc are copied below this directory")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR");
    return [options](Output& out) { return encode(*options, out); };
}

}  // namespace

constinit const Verb kEncode{"encode", "show the perf_event_attr that an event string becomes", declare};

}  // namespace anyperf::cli
