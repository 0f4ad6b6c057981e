// other_cpus.cpp: what to say about an event name of another CPU. Such a name is not misspelled, so the nearest
// spelling would mislead. The message says which CPUs have it, which CPU this is, and which of this CPU's events are
// made of similar words: vendors name the same thing by the same words in another order ("BR_INST_RETIRED",
// "RETIRED_BRANCH_INSTRUCTIONS").
//
// Likeness is twice the shared words divided by all words (Dice's coefficient); a word that begins another one counts
// for most of a word, because vendors shorten them.
#include "events/suggest/other_cpus.h"

#include <algorithm>
#include <utility>

#include "events/names/event_names_data.h"
#include "events/sources/kernel_names.h"
#include "events/syntax/text.h"

namespace anyperf::events {

namespace {

constexpr std::size_t kMaxPmusNamed = 6;
constexpr std::size_t kMaxNamesNamed = 3;
constexpr double kNearEnough = 0.45;  // one common word of two and two is 0.5, of two and three 0.4
constexpr double kShortenedWord = 0.8;

/// The words of an event name.
std::vector<std::string_view> words_of(std::string_view name) {
    std::vector<std::string_view> words;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("_-.:"), name.size());
        if (end != 0) words.push_back(name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return words;
}

/// 1 if two words are the same, kShortenedWord if one is the beginning of the other, else 0.
double likeness(std::string_view a, std::string_view b) {
    if (same_ignoring_case(a, b)) return 1;
    const std::size_t shorter = std::min(a.size(), b.size());
    return shorter >= 2 && same_ignoring_case(a.substr(0, shorter), b.substr(0, shorter)) ? kShortenedWord : 0;
}

/// The similarity of two names by their words: 1 for the same words, 0 for no common word.
double likeness(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    double shared = 0;
    for (const std::string_view word : a) {
        double best = 0;
        for (const std::string_view other : b) best = std::max(best, likeness(word, other));
        shared += best;
    }
    return 2 * shared / static_cast<double>(a.size() + b.size());
}

/// "a, b<last>c".
std::string listed(const std::vector<std::string>& names, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? last : std::string_view{", "};
        text += names[i];
    }
    return text;
}

/// "glc, grt, gnr and 31 more": the PMUs that have the event, newest first. The newest are last in the catalog.
std::string pmus_with(std::string_view event) {
    std::vector<std::string> pmus = pmus_with_event(event, catalog::MachinePmus::kMaxPmus);
    std::ranges::reverse(pmus);
    if (pmus.size() > kMaxPmusNamed + 1) {
        const std::size_t more = pmus.size() - kMaxPmusNamed;
        pmus.resize(kMaxPmusNamed);
        pmus.push_back(std::to_string(more) + " more");
    }
    return listed(pmus, " and ");
}

/// The name of the first active core PMU ("amd64_fam19h_zen4"); empty if the catalog does not know this CPU.
std::string this_cpu(const catalog::MachinePmus& machine) {
    for (const std::uint16_t index : machine.active_pmus())
        if (catalog::pmus()[index].type == catalog::PmuType::core)
            return std::string{catalog::text(catalog::pmus()[index].name)};
    return {};
}

/// Similar events: of this CPU, and of those that the kernel defines for every CPU.
std::string similar_events(const Machine::Data& machine, std::string_view event) {
    std::vector<std::string> kernels;
    for (const KernelName& row : kKernelNames)
        if (row.type == abi::kTypeHardware) kernels.emplace_back(row.name);
    const std::vector<std::string> here = names_with_similar_words(event, active_event_names(machine.catalog()));
    const std::vector<std::string> generic = names_with_similar_words(event, kernels);
    std::string text;
    if (!here.empty()) text = "similar events of this CPU: " + listed(here, " or ");
    if (!generic.empty())
        text += (text.empty() ? "" : "; ") + std::string{"a similar event of every CPU: "} + generic.front();
    return text;
}

std::string fix_for(const Machine::Data& machine, std::string_view event) {
    const std::string nearest = similar_events(machine, event);
    const std::string show =
        "`anyperf list` shows the events of this machine, `anyperf encode PMU::EVENT` the code of any CPU's event";
    return nearest.empty() ? show : nearest;
}

/// The end of a message: which CPU this is.
std::string describe_this_cpu(const Machine::Data& machine) {
    const std::string cpu = this_cpu(machine.catalog());
    return cpu.empty() ? "the catalog does not know the CPU of this machine" : "this CPU is " + cpu;
}

}  // namespace

// Only names that are nearly as good as the best one are kept, at most kMaxNamesNamed of them.
std::vector<std::string> names_with_similar_words(std::string_view typed, std::span<const std::string> known) {
    const auto words = words_of(typed);
    std::vector<std::pair<double, std::string>> found;
    for (const std::string& name : known)
        if (const double like = likeness(words, words_of(name)); !words.empty() && like >= kNearEnough)
            found.emplace_back(-like, name);
    std::ranges::sort(found);
    std::vector<std::string> names;
    for (auto& [unlike, name] : found)
        if (names.size() < kMaxNamesNamed && unlike <= found.front().first + 0.15 &&
            std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    return names;
}

/// The error for an event that the kernel lists in sysfs on some CPUs only (slots, topdown-…). The catalog has a row
/// for it that names the file.
std::optional<ParseError> explain_absent_sysfs_event(std::string_view event) {
    const catalog::PmuRow* kernel = catalog::find_pmu("perf");
    if (kernel == nullptr || kernel->table >= catalog::tables().size()) return std::nullopt;
    const catalog::TableRow& table = catalog::tables()[kernel->table];
    std::string file;
    catalog::visit_named(table, event, catalog::name_hash(event), [&](std::uint32_t position) {
        file = catalog::text(catalog::events(table)[position].sysfs);
        return true;
    });
    if (file.empty()) return std::nullopt;
    return ParseError{event,
                      in_quotes(event) + " needs /sys/bus/event_source/devices/" + file +
                          ", which the kernel has on some CPUs; this machine does not have it",
                      "`anyperf list` shows the events of this machine"};
}

std::optional<ParseError> explain_event_of_other_cpus(const Machine::Data& machine, std::string_view event) {
    if (auto absent = explain_absent_sysfs_event(event)) return absent;
    const std::string others = pmus_with(event);
    if (others.empty()) return std::nullopt;
    return ParseError{event,
                      in_quotes(event) + " is an event of other CPUs (" + others + "); " + describe_this_cpu(machine),
                      fix_for(machine, event)};
}

ParseError explain_absent_pmu(const Machine::Data& machine, std::string_view at, std::string_view pmu,
                              std::string_view event) {
    const std::string others = pmus_with(event);
    return {at,
            "this machine has no " + std::string{pmu} + " to count it: " + describe_this_cpu(machine) +
                (others.empty() ? "" : "; " + std::string{event} + " is an event of " + others),
            fix_for(machine, event)};
}

}  // namespace anyperf::events
