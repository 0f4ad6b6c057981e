// tracepoint.cpp: perf_tp_event_init(), perf_trace_event_perm() and perf_tp_event_match() of Linux 6.18.
#include "pmu/tracepoint.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "pmu/trace_filter.h"

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::refuse;

namespace {

/// Raw data may be anybody's secret, but for what a task has asked the kernel itself.
bool may_have(const Tracepoint& tracepoint, const subsystem::EventRequest& request) {
    if (request.inherited || request.may_trace) return true;
    if ((request.attr.sample_type & abi::sample("PERF_SAMPLE_RAW")) == 0) return true;
    return request.task != nullptr && tracepoint.for_anybody;
}

}  // namespace

TracepointPmu::TracepointPmu(IdOfMachine id_of_machine, ProbeEvents* probes)
    : id_of_machine_(std::move(id_of_machine)), probes_(probes) {}

const std::vector<Tracepoint>& TracepointPmu::all() {
    if (!all_.empty()) return all_;
    all_ = tracepoints(id_of_machine_);
    for (std::size_t i = 0; i < all_.size(); ++i) by_id_[all_[i].id] = i;
    return all_;
}

const Tracepoint* TracepointPmu::find(std::uint64_t id) {
    if (const ProbeEvents::Entry* const probe = probes_ != nullptr ? probes_->find(id) : nullptr)
        return &probe->tracepoint;
    const std::vector<Tracepoint>& known = all();
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
    if (tracepoint == nullptr) return refuse(EINVAL, "no tracepoint of this run has this number");
    const ProbeEvents::Entry* const probe = probes_ != nullptr ? probes_->find(attr.config) : nullptr;
    if (probe != nullptr && probe->beyond_end) return refuse(EINVAL, "the probe lies beyond the end of its file");
    if (!may_have(*tracepoint, request))
        return refuse(EPERM, "raw data of this tracepoint needs CAP_PERFMON or perf_event_paranoid -1");
    subsystem::Wiring wiring{.source = tracepoint->source, .software = true, .monotonic_only = true};
    if (probes_ != nullptr) probes_->use(attr.config, request.event);
    if (wiring.source.in_kernel && (attr.flags & abi::flag("exclude_kernel"))) wiring.source = {};
    return wiring;
}

void TracepointPmu::destroy(subsystem::EventIndex event) {
    if (probes_ != nullptr) probes_->leave(event);
}

Answer<std::unique_ptr<subsystem::Filter>> TracepointPmu::filter(const abi::Attr& attr, std::string_view text) {
    const Tracepoint* const tracepoint = find(attr.config);
    if (tracepoint == nullptr) return refuse(EINVAL, "no tracepoint of this run has this number");
    return parse_filter(text, tracepoint->fields);
}

}  // namespace anyperf::pmu
