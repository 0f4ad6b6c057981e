#include "cli/stat/places/task_time.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace anyperf::cli::stat {

namespace {

using counting::Count;
using counting::Place;

constexpr std::uint64_t kReadingSkew = 1000;  // a thousandth: places are read one after the other

/// One task on all CPUs.
struct Task {
    std::uint64_t enabled_ns = 0;  ///< the longest that any of its CPUs reports
    std::uint64_t running_ns = 0;  ///< the sum of all CPUs

    bool always_counted() const { return running_ns + enabled_ns / kReadingSkew >= enabled_ns; }
};

bool is_task_on_a_cpu(const Place& place) {
    return place.pid >= 0 && place.cpu >= 0 && !place.cgroup;
}

/// The part of the task's enabled time that belongs to a place with this running time.
std::uint64_t enabled_part(const Task& task, std::uint64_t running_ns) {
    if (task.always_counted()) return running_ns;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(task.enabled_ns) * running_ns / task.running_ns);
}

}  // namespace

void divide_enabled_time(std::span<const Place> places, std::span<Count> counts) {
    std::map<pid_t, Task> tasks;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!is_task_on_a_cpu(places[i])) continue;
        Task& task = tasks[places[i].pid];
        task.enabled_ns = std::max(task.enabled_ns, counts[i].enabled_ns);
        task.running_ns += counts[i].running_ns;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        Count& count = counts[i];
        if (!is_task_on_a_cpu(places[i])) continue;
        const Task& task = tasks[places[i].pid];
        if (task.running_ns == 0) continue;
        count = counting::make_count(count.raw, enabled_part(task, count.running_ns), count.running_ns, count.lost);
    }
}

}  // namespace anyperf::cli::stat
