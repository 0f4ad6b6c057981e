// event_table.h: the events of a recording, and which of them a record belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "perfdata/file_header.h"
#include "perfdata/sample_layout.h"

namespace anyperf::perfdata {

class EventTable {
  public:
    void add(EventInfo event);

    /// Takes names, and ids that are not known yet, of EVENT_DESC, which has the events in the same order.
    void name(const std::vector<EventInfo>& described);
    /// EVENT_UPDATE: a new name or unit for the event with this id.
    void update(std::uint64_t id, bool is_name, std::string text);

    const std::vector<EventInfo>& all() const { return events_; }
    bool empty() const { return events_.empty(); }
    const SampleLayout& layout(std::size_t event) const { return layouts_[event]; }

    /// The event of a record, by the id in it. A single event needs none. Nothing if the id is not declared.
    std::optional<std::uint32_t> find(Bytes record, bool is_sample, bool foreign) const;

    std::optional<std::uint32_t> of_id(std::uint64_t id) const;

  private:
    void learn_ids(std::uint32_t event);

    std::vector<EventInfo> events_;
    std::vector<SampleLayout> layouts_;
    std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
    mutable std::uint64_t last_id_ = 0;  // most records belong to the event of the one before
    mutable std::uint32_t last_event_ = 0;
    bool with_ids_ = false;
};

/// The name of an event that the file gives none: "cycles", "cpu-clock", "raw 0x3c".
std::string default_name(const abi::Attr& attr);

}  // namespace anyperf::perfdata
