// common_terms.cpp: names and values are those of perf-record(1), "event modifiers", and perf-list(1).
//
// A term changes one of three things. Some are fields of the attr and are set at once (period, config1, aux-output).
// Some are for the recorder, which reads them from SamplingTerms (call-graph, time, overwrite). Some override an option
// of the verb for this event alone (inherit, no-inherit). Each row of the table has a function that knows where its
// value goes.
//
// A field of a PMU's format/ wins over a term of the same name here (pmu_terms.cpp).
#include "events/syntax/common_terms.h"

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "events/suggest/near_names.h"
#include "events/syntax/branch_filter.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

namespace {

constexpr std::uint64_t kLongestPeriod = ~0ull >> 1;  // the kernel refuses bit 63: perf_event_open(2), sample_period
constexpr std::uint64_t kLargestStack = 65528;  // a multiple of 8 below 64 KiB: the size field of a record has 16 bits

constexpr std::array<std::string_view, 4> kCallGraphs{"fp", "dwarf", "lbr", "no"};
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 3> kAuxActions{
    {{"start-paused", 1}, {"pause", 2}, {"resume", 4}}};

// Each apply_* function gets the event as it is so far and one term, and changes the event's attr or what the recorder
// does with it (SamplingTerms). Terms are applied in the order in which they are typed.

/// The value of a switch: the term alone is 1; else it must be 0 or 1. A negated term is a row of its own with the
/// opposite meaning, so "no-inherit=0" means inherit.
Parsed<bool> yes_or_no(const Term& term) {
    if (!term.value) return true;
    return TRY(number_of(term, 1))
    != 0;
}

Parsed<> apply_name(Event& event, const Term& term) {
    if (!term.value || term.value->empty()) return parse_error(term.text, "name needs a value", "write name=TEXT");
    event.source_text = std::string{*term.value};
    return {};
}

/// period and freq share attr.sample_period, so only one of them may be given.
Parsed<> check_no_rate_yet(const Event& event, const Term& term) {
    if (event.sampling.period || event.sampling.freq)
        return parse_error(term.text, "a period or frequency is already given", "give one of them, once");
    return {};
}

Parsed<> apply_period(Event& event, const Term& term) {
    TRY(check_no_rate_yet(event, term));
    event.attr.sample_period = TRY(number_of(term, kLongestPeriod));
    event.sampling.period = event.attr.sample_period;
    return {};
}

Parsed<> apply_freq(Event& event, const Term& term) {
    TRY(check_no_rate_yet(event, term));
    event.attr.sample_period = TRY(number_of(term, kLongestPeriod));
    event.attr.flags |= abi::flag("freq");
    event.sampling.freq = event.attr.sample_period;
    return {};
}

Parsed<> apply_call_graph(Event& event, const Term& term) {
    const auto value = std::ranges::find(kCallGraphs, term.value.value_or(""));
    if (value == kCallGraphs.end())
        return parse_error(term.text, in_quotes(term.text) + " is not a kind of call graph",
                           "use fp, dwarf, lbr or no");
    event.sampling.call_graph = std::string{*value};
    return {};
}

Parsed<> apply_stack_size(Event& event, const Term& term) {
    const std::uint64_t size = TRY(number_of(term, kLargestStack));
    if (size == 0 || size % 8 != 0) return parse_error(term.text, "a stack size is a multiple of 8", "use 8 to 65528");
    event.sampling.stack_size = static_cast<std::uint32_t>(size);
    return {};
}

// The actions are bits of attr.aux_action, so several terms add up.
Parsed<> apply_aux_action(Event& event, const Term& term) {
    const auto row =
        std::ranges::find(kAuxActions, term.value.value_or(""), &std::pair<std::string_view, std::uint32_t>::first);
    if (row == kAuxActions.end())
        return parse_error(term.text, in_quotes(term.text) + " is not an action on an AUX area",
                           "use start-paused, pause or resume");
    event.attr.aux_action |= row->second;
    return {};
}

Parsed<> apply_branch_type(Event& event, const Term& term) {
    event.sampling.branch_type = TRY(parse_branch_filter(term));
    return {};
}

/// "@NAME" or "@NAME=VALUE": passed to the AUX driver as it is, without the '@' (perf-record(1), CoreSight).
Parsed<> apply_driver_config(Event& event, const Term& term) {
    event.sampling.driver_config.emplace_back(term.text.substr(1));
    return {};
}

/// config1 to config4 of an event that is not written as PMU/…/. Events without a hardware PMU (software events,
/// tracepoints, breakpoints) refuse them.
template <auto member>
Parsed<> apply_config_word(Event& event, const Term& term) {
    constexpr std::array kHardware{abi::kTypeHardware, abi::kTypeHwCache, abi::kTypeRaw};
    const bool core = std::ranges::find(kHardware, event.attr.type) != kHardware.end() || !event.cpus.empty();
    if (!core)
        return parse_error(term.text, in_quotes(term.name) + " does not apply to this event",
                           "leave it out, or name a PMU whose format/ has it");
    event.attr.*member = TRY(number_of(term));
    return {};
}

/// inherit, no-inherit and the like: `yes` is what the word alone means.
template <auto member, bool yes>
Parsed<> apply_switch(Event& event, const Term& term) {
    event.*member = TRY(yes_or_no(term))
    == yes;
    return {};
}

template <auto member, bool yes>
Parsed<> apply_sampling_switch(Event& event, const Term& term) {
    event.sampling.*member = TRY(yes_or_no(term))
    == yes;
    return {};
}

constexpr std::array kTerms{
    CommonTerm{"name", "TEXT", "what to call the event", apply_name},
    CommonTerm{"period", "EVENTS", "one sample for each so many events", apply_period},
    CommonTerm{"freq", "HZ", "about so many samples per second", apply_freq},
    CommonTerm{"time", "0|1", "samples carry a time", apply_sampling_switch<&SamplingTerms::time, true>},
    CommonTerm{"call-graph", "fp|dwarf|lbr|no", "how samples get their callers", apply_call_graph},
    CommonTerm{"stack-size", "BYTES", "user stack copied with each sample, for dwarf", apply_stack_size},
    CommonTerm{"max-stack", "FRAMES", "callers of a sample, at most",
               [](Event& event, const Term& term) -> Parsed<> {
                   event.sampling.max_stack = static_cast<std::uint16_t>(TRY(number_of(term, UINT16_MAX)));
                   return {};
               }},
    CommonTerm{"branch_type", "FILTER", "branches that samples carry, as in perf record -j", apply_branch_type},
    CommonTerm{"inherit", "", "children are counted too", apply_switch<&Event::inherit, true>},
    CommonTerm{"no-inherit", "", "children are not counted", apply_switch<&Event::inherit, false>},
    CommonTerm{"overwrite", "", "new records replace the oldest",
               apply_sampling_switch<&SamplingTerms::overwrite, true>},
    CommonTerm{"no-overwrite", "", "new records do not replace old ones",
               apply_sampling_switch<&SamplingTerms::overwrite, false>},
    CommonTerm{"percore", "", "summed over the threads of a core", apply_switch<&Event::percore, true>},
    CommonTerm{"aux-output", "", "AUX records instead of samples",
               [](Event& event, const Term& term) -> Parsed<> {
                   if (TRY(yes_or_no(term))) event.attr.flags |= abi::flag("aux_output");
                   return {};
               }},
    CommonTerm{"aux-sample-size", "BYTES", "AUX data copied with each sample",
               [](Event& event, const Term& term) -> Parsed<> {
                   event.attr.aux_sample_size = static_cast<std::uint32_t>(TRY(number_of(term, UINT16_MAX)));
                   event.sampling.aux_sample_size = event.attr.aux_sample_size;
                   return {};
               }},
    CommonTerm{"aux-action", "start-paused|pause|resume", "what the event does to its group's AUX event",
               apply_aux_action},
    CommonTerm{"config1", "NUMBER", "a word that extends config", apply_config_word<&abi::Attr::config1>},
    CommonTerm{"config2", "NUMBER", "a word that extends config", apply_config_word<&abi::Attr::config2>},
    CommonTerm{"config3", "NUMBER", "a word that extends config", apply_config_word<&abi::Attr::config3>},
    CommonTerm{"config4", "NUMBER", "a word that extends config", apply_config_word<&abi::Attr::config4>},
};

constexpr CommonTerm kDriverConfig{"@", "", "configuration for the driver of the AUX area", apply_driver_config};

}  // namespace

std::span<const CommonTerm> common_terms() {
    return kTerms;
}

const CommonTerm* find_common_term(const Term& term) {
    if (term.name.size() > 1 && term.name.front() == '@') return &kDriverConfig;
    const auto row = std::ranges::find(kTerms, term.name, &CommonTerm::name);
    return row == kTerms.end() ? nullptr : &*row;
}

// The three messages differ because the three mistakes have different fixes: no value, no number, a number too large.
Parsed<std::uint64_t> number_of(const Term& term, std::uint64_t most) {
    if (!term.value)
        return parse_error(term.text, in_quotes(term.name) + " needs a number",
                           "write " + std::string{term.name} + "=NUMBER");
    const auto value = number(*term.value);
    if (!value)
        return parse_error(*term.value, in_quotes(*term.value) + " is not a number of at most 64 bits",
                           "write it in decimal, or in hexadecimal after 0x");
    if (*value > most)
        return parse_error(*term.value, in_quotes(*term.value) + " is too large for " + in_quotes(term.name),
                           "use at most " + std::to_string(most));
    return *value;
}

Parsed<> apply_common_terms(Event& event, std::span<const Term> terms) {
    for (const Term& term : terms) {
        const CommonTerm* row = find_common_term(term);
        if (!row) {
            std::vector<std::string> names;
            names.reserve(kTerms.size());
            for (const CommonTerm& known : kTerms) names.emplace_back(known.name);
            const std::string near = did_you_mean(term.name, names);
            return parse_error(
                term.name, in_quotes(term.name) + " is not a term of this event",
                near.empty() ? "fields of the hardware are terms of a PMU, as in cpu/event=0x3c/" : near);
        }
        TRY(row->apply(event, term));
    }
    return {};
}

}  // namespace anyperf::events
