// event_table.h: the events of a recording, and which of them a record belongs to.
//
// An event was opened once for each CPU or thread, and each of these has an id. A record carries such an id, if the
// events have PERF_SAMPLE_IDENTIFIER or PERF_SAMPLE_ID. The place of the id in the record depends on the sample_type of
// the very event that is to be found. perf therefore has all events of a recording agree on the place (IDENTIFIER is
// always the first word of a sample and the last of another record), and the first event's layout serves for all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "perfdata/file_header.h"
#include "perfdata/sample_layout.h"

namespace anyperf::perfdata {

/// Events by their index, in the order of the file. An index stays valid; references end with the next add().
class EventTable {
  public:
    /// Adds an event. If it has no name it gets default_name().
    void add(EventInfo event);

    /// Takes the names of EVENT_DESC, and its ids for events that have none yet. `described` has the events in the same
    /// order.
    void name(const std::vector<EventInfo>& described);
    /// A name for an event that has none in the file.
    void name_unnamed(std::size_t event, std::string_view name);
    /// One more id of an event.
    void add_id(std::size_t event, std::uint64_t id);
    /// EVENT_UPDATE: a new name or unit for the event with this id.
    void update(std::uint64_t id, bool is_name, std::string text);

    const std::vector<EventInfo>& all() const { return events_; }
    bool empty() const { return events_.empty(); }
    const SampleLayout& layout(std::size_t event) const { return layouts_[event]; }

    /// The event of a record, by the id in it. A single event needs no id. If no id is declared, or samples have none,
    /// all records belong to the first event. Nothing if the record's id is not declared. A `foreign` record still has
    /// the other byte order: which of its bytes are numbers is known only once its event is.
    std::optional<std::uint32_t> find(Bytes record, bool is_sample, bool foreign) const;

    /// The event that declared this id; nothing if none did.
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

/// The name of an event that has none in the file: perf's name of a generic event ("cycles", "cpu-clock"), for any
/// other "type 4 config 0x3c".
std::string default_name(const abi::Attr& attr);

}  // namespace anyperf::perfdata
