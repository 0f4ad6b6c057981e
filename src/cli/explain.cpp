// explain.cpp: `anyperf explain`: why performance events do or don't work on this machine. One page, worst last lines
// first: what works, what doesn't and what to do stand at its end, where a terminal shows them.
#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "cli/wrap.h"
#include "host/findings.h"
#include "host/usability.h"

namespace anyperf::cli {

namespace {

using host::Finding;
using host::Severity;
using host::Use;
using host::WayToMeasure;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kIndent = 8;            // behind the severity
constexpr std::size_t kTitle = kIndent + 18;  // behind the finding's id

struct Options {
    bool json = false;
    bool all = false;
    std::string root = "/";
};

/// What is true of anyperf itself: whether it has the verb that brings its own PMU.
bool has_verb(std::string_view name) {
    return std::ranges::any_of(verbs(), [name](const Verb* verb) { return verb->name == name; });
}

bool works(const WayToMeasure& way) {
    return way.usability.use == Use::yes || way.usability.use == Use::user_only;
}

std::string line(std::string_view label, std::string_view text) {
    return fmt::format("{:>{}}{:<9}{}\n", "", kIndent, label, wrap(text, kWidth, kIndent + 9));
}

std::string one_finding(const Finding& finding, bool all) {
    std::string text = fmt::format("{:<{}}{:<{}}{}\n", name(finding.severity), kIndent, finding.id, kTitle - kIndent,
                                   wrap(finding.title, kWidth, kTitle));
    const bool matters = finding.severity == Severity::limits || finding.severity == Severity::blocks;
    if (!matters && !all) return text;
    text += line("found:", finding.evidence);
    if (!finding.effect.empty()) text += line("effect:", finding.effect);
    if (!finding.fix.empty()) text += line("fix:", finding.fix);
    return text;
}

std::string named(const WayToMeasure& way) {
    return fmt::format("{} ({}){}", way.title, way.examples,
                       way.usability.use == Use::user_only ? " in user mode only" : "");
}

std::string listed(const std::vector<WayToMeasure>& ways, bool working) {
    std::string text;
    for (const WayToMeasure& way : ways) {
        if (works(way) != working) continue;
        text += (text.empty() ? "" : "; ") + named(way);
        if (!working) text += fmt::format(": {}", words(way.usability.use));
    }
    return text;
}

/// What works here, and what does because anyperf brings it.
std::string what_works(const std::vector<WayToMeasure>& ways) {
    std::string text = listed(ways, true);
    const bool lacking =
        std::ranges::any_of(ways, [](const WayToMeasure& way) { return way.id == "hardware" && !works(way); });
    if (lacking)
        text += std::string{text.empty() ? "" : "; "} +
                "hardware events of a command, in user space (anyperf stat --virtual)";
    return text;
}

const Finding* finding(const std::vector<Finding>& findings, std::string_view id) {
    const auto found = std::ranges::find(findings, id, &Finding::id);
    return found == findings.end() || found->fix.empty() ? nullptr : &*found;
}

/// The finding that has the fix for a way that doesn't work, or works in part. Null where none has.
const Finding* what_to_fix(const std::vector<Finding>& findings, const WayToMeasure& way) {
    switch (way.usability.use) {
        case Use::yes: return nullptr;
        case Use::blocked: return finding(findings, "seccomp");
        case Use::no_pmu: return finding(findings, way.id == "hardware" ? "hardware-pmu" : "probes");
        case Use::needs_privilege:
        case Use::user_only:
        case Use::no_tracefs:
        case Use::unsupported: break;
    }
    if (way.id == "tracepoint")
        if (const Finding* closed = finding(findings, "tracefs")) return closed;
    const Finding* inside = finding(findings, "user-namespace");
    return inside != nullptr ? inside : finding(findings, "paranoid");
}

/// Neither here nor with more rights.
bool no_counters(const WayToMeasure& way) {
    return way.usability.use == Use::no_pmu || way.usability.use == Use::blocked;
}

/// The fixes of what stands in the way, each once; where nothing known does, what the failed open says.
std::vector<std::string> advice(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways) {
    std::vector<std::string> all;
    for (const WayToMeasure& way : ways) {
        const Finding* found = what_to_fix(findings, way);
        const std::string& fix = found != nullptr ? found->fix : way.usability.why.fix;
        if (!fix.empty() && std::ranges::find(all, fix) == all.end()) all.push_back(fix);
        if (way.id == "hardware" && no_counters(way) && has_verb("run"))
            all.emplace_back(
                "or count a command in user space by anyperf's virtual PMU, which works here and needs no privileges: "
                "anyperf stat -- COMMAND does so by itself, anyperf run -- COMMAND gives the PMU to perf and others");
    }
    return all;
}

std::string verdict(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways) {
    const std::string good = what_works(ways), bad = listed(ways, false);
    std::string text = "works:   " + wrap(good.empty() ? "nothing" : good, kWidth, 9) + "\n";
    text += "doesn't: " + wrap(bad.empty() ? "nothing: every kind of event can be opened" : bad, kWidth, 9) + "\n";
    std::string label = "to do:   ";
    for (const std::string& step : advice(findings, ways)) {
        text += label + wrap(step, kWidth, 9) + "\n";
        label = "         ";
    }
    return text;
}

std::string page(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways, bool all) {
    std::string text;
    for (const Finding& finding : findings) text += one_finding(finding, all);
    return text + "\n" + verdict(findings, ways);
}

nlohmann::ordered_json to_json(const WayToMeasure& way) {
    nlohmann::ordered_json json{
        {"id", way.id}, {"title", way.title}, {"examples", way.examples}, {"usable", id(way.usability.use)}};
    if (way.usability.use != Use::yes) {
        json["cause"] = way.usability.why.cause;
        json["fix"] = way.usability.why.fix;
    }
    return json;
}

nlohmann::ordered_json to_json(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways) {
    nlohmann::ordered_json json{{"findings", nlohmann::ordered_json::array()},
                                {"events", nlohmann::ordered_json::array()}};
    for (const Finding& finding : findings)
        json["findings"].push_back({{"id", finding.id},
                                    {"severity", name(finding.severity)},
                                    {"title", finding.title},
                                    {"evidence", finding.evidence},
                                    {"effect", finding.effect},
                                    {"fix", finding.fix}});
    for (const WayToMeasure& way : ways) json["events"].push_back(to_json(way));
    json["works"] = what_works(ways);
    json["does_not_work"] = listed(ways, false);
    json["to_do"] = advice(findings, ways);
    return json;
}

Result<int> explain(const Options& options, Output& out) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.root, ignored))
        return std::unexpected(Error{"cannot look at the machine in " + options.root,
                                     "it is not a directory that can be read",
                                     "a directory with the machine's /proc and /sys below it"});
    const host::Root root{options.root};
    const auto found = host::findings(root);
    const auto ways = host::ways_to_measure(root);
    out.print(options.json ? to_json(found, ways).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                           : page(found, ways, options.all));
    return 0;
}

Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_flag("--json", options->json, "one JSON object: findings, what works, what doesn't, what to do");
    verb.add_flag("-v,--verbose", options->all, "the evidence of what is in order, too");
    verb.add_option("--root", options->root, "look at another machine's files, below this directory")->type_name("DIR");
    return [options](Output& out) { return explain(*options, out); };
}

}  // namespace

constinit const Verb kExplain{"explain", "why performance events do or don't work on this machine", declare};

}  // namespace anyperf::cli
