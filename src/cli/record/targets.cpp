// targets.cpp: threads and CPUs of a recording, the sizes of its rings, and why one of its events was refused.
#include "cli/record/targets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>

#include "host/kernel/sysctl.h"
#include "host/open_failure.h"
#include "host/process/cgroups.h"
#include "recording/exact_events.h"
#include "try.h"

namespace anyperf::cli::record {

namespace {

using counting::Place;

constexpr std::size_t kDefaultRing = 4 << 20;
// With copied stacks: a ring of 32 MiB holds 512 stacks of 64 KiB. If there are many CPUs, each ring is smaller, so
// that all rings together take at most 256 MiB.
constexpr std::size_t kLargestRing = 32 << 20, kAllRings = 256 << 20;
constexpr std::uint32_t kWatermarkShare = 8;  // of a ring

/// Advice for a request that the virtual PMU refuses.
std::string fix_for_virtual_pmu(const recording::SamplingOptions& sampling) {
    const auto most = host::kernel_setting(host::Root{}, "perf_event_max_sample_rate");
    if (sampling.frequency && most && *sampling.frequency > static_cast<std::uint64_t>(*most))
        return fmt::format("give -F max, or at most -F {}", *most);
    if (sampling.clock && *sampling.clock != CLOCK_MONOTONIC && *sampling.clock != CLOCK_MONOTONIC_RAW)
        return "give -k monotonic or -k monotonic_raw";
    return "use --kernel, or another event (see `anyperf list`)";
}

}  // namespace

Targets::~Targets() {
    if (cgroup_fd_ >= 0) ::close(cgroup_fd_);
}

/// The threads to record; -1: all tasks.
Result<std::vector<pid_t>> Targets::tasks(pid_t command) {
    if (options_.is_cpu_wide()) return std::vector<pid_t>{-1};
    if (options_.targets_command()) return std::vector<pid_t>{command};
    if (!options_.tid_numbers.empty()) return options_.tid_numbers;
    std::vector<pid_t> threads;
    for (const pid_t process : options_.pid_numbers) {
        const auto own = kernel_.threads_of(process);
        // Those of a user were only found.
        if (own.empty() && options_.user.empty())
            return std::unexpected(Error{fmt::format("cannot record process {}", process), "there is no such process",
                                         "give the id of one that runs (see `ps -e`)"});
        std::ranges::copy(own, std::back_inserter(threads));
    }
    if (threads.empty())
        return std::unexpected(Error{fmt::format("cannot record the user {}", options_.user),
                                     "the processes of this user have ended", "start one first; or record with -a"});
    return threads;
}

/// The CPUs on which each task is recorded. The kernel maps no ring of an inherited event without a CPU
/// (recording/open_set.h), so there it is each one. A hosted run maps it. So its samples do not depend on when the
/// kernel moves a thread to another CPU: events that are bound to CPUs count their periods apart.
std::vector<int> Targets::cpus() const {
    if (!options_.cpus.empty()) return options_.cpus;
    if (plan_.hosted && !options_.is_cpu_wide()) return {-1};
    return kernel_.online_cpus();
}

/// Each thread on each of the CPUs.
Result<std::vector<Place>> Targets::places(pid_t command) {
    const auto cpus = this->cpus();
    const auto threads = TRY(tasks(command));
    if (options_.cgroup.has_value()) {
        const std::string directory = TRY(host::cgroup_directory(host::Root{}, *options_.cgroup));
        cgroup_fd_ = kernel_.open_directory(directory);
        if (cgroup_fd_ < 0)
            return std::unexpected(Error{fmt::format("cannot record the cgroup {}", *options_.cgroup),
                                         fmt::format("{}: {}", directory, std::strerror(-cgroup_fd_)), ""});
    }
    std::vector<Place> places;
    for (const pid_t thread : threads)
        for (const int cpu : cpus)
            places.push_back(cgroup_fd_ >= 0 ? Place{.pid = cgroup_fd_, .cpu = cpu, .cgroup = true}
                                             : Place{.pid = thread, .cpu = cpu, .cgroup = false});
    return places;
}

/// Why an event was refused. The virtual PMU gives its reason. The kernel gives only an errno, whose cause is looked
/// for.
Error Targets::explain(const events::Event& event, const Place& place, int errno_value) const {
    if (plan_.hosted)
        return Error{fmt::format("cannot record {}", event.name),
                     plan_.hosted->kernel().cause_of_refusal().value_or("the virtual PMU refuses it"),
                     fix_for_virtual_pmu(options_.sampling)};
    return host::why_open_failed({.attr = events::attr_to_open(event),
                                  .pid = place.pid,
                                  .cpu = place.cpu,
                                  .group_fd = -1,
                                  .flags = place.cgroup ? recording::kPidCgroup : 0},
                                 errno_value, event.name);
}

/// The size of a ring without -m. A single ring for all CPUs is as large as theirs would be together.
std::size_t Targets::default_ring(const std::vector<Place>& places) const {
    std::set<int> cpus;
    for (const Place& place : places) cpus.insert(place.cpu);
    const std::size_t rings = std::max<std::size_t>(cpus.size(), 1);
    const bool stacks = options_.sampling.call_graph == recording::CallGraph::stacks || options_.off_cpu;
    const bool for_all_cpus = cpus.contains(-1);
    const std::size_t wanted = for_all_cpus ? kDefaultRing * std::bit_ceil(kernel_.online_cpus().size()) : kDefaultRing;
    return std::clamp(stacks ? std::bit_floor(kAllRings / rings) : wanted, kDefaultRing, kLargestRing);
}

Result<recording::OpenRequest> Targets::request(pid_t command) {
    std::vector<Place> places = TRY(this->places(command));
    recording::OpenRequest request;
    request.ring_bytes = options_.ring_bytes != 0 ? options_.ring_bytes : default_ring(places);
    request.ring_bytes_are_wanted = options_.ring_bytes != 0;
    request.stacks_may_shrink = !options_.sampling.stack_bytes_are_wanted;
    auto sampling = options_.sampling;
    request.watermark_share = kWatermarkShare;
    sampling.watermark_bytes = static_cast<std::uint32_t>(request.ring_bytes / kWatermarkShare);
    request.events = plan_.exact ? std::vector{recording::only_tracking(sampling)}
                                 : recording::sampled_events(plan_.groups, sampling);
    // sampled_events() keeps the order of the events.
    for (std::size_t group = 0, event = 0; group < plan_.filters.size(); ++group)
        for (std::size_t i = 0; i < plan_.groups[group].events.size(); ++i)
            request.events[event++].filter = plan_.filters[group];
    request.refused_filter = filter_refusal;
    request.places = std::move(places);
    request.explain = [this](const events::Event& event, const Place& place, int errno_value) {
        return explain(event, place, errno_value);
    };
    return request;
}

}  // namespace anyperf::cli::record
