// sample_filter.cpp: a recording has many samples but few tasks and functions, so each context and each location is
// compared with the filter's texts once.
#include "profile/sample_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/rows.h"

namespace anyperf::profile {

namespace {

template <class List, class Value>
bool lists(const List& list, const Value& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
}

bool admits_context(const SampleFilter& filter, const Profile& profile, const Context& context) {
    if (filter.socket &&
        (context.cpu >= profile.cpu_sockets.size() || profile.cpu_sockets[context.cpu] != filter.socket))
        return false;
    return lists(filter.comms, profile.text(context.comm)) && lists(filter.pids, context.pid) &&
           lists(filter.tids, context.tid);
}

bool is_named(const SampleFilter& filter, const Profile& profile, const Function& function) {
    return lists(filter.symbols, profile.text(function.name)) ||
           lists(filter.symbols, profile.text(function.linkage_name)) ||
           lists(filter.symbols, fmt::format("{:#x}", function.address));
}

bool admits_location(const SampleFilter& filter, const Profile& profile, const Location& location) {
    const Dso& dso = profile.dsos[location.dso];
    if (!lists(filter.dsos, profile.text(dso.name)) && !lists(filter.dsos, profile.text(dso.path))) return false;
    if (filter.symbols.empty() && filter.symbol_part.empty() && !filter.only_resolved) return true;
    const FunctionId id = function_of(profile, location);
    if (id == kNone<FunctionId>) return false;
    const Function& function = profile.functions[id];
    return is_named(filter, profile, function) && profile.text(function.name).contains(filter.symbol_part);
}

}  // namespace

bool SampleFilter::admits_all() const {
    return comms.empty() && dsos.empty() && symbols.empty() && symbol_part.empty() && pids.empty() && tids.empty() &&
           !socket && !only_resolved;
}

std::vector<bool> admitted_by(const SampleFilter& filter, const Profile& profile) {
    std::vector<bool> contexts, locations, admitted;
    contexts.reserve(profile.contexts.size());
    for (const Context& each : profile.contexts) contexts.push_back(admits_context(filter, profile, each));
    locations.reserve(profile.locations.size());
    for (const Location& each : profile.locations) locations.push_back(admits_location(filter, profile, each));
    admitted.reserve(profile.samples.size());
    for (const Sample& each : profile.samples)
        admitted.push_back(contexts[each.context.value] && locations[profile.stacks[each.stack].location.value]);
    return admitted;
}

void keep_only(const std::vector<bool>& admitted, Profile& profile) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < profile.samples.size(); ++i)
        if (admitted[i]) profile.samples[kept++] = profile.samples[i];
    profile.samples.resize(kept);
}

}  // namespace anyperf::profile
