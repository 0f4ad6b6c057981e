// probes.cpp: uprobes and kprobes: "uprobe:/bin/true:main", "kprobe:vfs_read+0x10",
// "uprobe/path=/bin/true,offset=0x1234,retprobe/".
//
// The attr holds the path or function as a pointer to a string in config1 (uprobe_path, kprobe_func), and the offset or
// address in config2 (probe_offset, kprobe_addr): perf_event_open(2).
#include <algorithm>
#include <array>

#include "events/sources/name_source.h"
#include "events/sources/pmu_terms.h"
#include "events/sources/probe_place.h"
#include "events/syntax/common_terms.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

namespace {

struct ProbeWord {
    std::string_view word;
    std::string_view pmu;
    bool returns;
};
constexpr std::array kWords{
    ProbeWord{"uprobe", "uprobe", false},
    ProbeWord{"uretprobe", "uprobe", true},
    ProbeWord{"kprobe", "kprobe", false},
    ProbeWord{"kretprobe", "kprobe", true},
};

Parsed<const host::Pmu*> probe_pmu(const Machine::Data& machine, std::string_view at, std::string_view name) {
    if (const host::Pmu* pmu = machine.pmu(name)) return pmu;
    return parse_error(
        at, "this kernel has no " + std::string{name} + " PMU",
        "it needs CONFIG_" + std::string{name == "uprobe" ? "UPROBE" : "KPROBE"} + "_EVENTS and Linux 4.17");
}

/// Makes the probe a return probe.
Parsed<> set_return(Event& event, const host::Pmu& pmu, std::string_view at) {
    const host::Format* field = pmu.format("retprobe");
    if (!field)
        return parse_error(at, "the PMU '" + pmu.name() + "' has no field 'retprobe'",
                           "this kernel can probe function entries only: leave out the ret");
    event.attr.config |= field->spread(1);
    return {};
}

/// The text of the item from one part to the end of another, with the colons between them.
std::string_view from_to(const Item& item, std::string_view first, std::string_view last) {
    const auto begin = static_cast<std::size_t>(first.data() - item.text.data());
    const auto end = static_cast<std::size_t>(last.data() - item.text.data()) + last.size();
    return item.text.substr(begin, end - begin);
}

/// The index of the last part of the symbol that begins at part `first`. The tokenizer takes the "::" of a C++ name for
/// two separators, so "ns::f" is three parts: an empty one is between the others.
std::size_t last_of_symbol(const Item& item, std::size_t first) {
    std::size_t last = first;
    while (last + 2 < item.parts.size() && item.parts[last + 1].empty()) last += 2;
    return last;
}

/// The file of a uprobe. As in the kernel, a relative path starts at the working directory; on another machine's root
/// at that root.
std::filesystem::path file_named(const Machine::Data& machine, std::string_view path) {
    return path.starts_with('/') || !machine.root.is_below_slash() ? machine.root.path(path)
                                                                   : std::filesystem::path{path};
}

/// "uprobe:PATH:SYMBOL+OFFSET".
Parsed<Match> uprobe_match(const Machine::Data& machine, const Item& item, Event event) {
    if (item.parts.size() < 3 || item.parts[1].empty() || item.parts[2].empty())
        return parse_error(item.text, "a uprobe needs a file and a place in it",
                           "write uprobe:/path/to/program:function");
    const std::size_t last = last_of_symbol(item, 2);
    const std::string_view place = from_to(item, item.parts[2], item.parts[last]);
    event.config1_text = std::string{item.parts[1]};
    event.attr.config2 = TRY(probe_offset(file_named(machine, item.parts[1]), item.parts[1], place));
    return Match{{std::move(event)}, last + 1, false, false};
}

/// "kprobe:FUNCTION+OFFSET" or "kprobe:ADDRESS". The kernel looks up the function.
Parsed<Match> kprobe_match(const Item& item, Event event) {
    const std::string_view place = item.parts[1];
    if (place.empty()) return parse_error(item.text, "a kprobe needs a function", "write kprobe:vfs_read");
    if (const auto address = number(place)) {
        event.attr.config2 = *address;
        return Match{{std::move(event)}, 2};
    }
    const std::size_t plus = place.find('+');
    const auto offset_after =
        plus == std::string_view::npos ? std::optional<std::uint64_t>{0} : number(place.substr(plus + 1));
    if (!offset_after)
        return parse_error(place.substr(plus), "there is no number after the '+'", "write FUNCTION+0x10");
    event.config1_text = std::string{place.substr(0, plus)};
    event.attr.config2 = *offset_after;
    return Match{{std::move(event)}, 2};
}

/// The terms of a probe, sorted. Terms that do not belong to probes are left for the PMU.
struct ProbeTerms {
    const Term* target = nullptr;  ///< path= or func=
    const Term* place = nullptr;   ///< symbol=, offset= or addr=
    std::vector<Term> others;
};

Parsed<ProbeTerms> sort_terms(const Item& item, bool user) {
    ProbeTerms sorted;
    for (const Term& term : item.terms) {
        const bool target = term.name == (user ? "path" : "func");
        const bool place = term.name == "offset" || term.name == (user ? "symbol" : "addr");
        if (term.name == "config1" || term.name == "config2")
            return parse_error(term.text, "config1 and config2 of a probe are the address of a string and a place",
                               user ? "write path= and offset= or symbol=" : "write func= and offset=, or addr=");
        const Term*& slot = target ? sorted.target : sorted.place;
        if (!target && !place) {
            sorted.others.push_back(term);
        } else if (slot || !term.value || term.value->empty()) {
            return parse_error(term.text, slot ? "this is given twice" : in_quotes(term.name) + " needs a value",
                               "write each term once, as NAME=VALUE");
        } else {
            slot = &term;
        }
    }
    return sorted;
}

/// "uprobe/path=…,offset=…/": path and place are terms of anyperf's own, since a pointer cannot be typed as a field.
Parsed<Match> match_of_terms(const Machine::Data& machine, const Item& item, const host::Pmu& pmu) {
    const bool user = pmu.name() == "uprobe";
    const ProbeTerms terms = TRY(sort_terms(item, user));
    if (user && (!terms.target || !terms.place))
        return parse_error(item.text, "a uprobe needs a file and a place in it", "write uprobe/path=FILE,offset=0x…/");
    if (!user && !terms.target && !terms.place)
        return parse_error(item.text, "a kprobe needs a function or an address", "write kprobe/func=vfs_read/");
    Event event;
    TRY(resolve_pmu_terms(machine, pmu, terms.others, event));
    if (terms.target) event.config1_text = std::string{*terms.target->value};
    if (terms.place && user && terms.place->name == "symbol")
        event.attr.config2 =
            TRY(probe_offset(file_named(machine, *terms.target->value), *terms.target->value, *terms.place->value));
    else if (terms.place)
        event.attr.config2 = TRY(number_of(*terms.place));
    return Match{{std::move(event)}, 1, true, false};
}

}  // namespace

Parsed<std::optional<Match>> from_probes(const Machine::Data& machine, const Item& item) {
    const auto word = std::ranges::find(kWords, item.parts[0], &ProbeWord::word);
    if (word == kWords.end() || (item.parts.size() < 2 && !item.slashes)) return std::nullopt;
    const host::Pmu* pmu = TRY(probe_pmu(machine, item.parts[0], word->pmu));
    if (item.text.contains('\0')) return parse_error(item.text, "a name can't contain a zero byte", "leave it out");
    if (item.parts.size() < 2) {
        Match match = TRY(match_of_terms(machine, item, *pmu));
        if (word->returns) TRY(set_return(match.events.front(), *pmu, item.parts[0]));
        return match;
    }
    Event event;
    init_pmu_event(event, *pmu);
    if (word->returns) TRY(set_return(event, *pmu, item.parts[0]));
    return word->pmu == "uprobe" ? TRY(uprobe_match(machine, item, std::move(event)))
                                 : TRY(kprobe_match(item, std::move(event)));
}

}  // namespace anyperf::events
