// explain.cpp: `anyperf explain`: why performance events do or don't work on this machine. With names of events it
// shows what each of them needs (explain/event_facts.h). Without them the page lists the findings (host/findings.h) and
// ends with a verdict: what works, what doesn't, and what to do. The verdict comes last because a terminal shows the
// end of a page.
//
// The verdict is not derived from the findings: each way to measure is tried (host/usability.h). Findings only supply
// the fixes. So a wrong guess in a finding can't make the verdict wrong.
#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/explain/event_facts.h"
#include "cli/output/wrap.h"
#include "host/findings.h"
#include "host/machine_copy.h"
#include "host/usability.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using host::Finding;
using host::Severity;
using host::Use;
using host::WayToMeasure;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kIndent = 8;                  // the column after the severity
constexpr std::size_t kTitleColumn = kIndent + 18;  // the column after the finding's id

struct Options {
    bool json = false;
    bool all = false;  ///< evidence of every finding, not only of those that limit something
    std::string root = "/";
    std::optional<std::string> save;  ///< a directory to copy the machine's files to
    std::vector<std::string> events;  ///< event strings to explain, instead of the machine
};

/// Whether the way can be used at all. Being limited to user mode still counts as working.
bool works(const WayToMeasure& way) {
    return way.usability.use == Use::yes || way.usability.use == Use::user_only;
}

/// A labelled paragraph below a finding.
std::string line(std::string_view label, std::string_view text) {
    return fmt::format("{:>{}}{:<9}{}\n", "", kIndent, label, wrap(text, kWidth, kIndent + 9));
}

/// A finding: its title, and if it matters or `all` is set, its evidence, effect and fix.
std::string finding_text(const Finding& finding, bool all) {
    std::string text = fmt::format("{:<{}}{:<{}}{}\n", name(finding.severity), kIndent, finding.id,
                                   kTitleColumn - kIndent, wrap(finding.title, kWidth, kTitleColumn));
    const bool matters = finding.severity == Severity::limits || finding.severity == Severity::blocks;
    if (!matters && !all) return text;
    text += line("found:", finding.evidence);
    if (!finding.effect.empty()) text += line("effect:", finding.effect);
    if (!finding.fix.empty()) text += line("fix:", finding.fix);
    return text;
}

/// "software events (task-clock, page-faults) in user mode only".
std::string way_text(const WayToMeasure& way) {
    return fmt::format("{} ({}){}", way.title, way.examples,
                       way.usability.use == Use::user_only ? " in user mode only" : "");
}

/// The verdict about a way. A copy of another machine may lack the files that decide.
enum class Verdict : std::uint8_t { works, fails, unknown };

Verdict verdict_of(const WayToMeasure& way) {
    if (way.usability.use == Use::unknown) return Verdict::unknown;
    return works(way) ? Verdict::works : Verdict::fails;
}

/// The ways with this verdict, separated by semicolons. Those that fail have the reason in a word.
std::string ways_text(const std::vector<WayToMeasure>& ways, Verdict verdict) {
    std::string text;
    for (const WayToMeasure& way : ways) {
        if (verdict_of(way) != verdict) continue;
        text += (text.empty() ? "" : "; ") + way_text(way);
        if (verdict == Verdict::fails) text += fmt::format(": {}", words(way.usability.use));
    }
    return text;
}

/// What works here, including what works only because anyperf has a PMU of its own.
std::string what_works(const std::vector<WayToMeasure>& ways) {
    std::string text = ways_text(ways, Verdict::works);
    const bool lacks_hardware =
        std::ranges::any_of(ways, [](const WayToMeasure& way) { return way.id == "hardware" && !works(way); });
    if (lacks_hardware)
        text += std::string{text.empty() ? "" : "; "} +
                "hardware events of a command, in user space (anyperf stat --virtual)";
    return text;
}

/// The finding of that id, if it has a fix; else null.
const Finding* finding_with_fix(const std::vector<Finding>& findings, std::string_view id) {
    const auto found = std::ranges::find(findings, id, &Finding::id);
    return found == findings.end() || found->fix.empty() ? nullptr : &*found;
}

/// The finding whose fix makes `way` work (or work in kernel mode, too). Null if the way works, or no finding has a
/// fix. A way that the switch does not decide lacks rights, or tracefs. Of the findings about rights the one about a
/// user namespace comes first: inside of one, the paranoid level can be read but not changed.
const Finding* blocking_finding(const std::vector<Finding>& findings, const WayToMeasure& way) {
    switch (way.usability.use) {
        case Use::yes: return nullptr;
        case Use::blocked: return finding_with_fix(findings, "seccomp");
        case Use::no_pmu: return finding_with_fix(findings, way.id == "hardware" ? "hardware-pmu" : "probes");
        case Use::needs_privilege:
        case Use::user_only:
        case Use::no_tracefs:
        case Use::unsupported:
        case Use::user_space: break;
        case Use::unknown: return nullptr;
    }
    if (way.id == "tracepoint")
        if (const Finding* tracefs = finding_with_fix(findings, "tracefs")) return tracefs;
    const Finding* user_namespace = finding_with_fix(findings, "user-namespace");
    return user_namespace != nullptr ? user_namespace : finding_with_fix(findings, "paranoid");
}

/// Whether there is no way to counters, whatever the rights: no PMU, or perf_event_open is blocked.
bool no_counters(const WayToMeasure& way) {
    return way.usability.use == Use::no_pmu || way.usability.use == Use::blocked;
}

/// What to do, each step once, in the order of the ways to measure. For a way without a blocking_finding() it is the
/// fix of the failed open. The virtual PMU is named first where hardware events cannot be counted: it helps at once and
/// needs nobody's permission.
std::vector<std::string> advice(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways) {
    std::vector<std::string> all;
    for (const WayToMeasure& way : ways) {
        if (way.id == "hardware" && no_counters(way))
            all.emplace_back(
                "count a command in user space with anyperf's virtual PMU, which works here and needs no privileges: "
                "anyperf stat -- COMMAND does so automatically; anyperf run -- COMMAND gives the PMU to perf and other "
                "tools");
        const Finding* found = blocking_finding(findings, way);
        const std::string& fix = found != nullptr ? found->fix : way.usability.why.fix;
        if (!fix.empty() && std::ranges::find(all, fix) == all.end()) all.push_back(fix);
    }
    return all;
}

/// The last paragraph of the page: "works:", "doesn't:", "to do:".
std::string verdict(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways) {
    const std::string good = what_works(ways), bad = ways_text(ways, Verdict::fails);
    const std::string unknown = ways_text(ways, Verdict::unknown);
    std::string text = "works:   " + wrap(good.empty() ? "nothing" : good, kWidth, 9) + "\n";
    if (!bad.empty() || unknown.empty())
        text += "doesn't: " + wrap(bad.empty() ? "nothing: every kind of event can be opened" : bad, kWidth, 9) + "\n";
    if (!unknown.empty()) text += "unknown: " + wrap(unknown, kWidth, 9) + "\n";
    std::string label = "to do:   ";
    for (const std::string& step : advice(findings, ways)) {
        text += label + wrap(step, kWidth, 9) + "\n";
        label = "         ";
    }
    return text;
}

/// All findings, then the verdict.
std::string page(const std::vector<Finding>& findings, const std::vector<WayToMeasure>& ways, bool all) {
    std::string text;
    for (const Finding& finding : findings) text += finding_text(finding, all);
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
    json["does_not_work"] = ways_text(ways, Verdict::fails);
    if (const std::string unknown = ways_text(ways, Verdict::unknown); !unknown.empty()) json["not_known"] = unknown;
    json["to_do"] = advice(findings, ways);
    return json;
}

/// --save: copies instead of explaining.
Result<int> save(const std::string& directory, Output& out) {
    const std::size_t files = TRY(host::copy_machine(host::Root{}, directory));
    out.print(fmt::format("{} files saved; on any machine: anyperf explain --root {}\n", files, directory));
    return 0;
}

/// What each event needs, instead of the page about the machine.
Result<int> explain_events(const host::Root& root, const Options& options, Output& out) {
    const auto facts = TRY(event_facts(root, options.events));
    if (options.json)
        out.print(nlohmann::ordered_json{{"events", facts_as_json(facts)}}.dump(
                      2, ' ', false, nlohmann::json::error_handler_t::replace) +
                  "\n");
    else
        out.print(facts_as_text(facts));
    return 0;
}

Result<int> explain(const Options& options, Output& out) {
    if (options.save) return save(*options.save, out);
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.root, ignored))
        return std::unexpected(Error{"cannot look at the machine in " + options.root, "not a readable directory",
                                     "give a directory with the machine's /proc and /sys below it"});
    const host::Root root{options.root};
    TRY(host::check_copy(root));
    if (!options.events.empty()) return explain_events(root, options, out);
    const auto found = host::findings(root);
    const auto ways = host::ways_to_measure(root);
    out.print(options.json ? to_json(found, ways).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                           : page(found, ways, options.all));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    auto* events = verb.add_option("EVENT", options->events, "explain these events, named as in `anyperf stat -e`");
    verb.add_flag("--json", options->json, "print one JSON object: findings, what works, what doesn't, what to do");
    verb.add_flag("-v,--verbose", options->all, "show the evidence of every finding, even of those in order");
    auto* root = verb.add_option("--root", options->root, "look at another machine's files, below this directory");
    root->type_name("DIR");
    verb.add_option("--save", options->save, "copy this machine's files for --root into this new directory")
        ->type_name("DIR")
        ->excludes(root)
        ->excludes(events);
    return [options](Output& out) { return explain(*options, out); };
}

}  // namespace

constinit const Verb kExplain{"explain", "why performance events, or those named, do or don't work on this machine",
                              declare};

}  // namespace anyperf::cli
