// filter_and_bpf.cpp: SET_FILTER, SET_BPF and QUERY_BPF.
//
// A filter is text here and steps in shared memory (shared/filter.h). The PMU translates it, because only the PMU knows
// the fields of the event's record. The thread evaluates it at each occurrence, so the filter must be complete before
// the page names it: new_filter() comes first, set_filter() last.
#include "subsystem/ioctl/filter_and_bpf.h"

#include "try.h"

#include <algorithm>
#include <cstring>

namespace anyperf::subsystem {
namespace {

constexpr std::uint32_t kMostPrograms = 64;  // BPF_TRACE_MAX_PROGS

void set_filter(World& world, Event& event, FilterIndex filter) {
    event.filter = filter;
    LockedPage(world, event)->filter = filter;
}

}  // namespace

// perf_event_set_filter(). Children share the filter by its index; it is freed with the opened event.
Answer<IoctlAnswer> ioctl_set_filter(const IoctlCall& call) {
    const auto bytes = call.argument.bytes;
    const auto end = std::ranges::find(bytes, std::byte{});
    if (bytes.empty()) return refuse(EFAULT, "the filter can't be read");
    if (end == bytes.end()) return refuse(EINVAL, "the filter is longer than a page");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                static_cast<std::size_t>(end - bytes.begin()));
    if (call.event.filter != 0) return refuse(EEXIST, "the event has a filter already");
    const auto filter = TRY(call.event.pmu->filter(call.event.attr, text));
    const FilterIndex index = call.world.host.new_filter(*filter);
    if (index == 0) return refuse(ENOMEM, "no room for another filter");
    set_filter(call.world, call.event, index);
    for (Event* child : call.event.children) set_filter(call.world, *child, index);
    return IoctlAnswer{};
}

// BPF programs are in the kernel, which does not know the events of a run and so can't run a program for them.
// Therefore no descriptor is accepted.
Answer<IoctlAnswer> ioctl_set_bpf(const IoctlCall& call) {
    if (!call.argument.descriptor.open) return refuse(EBADF, "no such descriptor");
    return refuse(EINVAL, "not the descriptor of a BPF program that can be attached here");
}

Answer<IoctlAnswer> ioctl_query_bpf(const IoctlCall& call) {
    if (!call.world.host.credentials(call.caller).perfmon)
        return refuse(EPERM, "querying BPF programs needs CAP_PERFMON");
    if (!call.event.pmu->takes_bpf()) return refuse(EINVAL, "only tracepoints have BPF programs");
    // struct perf_event_query_bpf begins with ids_len, which the caller sets, and prog_cnt, the answer.
    std::uint32_t query[2] = {};
    if (call.argument.bytes.size() < sizeof query) return refuse(EFAULT, "the argument can't be read");
    std::memcpy(query, call.argument.bytes.data(), sizeof query);
    if (query[0] > kMostPrograms) return refuse(E2BIG, "ids_len is above 64, the most programs of a tracepoint");
    query[1] = 0;
    IoctlAnswer answer;
    answer.written.resize(sizeof query);
    std::memcpy(answer.written.data(), query, sizeof query);
    return answer;
}

}  // namespace anyperf::subsystem
