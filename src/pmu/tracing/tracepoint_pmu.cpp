// tracepoint_pmu.cpp: the checks of perf_tp_event_init() (kernel/events/core.c) and perf_trace_event_perm()
// (kernel/trace/trace_event_perf.c) of Linux 6.18.
#include "pmu/tracing/tracepoint_pmu.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "pmu/tracing/trace_filter.h"

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::refuse;

namespace {

/// perf_trace_event_perm(). Raw data of a tracepoint may contain another task's secrets, so it needs a privilege. The
/// exception is a tracepoint with TRACE_EVENT_FL_CAP_ANY (system calls and probes) in an event of one task, which the
/// opener may measure anyway.
bool is_permitted(const Tracepoint& tracepoint, const subsystem::EventRequest& request) {
    if (request.inherited || (request.attr.sample_type & abi::sample("PERF_SAMPLE_RAW")) == 0) return true;
    return (request.task != nullptr && tracepoint.allows_unprivileged_raw) || request.rights.may_trace();
}

}  // namespace

TracepointPmu::TracepointPmu(FindHostId find_host_id, ProbeEvents* probes)
    : find_host_id_(std::move(find_host_id)), probes_(probes) {}

// Made at the first use: most runs open no tracepoint, and the table has two rows for each system call.
const std::vector<Tracepoint>& TracepointPmu::all_tracepoints() {
    if (!all_.empty()) return all_;
    all_ = tracepoints(find_host_id_);
    for (std::size_t i = 0; i < all_.size(); ++i) by_id_[all_[i].id] = i;
    return all_;
}

const Tracepoint* TracepointPmu::find(std::uint64_t id) {
    if (const ProbeEvents::Entry* const probe = probes_ != nullptr ? probes_->find(id) : nullptr)
        return &probe->tracepoint;
    const std::vector<Tracepoint>& known = all_tracepoints();
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &known[found->second];
}

std::uint32_t TracepointPmu::type() const {
    return abi::kTypeTracepoint;
}

Answer<subsystem::Wiring> TracepointPmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != abi::kTypeTracepoint) return refuse(ENOENT, "another PMU's type");
    if (attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK"))
        return refuse(EOPNOTSUPP, "tracepoints have no branch stack");
    const Tracepoint* const tracepoint = find(attr.config);
    if (tracepoint == nullptr) return refuse(EINVAL, "there is no tracepoint with this number in this run");
    const ProbeEvents::Entry* const probe = probes_ != nullptr ? probes_->find(attr.config) : nullptr;
    if (probe != nullptr && probe->is_past_end) return refuse(EINVAL, "the probe is beyond the end of its file");
    if (!is_permitted(*tracepoint, request))
        return refuse(EPERM, "raw data of this tracepoint needs CAP_PERFMON or perf_event_paranoid -1");
    subsystem::Wiring wiring{.source = tracepoint->source, .software = true, .monotonic_only = true};
    if (probes_ != nullptr) probes_->add_user(attr.config, request.event);
    // On Linux its registers are those of kernel mode, so exclude_kernel drops every occurrence (perf_exclude_event()).
    if (wiring.source.in_kernel && (attr.flags & abi::flag("exclude_kernel"))) wiring.source = {};
    return wiring;
}

void TracepointPmu::destroy(subsystem::EventIndex event) {
    if (probes_ != nullptr) probes_->remove_user(event);
}

Answer<std::unique_ptr<subsystem::Filter>> TracepointPmu::filter(const abi::Attr& attr, std::string_view text) {
    const Tracepoint* const tracepoint = find(attr.config);
    if (tracepoint == nullptr) return refuse(EINVAL, "there is no tracepoint with this number in this run");
    return parse_filter(text, tracepoint->fields);
}

}  // namespace anyperf::pmu
