// threads.h: the samples of a profile by thread, for formats that show threads one below the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "exports/exporter.h"

namespace anyperf::exports {

struct ThreadSamples {
    profile::EventId event{};
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    profile::StringId comm{};              ///< the last name of the thread
    std::vector<std::uint32_t> samples{};  ///< indices, in the profile's order
};

/// The samples of each thread in each of the options' events. Sorted by event, process and thread. A profile that was
/// read without threads has one "thread" of number Context::kAny.
inline std::vector<ThreadSamples> samples_by_thread(const profile::Profile& profile, const ExportOptions& options) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, ThreadSamples> threads;
    for (std::uint32_t i = 0; i < profile.samples.size(); ++i) {
        const profile::Context& context = profile.contexts[profile.samples[i].context];
        if (std::ranges::find(options.events, context.event) == options.events.end()) continue;
        ThreadSamples& thread = threads[{context.event.value, context.pid, context.tid}];
        thread.event = context.event;
        thread.pid = context.pid;
        thread.tid = context.tid;
        thread.comm = context.comm;
        thread.samples.push_back(i);
    }
    std::vector<ThreadSamples> result;
    result.reserve(threads.size());
    for (auto& [key, thread] : threads) result.push_back(std::move(thread));
    return result;
}

}  // namespace anyperf::exports
