#include "analysis/read_profile.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "analysis/gatherer.h"
#include "analysis/missing_data.h"
#include "perfdata/reader.h"
#include "try.h"

namespace anyperf::analysis {

namespace {

void describe_recording(const std::string& path, const perfdata::Facts& facts, profile::Recording& recording) {
    recording.path = path;
    recording.host = facts.host;
    recording.release = facts.release;
    recording.version = facts.version;
    recording.arch = facts.arch;
    recording.cpu = facts.cpu;
    recording.cpu_id = facts.cpu_id;
    for (const std::string& word : facts.command_line)
        recording.command_line += (recording.command_line.empty() ? "" : " ") + word;
    recording.cpus_online = facts.cpus_online;
    recording.memory_kib = facts.memory_kib;
    recording.wall_clock_ns = facts.wall_clock_ns;
    recording.clock_ns = facts.clock_ns;
}

/// The sockets of the CPUs, from CPU_TOPOLOGY.
void describe_cpus(const perfdata::Facts& facts, profile::Profile& profile) {
    for (const perfdata::CpuPlace& each : facts.cpu_places) profile.cpu_sockets.push_back(each.socket);
}

void describe_events(const perfdata::Reader& reader, profile::Profile& profile) {
    for (const perfdata::EventInfo& event : reader.events()) {
        const bool frequency = (event.attr.flags & abi::flag("freq")) != 0;
        profile.events.add({.name = event.name,
                            .unit = event.unit,
                            .period = frequency ? 0 : event.attr.sample_period,
                            .frequency = frequency ? event.attr.sample_period : 0,
                            .tracepoint = event.attr.type == abi::kTypeTracepoint});
    }
    // The section is as the file has it: a leader may be no event, and groups may overlap.
    for (const perfdata::Group& group : reader.facts().groups)
        for (std::uint64_t i = group.leader; i < profile.events.size() && i - group.leader < group.members; ++i)
            profile.events[{static_cast<std::uint32_t>(i)}].leader = group.leader;
}

}  // namespace

Result<ReadProfile> read_profile(const std::string& path, const ReadOptions& wanted) {
    perfdata::Reader reader = TRY(perfdata::Reader::open(path));
    ReadOptions options = wanted;
    TRY(options.time.resolve(reader.facts().first_ns, reader.facts().last_ns));
    TRY(check_data(reader, options));
    ReadProfile result;
    Gatherer gatherer{options, reader};
    // In pipe mode names may come after the samples.
    if (!options.times && !reader.is_pipe()) gatherer.sum_in(result.profile);
    const perfdata::Summary summary = reader.read(gatherer);
    TRY(check_data(reader, options));
    describe_recording(path, reader.facts(), result.profile.recording);
    describe_events(reader, result.profile);
    describe_cpus(reader.facts(), result.profile);
    result.profile.trace_fields = options.trace_fields;
    result.profile.recording.lost = summary.all_lost();
    result.profile.recording.no_room = summary.lost;
    result.profile.recording.skipped = summary.damaged_samples + summary.unknown_ids + summary.unknown_types;
    gatherer.add_to(result.profile);
    result.damage = summary.damage;
    result.has_callers =
        some_event_has(reader, abi::sample("PERF_SAMPLE_CALLCHAIN") | abi::sample("PERF_SAMPLE_STACK_USER"));
    return result;
}

}  // namespace anyperf::analysis
