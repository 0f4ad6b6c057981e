// probe_events.cpp: behaves like kernel/trace/trace_uprobe.c and trace_dynevent.c of Linux 6.18. A write to
// uprobe_events is a sequence of lines. Each is a call of define() here, and is refused or takes effect on its own. A
// run never uses the number of a tracepoint again: perf keeps a number between reading `id` and opening the event.
#include "pmu/tracing/probe_events.h"

#include "try.h"

#include <algorithm>

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::EventIndex;
using subsystem::Probe;
using subsystem::refuse;
using Kind = ProbeDefinition::Kind;

namespace {

constexpr std::uint32_t kFirstId = 40'000;  ///< above the numbers of the built-in tracepoints (tracepoint_table.cpp)
constexpr std::uint32_t kLastId = 65'535;   ///< common_type has 16 bits

}  // namespace

ProbeEvents::ProbeEvents(ProbeTable& probe_table, std::span<subsystem::ProbeRecord> records, FindFile find_file)
    : probe_table_(probe_table), records_(records), find_file_(std::move(find_file)), next_id_(kFirstId) {}

// The lists of changes are cleared first, so that added() and removed() are empty after a refusal.
Answer<> ProbeEvents::define(std::string_view line) {
    added_.clear();
    removed_.clear();
    ProbeDefinition definition = TRY(parse_probe(line));
    return definition.kind == Kind::removal ? remove(definition) : add(std::move(definition));
}

// Number 0 means "without a record" (Source::record).
std::uint32_t ProbeEvents::free_record() const {
    for (std::uint32_t number = 1; number < records_.size(); ++number)
        if (std::ranges::none_of(entries_, [&](const Entry& one) { return one.wiring.source.record == number; }))
            return number;
    return 0;
}

// The file is looked up now, as the kernel does: the probe is in this inode, whichever file has the path later. A probe
// in use cannot be removed, so its record and its place in the probe table stay valid as long as an event refers to
// them.
Answer<> ProbeEvents::add(ProbeDefinition definition) {
    const auto same = [&](const Entry& one) {
        return one.definition.system == definition.system && one.definition.name == definition.name;
    };
    if (std::ranges::any_of(entries_, same)) return refuse(EEXIST, "a probe with this name exists");
    if (next_id_ > kLastId) return refuse(ENODEV, "all tracepoint numbers are used up");
    const subsystem::ProbedFile file = find_file_(definition.path);
    if (file.error != 0) return refuse(file.error, "the file can't be probed");
    const std::uint32_t record = free_record();
    if (record == 0) return refuse(ENOMEM, "this run has no room for another probe");
    const subsystem::ProbeIndex probe =
        TRY(probe_table_.acquire(Probe{.file = file.name,
                                       .offset = definition.offset,
                                       .reference_counter_offset = definition.reference_counter_offset,
                                       .version = 0}));
    records_[record] = record_of(definition);
    Entry made{.definition = std::move(definition), .tracepoint = {}, .wiring = {}};
    made.is_past_end = made.definition.offset > file.bytes;
    made.wiring = probe_wiring(probe, made.definition.kind == Kind::uretprobe, record);
    made.tracepoint = tracepoint_of(made.definition);
    made.tracepoint.id = next_id_++;
    made.tracepoint.source = made.wiring.source;
    added_.push_back(made.tracepoint);
    entries_.push_back(std::move(made));
    return {};
}

template <class Which>
Answer<> ProbeEvents::remove_matching(Which which) {
    if (std::ranges::any_of(entries_, [&](const Entry& one) { return which(one) && one.users != 0; }))
        return refuse(EBUSY, "an event of this probe is open");
    for (const Entry& one : entries_)
        if (which(one)) {
            removed_.push_back(one.tracepoint);
            probe_table_.release(one.wiring.source.number);
        }
    std::erase_if(entries_, which);
    return {};
}

/// "-:GROUP/EVENT": an empty group or event matches any.
Answer<> ProbeEvents::remove(const ProbeDefinition& which) {
    TRY(remove_matching([&](const Entry& one) {
        return (which.system.empty() || one.definition.system == which.system) &&
               (which.name.empty() || one.definition.name == which.name);
    }));
    if (removed_.empty()) return refuse(ENOENT, "there is no probe with this name");
    return {};
}

Answer<> ProbeEvents::clear() {
    added_.clear();
    removed_.clear();
    return remove_matching([](const Entry&) { return true; });
}

// The probes are in the order of their definition, each as a line that would define it again. As on Linux, removed
// probes have no line.
std::string ProbeEvents::text() const {
    std::string text;
    for (const Entry& one : entries_) text += probe_text(one.definition);
    return text;
}

const ProbeEvents::Entry* ProbeEvents::find(std::uint64_t id) const {
    const auto found = std::ranges::find_if(entries_, [id](const Entry& one) { return one.tracepoint.id == id; });
    return found == entries_.end() ? nullptr : &*found;
}

// The users of a probe are counted, because "-:GROUP/EVENT" must be refused with EBUSY while an event is open. The map
// is needed for closing: remove_user() gets only the event's index.
void ProbeEvents::add_user(std::uint64_t id, EventIndex event) {
    for (Entry& one : entries_)
        if (one.tracepoint.id == id) {
            ++one.users;
            id_of_event_[event] = id;
        }
}

void ProbeEvents::remove_user(EventIndex event) {
    const auto known = id_of_event_.find(event);
    if (known == id_of_event_.end()) return;
    for (Entry& one : entries_)
        if (one.tracepoint.id == known->second) --one.users;
    id_of_event_.erase(known);
}

}  // namespace anyperf::pmu
