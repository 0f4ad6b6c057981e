// uprobe_pmu.cpp: events of the PMU uprobe, each at a place in a file, and the table of the places that the run's
// threads watch. In the kernel a uprobe is a breakpoint instruction in the pages of the file. In a run translated code
// returns to the engine at that place, and the engine calls the agent. Either way a uprobe concerns all processes that
// execute the file, so it needs a privilege.
#include "pmu/tracing/uprobe_pmu.h"

#include "abi/sample_bits.h"
#include "pmu/tracing/trace_filter.h"
#include "pmu/virtual_files.h"
#include "try.h"

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::Probe;
using subsystem::ProbeIndex;
using subsystem::refuse;
using subsystem::Source;

namespace {

// Fields of config: format/retprobe is bit 0, format/ref_ctr_offset begins at bit 32.
constexpr std::uint64_t kReturnBit = 1;
constexpr unsigned kCounterOffsetShift = 32;

/// format/retprobe.
bool is_at_return(const abi::Attr& attr) {
    return (attr.config & kReturnBit) != 0;
}

/// The probe that the attr describes, checked against the file that the subsystem has resolved from config1.
Answer<Probe> probe_of(const subsystem::EventRequest& request) {
    const subsystem::ProbedFile& file = request.file;
    if (file.error != 0) return refuse(file.error, "config1 is not the path of a file that can be probed");
    const Probe probe{.file = file.name,
                      .offset = request.attr.config2,
                      .reference_counter_offset = request.attr.config >> kCounterOffsetShift};
    if (probe.offset > file.bytes) return refuse(EINVAL, "config2 is beyond the end of the file");
    if (probe.reference_counter_offset % sizeof(std::uint16_t) != 0) return refuse(EINVAL, "ref_ctr_offset is odd");
    return probe;
}

}  // namespace

// Events at one place share a probe, since a thread can put only one breakpoint there. A new user of a number in the
// table that threads read (probes_) has a new version, by which a thread that knows the old entry notices the change.
Answer<ProbeIndex> ProbeTable::acquire(const Probe& probe) {
    ProbeIndex free = 1;
    for (auto& [index, place] : places_) {
        if (index == free) ++free;  // the numbers ascend: this ends at the first gap
        if (place.probe.file != probe.file || place.probe.offset != probe.offset) continue;
        if (place.probe.reference_counter_offset != probe.reference_counter_offset)
            return refuse(EINVAL, "this place is probed with another ref_ctr_offset");
        ++place.users;
        return index;
    }
    if (free >= probes_.size()) return refuse(ENOMEM, "this run has no room for another probe");
    Place& place = places_[free];
    place = {probe, 1};
    place.probe.version = ++last_version_;
    probes_[free] = place.probe;
    return free;
}

// The entry that threads read is left as it is: no event refers to it any more, and the next user of the number gives
// it a new version.
void ProbeTable::release(ProbeIndex index) {
    const auto known = places_.find(index);
    if (known != places_.end() && --known->second.users == 0) places_.erase(known);
}

std::uint32_t UprobePmu::type() const {
    return kTypeUprobe;
}

// perf_uprobe_event_init(). An inherited event uses its parent's probe and needs no rights.
Answer<subsystem::Wiring> UprobePmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != kTypeUprobe) return refuse(ENOENT, "another PMU's type");
    const bool at_return = is_at_return(attr);
    if (request.inherited) {
        const auto known = probe_of_event_.find(request.parent);
        return probe_wiring(known == probe_of_event_.end() ? 0 : known->second, at_return);
    }
    if (!request.rights.has_perfmon()) return refuse(EACCES, "probes need CAP_PERFMON");
    if ((attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
        return refuse(EOPNOTSUPP, "probes have no branch stack");
    const Probe probe = TRY(probe_of(request));
    const ProbeIndex index = TRY(probe_table_.acquire(probe));
    probe_of_event_[request.event] = index;
    return probe_wiring(index, at_return);
}

void UprobePmu::destroy(subsystem::EventIndex event) {
    const auto known = probe_of_event_.find(event);
    if (known == probe_of_event_.end()) return;
    probe_table_.release(known->second);
    probe_of_event_.erase(known);
}

Answer<std::unique_ptr<subsystem::Filter>> UprobePmu::filter(const abi::Attr&, std::string_view text) {
    return parse_filter(text, {});  // an event without a file in tracefs has no fields of its own on Linux
}

subsystem::Wiring probe_wiring(ProbeIndex probe, bool at_return, std::uint32_t record) {
    subsystem::Wiring wiring{.source = {.kind = Source::Kind::occurrences}, .software = true, .monotonic_only = true};
    wiring.source.occurrence_kind =
        at_return ? Source::OccurrenceKind::probe_returned : Source::OccurrenceKind::probe_reached;
    wiring.source.number = probe;
    wiring.source.record = record;
    return wiring;
}

}  // namespace anyperf::pmu
