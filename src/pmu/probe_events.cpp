// probe_events.cpp: see probe_events.h; trace_uprobe.c and trace_dynevent.c of Linux 6.18.
#include "pmu/probe_events.h"

#include <algorithm>

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::EventIndex;
using subsystem::Probe;
using subsystem::refuse;
using Kind = ProbeDefinition::Kind;

namespace {

constexpr std::uint32_t kFirstId = 40'000;  ///< behind those of tracepoints.cpp
constexpr std::uint32_t kLastId = 65'535;   ///< common_type has 16 bits

}  // namespace

ProbeEvents::ProbeEvents(ProbePlaces& places, std::span<subsystem::ProbeRecord> records, FindFile find_file)
    : places_(places), records_(records), find_file_(std::move(find_file)), next_id_(kFirstId) {}

Answer<> ProbeEvents::define(std::string_view line) {
    added_.clear();
    removed_.clear();
    ProbeDefinition definition = TRY(parse_probe(line));
    return definition.kind == Kind::removed ? remove(definition) : add(std::move(definition));
}

std::uint32_t ProbeEvents::free_record() const {
    for (std::uint32_t number = 1; number < records_.size(); ++number)
        if (std::ranges::none_of(entries_, [&](const Entry& one) { return one.wiring.source.record == number; }))
            return number;
    return 0;
}

Answer<> ProbeEvents::add(ProbeDefinition definition) {
    const auto same = [&](const Entry& one) {
        return one.definition.system == definition.system && one.definition.name == definition.name;
    };
    if (std::ranges::any_of(entries_, same)) return refuse(EEXIST, "a probe of this name is there");
    if (next_id_ > kLastId) return refuse(ENODEV, "all numbers of tracepoints have been given");
    const subsystem::ProbedFile file = find_file_(definition.path);
    if (file.error != 0) return refuse(file.error, "the file can't be probed");
    const std::uint32_t record = free_record();
    if (record == 0) return refuse(ENOMEM, "no room for another probe in this run");
    const subsystem::ProbeIndex place = TRY(places_.enter(Probe{
        .file = file.name, .offset = definition.offset, .counter_offset = definition.counter_offset, .version = 0}));
    records_[record] = record_of(definition);
    Entry made{.definition = std::move(definition), .tracepoint = {}, .wiring = {}};
    made.beyond_end = made.definition.offset > file.bytes;
    made.wiring = probe_wiring(place, made.definition.kind == Kind::left, record);
    made.tracepoint = tracepoint_of(made.definition);
    made.tracepoint.id = next_id_++;
    made.tracepoint.source = made.wiring.source;
    added_.push_back(made.tracepoint);
    entries_.push_back(std::move(made));
    return {};
}

template <class Which>
Answer<> ProbeEvents::remove_those(Which which) {
    if (std::ranges::any_of(entries_, [&](const Entry& one) { return which(one) && one.users != 0; }))
        return refuse(EBUSY, "an event of this probe is open");
    for (const Entry& one : entries_)
        if (which(one)) {
            removed_.push_back(one.tracepoint);
            places_.leave(one.wiring.source.number);
        }
    std::erase_if(entries_, which);
    return {};
}

Answer<> ProbeEvents::remove(const ProbeDefinition& which) {
    TRY(remove_those([&](const Entry& one) {
        return (which.system.empty() || one.definition.system == which.system) &&
               (which.name.empty() || one.definition.name == which.name);
    }));
    if (removed_.empty()) return refuse(ENOENT, "no probe has this name");
    return {};
}

Answer<> ProbeEvents::clear() {
    added_.clear();
    removed_.clear();
    return remove_those([](const Entry&) { return true; });
}

std::string ProbeEvents::text() const {
    std::string text;
    for (const Entry& one : entries_) text += probe_text(one.definition);
    return text;
}

const ProbeEvents::Entry* ProbeEvents::find(std::uint64_t id) const {
    const auto found = std::ranges::find_if(entries_, [id](const Entry& one) { return one.tracepoint.id == id; });
    return found == entries_.end() ? nullptr : &*found;
}

void ProbeEvents::use(std::uint64_t id, EventIndex event) {
    for (Entry& one : entries_)
        if (one.tracepoint.id == id) {
            ++one.users;
            id_of_[event] = id;
        }
}

void ProbeEvents::leave(EventIndex event) {
    const auto known = id_of_.find(event);
    if (known == id_of_.end()) return;
    for (Entry& one : entries_)
        if (one.tracepoint.id == known->second) --one.users;
    id_of_.erase(known);
}

}  // namespace anyperf::pmu
