// encode.cpp: `anyperf encode EVENT…`: what perf_event_open(2) is asked for.
#include "cli/encode.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/event_ids.h"
#include "anyperf/event.h"
#include "anyperf/event_names.h"
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

/// Names of this machine's catalog for a code. What the kernel names itself, and what was typed by its name, has one.
NamesOf names_on(const std::string& root) {
    return [root, names = std::optional<events::EventNames>{}](const events::Event& event) mutable {
        const bool named = event.attr.type != abi::kTypeRaw && event.attr.type <= abi::kTypeBreakpoint;
        if (named || !event.type_of.empty()) return std::vector<std::string>{};
        if (!names) names = events::EventNames::read(root);
        return names->explain(event.attr);
    };
}

Result<int> encode(const Options& options, Output& out) {
    const auto machine = events::Machine::read(options.root);
    std::vector<events::EventGroup> groups;
    for (const std::string& text : options.events)
        for (events::EventGroup& group : TRY(events::parse(machine, text))) groups.push_back(std::move(group));
    if (options.json)
        out.print(encoded_as_json(groups, options.all, names_on(options.root)));
    else if (options.c)
        out.print(encoded_as_c(groups));
    else
        out.print(encoded_as_text(groups, options.all, names_on(options.root)));
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
