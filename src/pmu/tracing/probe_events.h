// probe_events.h: the tracepoints that programs of a run define at run time: each line that is written to
// /sys/kernel/tracing/uprobe_events adds or removes a probe, as on Linux (`perf probe -x` writes such lines).
//
// Each has a number like the built-in tracepoints, a probe in the shared ProbeTable, and a ProbeRecord in shared memory
// that describes the values in its raw data.
#pragma once

#include <functional>
#include <list>
#include <span>
#include <string>
#include <unordered_map>

#include "pmu/tracing/probe_definition.h"
#include "pmu/tracing/uprobe_pmu.h"

namespace anyperf::pmu {

/// The defined probes of a run.
class ProbeEvents {
  public:
    /// Resolves a path. `error` of the result is not 0 if the file can't be probed.
    using FindFile = std::function<subsystem::ProbedFile(const std::string& path)>;

    struct Entry {
        ProbeDefinition definition;
        Tracepoint tracepoint;
        subsystem::Wiring wiring;
        std::uint32_t users = 0;  ///< open events of it; it can't be removed before they are closed
        bool is_past_end =
            false;  ///< the offset is beyond the file: as on Linux, that refuses events, not the definition
    };

    /// `records[0]` is not used, because 0 names no record. `probe_table` and the memory must outlive this object.
    ProbeEvents(ProbeTable& probe_table, std::span<subsystem::ProbeRecord> records, FindFile find_file);

    /// Executes one line of the file; added() and removed() then have the changes. Errors as on Linux. EINVAL or E2BIG:
    /// the line is not valid (parse_probe()). EEXIST: the name is taken. ENOENT: there is nothing to remove. EBUSY: an
    /// event of the probe is open. ENODEV: no more numbers. ENOMEM: no room in the shared memory. EINVAL also: the
    /// place is probed with another ref_ctr_offset. Any other errno: the probed file could not be looked up.
    subsystem::Answer<> define(std::string_view line);
    /// Removes all probes. EBUSY: an event of one is open; then no probe is removed.
    subsystem::Answer<> clear();

    /// What the last define() or clear() has changed.
    const std::list<Tracepoint>& added() const { return added_; }
    const std::list<Tracepoint>& removed() const { return removed_; }
    /// The content of the file: a line for each probe.
    std::string text() const;

    /// The probe with this number; null if there is none.
    const Entry* find(std::uint64_t id) const;
    /// An event of this probe was opened. Does nothing if there is no probe with this number.
    void add_user(std::uint64_t id, subsystem::EventIndex event);
    /// The event was closed. Does nothing for events that are not of a probe.
    void remove_user(subsystem::EventIndex event);

  private:
    subsystem::Answer<> add(ProbeDefinition definition);
    subsystem::Answer<> remove(const ProbeDefinition& which);
    /// Removes the entries that satisfy `which`, or none of them if one is in use.
    template <class Which>
    subsystem::Answer<> remove_matching(Which which);
    /// The number of an unused record; 0 if all are used.
    std::uint32_t free_record() const;

    ProbeTable& probe_table_;
    std::span<subsystem::ProbeRecord> records_;
    FindFile find_file_;
    std::list<Entry> entries_;
    std::list<Tracepoint> added_;
    std::list<Tracepoint> removed_;
    std::unordered_map<subsystem::EventIndex, std::uint64_t> id_of_event_;
    std::uint32_t next_id_;  ///< never reused, so that an old attr can't name a newer probe
};

}  // namespace anyperf::pmu
