// probes.cpp: uprobes and kprobes, which take strings: "uprobe:/bin/true:main", "kprobe:vfs_read+0x10",
// "uprobe/path=/bin/true,offset=0x1234,retprobe/". Fields: perf_event_open(2), kprobe_func to probe_offset.
#include <algorithm>
#include <array>

#include "events/common_terms.h"
#include "events/pmu_terms.h"
#include "events/probe_place.h"
#include "events/source.h"
#include "events/text.h"

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
    return fault(at, "this kernel has no " + std::string{name} + " PMU",
                 "it needs CONFIG_" + std::string{name == "uprobe" ? "UPROBE" : "KPROBE"} + "_EVENTS and Linux 4.17");
}

Parsed<> set_return(Event& event, const host::Pmu& pmu, std::string_view at) {
    const host::Format* field = pmu.format("retprobe");
    if (!field)
        return fault(at, "the PMU '" + pmu.name() + "' has no field 'retprobe'",
                     "this kernel probes entries alone: leave out the ret");
    event.attr.config |= field->spread(1);
    return {};
}

/// The text from one part to the end of another, with the colons between them.
std::string_view from_to(const Item& item, std::string_view first, std::string_view last) {
    const auto begin = static_cast<std::size_t>(first.data() - item.text.data());
    const auto end = static_cast<std::size_t>(last.data() - item.text.data()) + last.size();
    return item.text.substr(begin, end - begin);
}

/// "ns::f" came as three parts: the last part that belongs to the symbol that begins with part `first`.
std::size_t last_of_symbol(const Item& item, std::size_t first) {
    std::size_t last = first;
    while (last + 2 < item.parts.size() && item.parts[last + 1].empty()) last += 2;
    return last;
}

/// As the kernel takes it: from the working directory, unless it begins at the root.
std::filesystem::path file_named(const Machine::Data& machine, std::string_view path) {
    return path.starts_with('/') || !machine.root.is_this_machine() ? machine.root.path(path)
                                                                    : std::filesystem::path{path};
}

Parsed<Match> uprobe_match(const Machine::Data& machine, const Item& item, Event event) {
    if (item.parts.size() < 3 || item.parts[1].empty() || item.parts[2].empty())
        return fault(item.text, "a uprobe needs a file and a place in it", "write uprobe:/path/to/program:function");
    const std::size_t last = last_of_symbol(item, 2);
    const std::string_view place = from_to(item, item.parts[2], item.parts[last]);
    event.config1_text = std::string{item.parts[1]};
    event.attr.config2 = TRY(probe_offset(file_named(machine, item.parts[1]), item.parts[1], place));
    return Match{{std::move(event)}, last + 1, false, false};
}

Parsed<Match> kprobe_match(const Item& item, Event event) {
    const std::string_view place = item.parts[1];
    if (place.empty()) return fault(item.text, "a kprobe needs a function", "write kprobe:vfs_read");
    if (const auto address = number(place)) {
        event.attr.config2 = *address;
        return Match{{std::move(event)}, 2};
    }
    const std::size_t plus = place.find('+');
    const auto behind =
        plus == std::string_view::npos ? std::optional<std::uint64_t>{0} : number(place.substr(plus + 1));
    if (!behind) return fault(place.substr(plus), "behind the '+' stands no number", "write FUNCTION+0x10");
    event.config1_text = std::string{place.substr(0, plus)};
    event.attr.config2 = *behind;
    return Match{{std::move(event)}, 2};
}

/// What the terms between slashes say; those that are not a probe's own are left for the PMU.
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
            return fault(term.text, "config1 and config2 of a probe are a string's address and a place",
                         user ? "write path= and offset= or symbol=" : "write func= and offset=, or addr=");
        const Term*& slot = target ? sorted.target : sorted.place;
        if (!target && !place) {
            sorted.others.push_back(term);
        } else if (slot || !term.value || term.value->empty()) {
            return fault(term.text, slot ? "this was said already" : in_quotes(term.name) + " needs a value",
                         "write each term once, as NAME=VALUE");
        } else {
            slot = &term;
        }
    }
    return sorted;
}

Parsed<Match> match_of_terms(const Machine::Data& machine, const Item& item, const host::Pmu& pmu) {
    const bool user = pmu.name() == "uprobe";
    const ProbeTerms terms = TRY(sort_terms(item, user));
    if (user && (!terms.target || !terms.place))
        return fault(item.text, "a uprobe needs a file and a place in it", "write uprobe/path=FILE,offset=0x…/");
    if (!user && !terms.target && !terms.place)
        return fault(item.text, "a kprobe needs a function or an address", "write kprobe/func=vfs_read/");
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
    if (item.text.contains('\0')) return fault(item.text, "a name may not hold a zero byte", "leave it out");
    if (item.parts.size() < 2) {
        Match match = TRY(match_of_terms(machine, item, *pmu));
        if (word->returns) TRY(set_return(match.events.front(), *pmu, item.parts[0]));
        return match;
    }
    Event event;
    begin_of_pmu(event, *pmu);
    if (word->returns) TRY(set_return(event, *pmu, item.parts[0]));
    return word->pmu == "uprobe" ? TRY(uprobe_match(machine, item, std::move(event)))
                                 : TRY(kprobe_match(item, std::move(event)));
}

}  // namespace anyperf::events
