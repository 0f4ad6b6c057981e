// uprobe.cpp: see uprobe.h.
#include "pmu/uprobe.h"

#include "abi/sample_bits.h"
#include "pmu/trace_filter.h"
#include "pmu/virtual_files.h"

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::Probe;
using subsystem::ProbeIndex;
using subsystem::refuse;
using subsystem::Source;

namespace {

constexpr std::uint64_t kAtReturn = 1;   // config: format/retprobe
constexpr unsigned kCounterOffset = 32;  // its first bit in config: format/ref_ctr_offset

bool is_at_return(const abi::Attr& attr) {
    return (attr.config & kAtReturn) != 0;
}

Answer<Probe> probe_of(const subsystem::EventRequest& request) {
    const subsystem::ProbedFile& file = request.file;
    if (file.error != 0) return refuse(file.error, "config1 is not the path of a file that can be probed");
    const Probe probe{
        .file = file.name, .offset = request.attr.config2, .counter_offset = request.attr.config >> kCounterOffset};
    if (probe.offset > file.bytes) return refuse(EINVAL, "config2 lies beyond the end of the file");
    if (probe.counter_offset % sizeof(std::uint16_t) != 0) return refuse(EINVAL, "ref_ctr_offset is odd");
    return probe;
}

}  // namespace

Answer<ProbeIndex> ProbePlaces::enter(const Probe& probe) {
    ProbeIndex free = 0;
    for (ProbeIndex i = 1; i < probes_.size(); ++i) {
        const bool used = users_.contains(i);
        if (!used && free == 0) free = i;
        if (!used && i > users_.size()) break;
        if (!used || probes_[i].file != probe.file || probes_[i].offset != probe.offset) continue;
        if (probes_[i].counter_offset != probe.counter_offset)
            return refuse(EINVAL, "somebody probes this place with another ref_ctr_offset");
        ++users_[i];
        return i;
    }
    if (free == 0) return refuse(ENOMEM, "no room for another probed place in this run");
    probes_[free] = probe;
    probes_[free].version = ++last_version_;
    users_[free] = 1;
    return free;
}

void ProbePlaces::leave(ProbeIndex index) {
    const auto known = users_.find(index);
    if (known != users_.end() && --known->second == 0) users_.erase(known);
}

std::uint32_t UprobePmu::type() const {
    return kTypeUprobe;
}

Answer<subsystem::Wiring> UprobePmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != kTypeUprobe) return refuse(ENOENT, "another PMU's type");
    const bool at_return = is_at_return(attr);
    if (request.inherited) {
        const auto known = place_of_.find(request.parent);
        return probe_wiring(known == place_of_.end() ? 0 : known->second, at_return);
    }
    if (!request.may_probe) return refuse(EACCES, "probes need CAP_PERFMON");
    if ((attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
        return refuse(EOPNOTSUPP, "probes have no branch stack");
    const Probe probe = TRY(probe_of(request));
    const ProbeIndex place = TRY(places_.enter(probe));
    place_of_[request.event] = place;
    return probe_wiring(place, at_return);
}

void UprobePmu::destroy(subsystem::EventIndex event) {
    const auto known = place_of_.find(event);
    if (known == place_of_.end()) return;
    places_.leave(known->second);
    place_of_.erase(known);
}

Answer<std::unique_ptr<subsystem::Filter>> UprobePmu::filter(const abi::Attr&, std::string_view text) {
    return parse_filter(text, {});  // Linux knows no fields of an event that tracefs does not list
}

subsystem::Wiring probe_wiring(ProbeIndex place, bool at_return, std::uint32_t record) {
    subsystem::Wiring wiring{.source = {.kind = Source::Kind::happenings}, .software = true, .monotonic_only = true};
    wiring.source.happening = at_return ? Source::Happening::place_left : Source::Happening::place_reached;
    wiring.source.number = place;
    wiring.source.record = record;
    return wiring;
}

}  // namespace anyperf::pmu
