// probe_events.h: the tracepoints that programs of a run define by /sys/kernel/tracing/uprobe_events.
#pragma once

#include <functional>
#include <list>
#include <span>
#include <string>
#include <unordered_map>

#include "pmu/probe_definition.h"
#include "pmu/uprobe.h"

namespace anyperf::pmu {

class ProbeEvents {
  public:
    /// What a path leads to; its `error` where it can't be probed.
    using FindFile = std::function<subsystem::ProbedFile(const std::string& path)>;

    struct Entry {
        ProbeDefinition definition;
        Tracepoint tracepoint;
        subsystem::Wiring wiring;
        std::uint32_t users = 0;  ///< open events
        bool beyond_end = false;  ///< the place is none of the file: Linux refuses the event, not the definition
    };

    /// `records`: [0] names none. `places` and the memory outlive this.
    ProbeEvents(ProbePlaces& places, std::span<subsystem::ProbeRecord> records, FindFile find_file);

    /// Does what one line of the file says. In Linux' words: EEXIST, ENOENT, EBUSY; EINVAL for what is not understood.
    /// What came or went stands in `added` and `removed` until the next call.
    subsystem::Answer<> define(std::string_view line);
    /// Removes all: EBUSY where one is in use, and then none.
    subsystem::Answer<> clear();

    const std::list<Tracepoint>& added() const { return added_; }
    const std::list<Tracepoint>& removed() const { return removed_; }
    /// What the file says.
    std::string text() const;

    /// Null where no probe has this number.
    const Entry* find(std::uint64_t id) const;
    void use(std::uint64_t id, subsystem::EventIndex event);
    void leave(subsystem::EventIndex event);

  private:
    subsystem::Answer<> add(ProbeDefinition definition);
    subsystem::Answer<> remove(const ProbeDefinition& which);
    template <class Which>
    subsystem::Answer<> remove_those(Which which);
    std::uint32_t free_record() const;

    ProbePlaces& places_;
    std::span<subsystem::ProbeRecord> records_;
    FindFile find_file_;
    std::list<Entry> entries_;
    std::list<Tracepoint> added_;
    std::list<Tracepoint> removed_;
    std::unordered_map<subsystem::EventIndex, std::uint64_t> id_of_;
    std::uint32_t next_id_;
};

}  // namespace anyperf::pmu
