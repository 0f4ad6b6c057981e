// other_cpus.cpp: see other_cpus.h.
#include "events/other_cpus.h"

#include <algorithm>
#include <utility>

#include "events/event_names_data.h"
#include "events/kernel_names.h"
#include "events/text.h"

namespace anyperf::events {

namespace {

constexpr std::size_t kMostPmusNamed = 6;
constexpr std::size_t kMostNamesNamed = 3;
constexpr double kNearEnough = 0.45;  // one shared word of two and two is 0.5, of two and three 0.4
constexpr double kShortenedWord = 0.8;

std::vector<std::string_view> words_of(std::string_view name) {
    std::vector<std::string_view> words;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("_-.:"), name.size());
        if (end != 0) words.push_back(name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return words;
}

double likeness(std::string_view a, std::string_view b) {
    if (same(a, b)) return 1;
    const std::size_t shorter = std::min(a.size(), b.size());
    return shorter >= 2 && same(a.substr(0, shorter), b.substr(0, shorter)) ? kShortenedWord : 0;
}

/// 1: the same words; 0: none in common.
double likeness(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    double shared = 0;
    for (const std::string_view word : a) {
        double best = 0;
        for (const std::string_view other : b) best = std::max(best, likeness(word, other));
        shared += best;
    }
    return 2 * shared / static_cast<double>(a.size() + b.size());
}

std::string listed(const std::vector<std::string>& names, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? last : std::string_view{", "};
        text += names[i];
    }
    return text;
}

/// "glc, grt, gnr and 31 more": the catalog's last are the newest.
std::string owners(std::string_view event) {
    std::vector<std::string> pmus = pmus_with_event(event, catalog::Machine::kMostPmus);
    std::ranges::reverse(pmus);
    if (pmus.size() > kMostPmusNamed + 1) {
        const std::size_t more = pmus.size() - kMostPmusNamed;
        pmus.resize(kMostPmusNamed);
        pmus.push_back(std::to_string(more) + " more");
    }
    return listed(pmus, " and ");
}

/// The first active core PMU: "amd64_fam19h_zen4"; empty where nobody knows this CPU.
std::string this_cpu(const catalog::Machine& machine) {
    for (const std::uint16_t index : machine.actives())
        if (catalog::pmus()[index].type == catalog::PmuType::core)
            return std::string{catalog::text(catalog::pmus()[index].name)};
    return {};
}

/// What the kernel calls it on every CPU, and what this CPU does.
std::string nearest_here(const Machine::Data& machine, std::string_view event) {
    std::vector<std::string> kernels;
    for (const KernelName& row : kKernelNames)
        if (row.type == abi::kTypeHardware) kernels.emplace_back(row.name);
    const std::vector<std::string> here = names_of_similar_words(event, names_of_actives(machine.catalog()));
    const std::vector<std::string> generic = names_of_similar_words(event, kernels);
    std::string text;
    if (!here.empty()) text = "this CPU calls the nearest thing " + listed(here, " or ");
    if (!generic.empty()) text += (text.empty() ? "" : "; ") + std::string{"every CPU's nearest is "} + generic.front();
    return text;
}

std::string fix_for(const Machine::Data& machine, std::string_view event) {
    const std::string nearest = nearest_here(machine, event);
    const std::string show = "`anyperf list` shows what there is here, `anyperf encode PMU::EVENT` any CPU's code";
    return nearest.empty() ? show : nearest;
}

std::string not_of_this(const Machine::Data& machine) {
    const std::string cpu = this_cpu(machine.catalog());
    return cpu.empty() ? "this machine's CPU is none that the catalog knows" : "this one is " + cpu;
}

}  // namespace

std::vector<std::string> names_of_similar_words(std::string_view typed, std::span<const std::string> known) {
    const auto words = words_of(typed);
    std::vector<std::pair<double, std::string>> found;
    for (const std::string& name : known)
        if (const double like = likeness(words, words_of(name)); !words.empty() && like >= kNearEnough)
            found.emplace_back(-like, name);
    std::ranges::sort(found);
    std::vector<std::string> names;
    for (auto& [unlike, name] : found)
        if (names.size() < kMostNamesNamed && unlike <= found.front().first + 0.15 &&
            std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    return names;
}

/// The catalog's rows for what the kernel of some machines describes in sysfs: slots, topdown-…
std::optional<Fault> absent_from_sysfs(std::string_view event) {
    const catalog::PmuRow* kernel = catalog::find_pmu("perf");
    if (kernel == nullptr || kernel->table >= catalog::tables().size()) return std::nullopt;
    const catalog::TableRow& table = catalog::tables()[kernel->table];
    std::string file;
    catalog::visit_named(table, event, catalog::name_hash(event), [&](std::uint32_t position) {
        file = catalog::text(catalog::events(table)[position].sysfs);
        return true;
    });
    if (file.empty()) return std::nullopt;
    return Fault{event,
                 "there is " + in_quotes(event) + " where the kernel has /sys/bus/event_source/devices/" + file +
                     ", as it has on some CPUs; this machine has none",
                 "`anyperf list` shows what there is here"};
}

std::optional<Fault> of_other_cpus(const Machine::Data& machine, std::string_view event) {
    if (auto absent = absent_from_sysfs(event)) return absent;
    const std::string others = owners(event);
    if (others.empty()) return std::nullopt;
    return Fault{event, in_quotes(event) + " is an event of other CPUs (" + others + "); " + not_of_this(machine),
                 fix_for(machine, event)};
}

Fault of_an_absent_pmu(const Machine::Data& machine, std::string_view at, std::string_view pmu,
                       std::string_view event) {
    const std::string others = owners(event);
    return {at,
            "this machine has no " + std::string{pmu} + " to count it: " + not_of_this(machine) +
                (others.empty() ? "" : "; " + std::string{event} + " is an event of " + others),
            fix_for(machine, event)};
}

}  // namespace anyperf::events
