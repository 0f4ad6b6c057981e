// simpleperf.h: what the recordings of Android's simpleperf have that those of perf do not have
// (system/extras/simpleperf of the Android sources: record.h, record_file_format.h, record_file.proto).
//
// Sections have names of functions (recorded_files.h) and texts about the recording (META_INFO), the names of the
// events among them.
//
// Its records have types from 32768 on and headers of their own: u32 type, then the upper and the lower 16 bits of the
// size. Recordings that were made before these sizes have long records in pieces, SPLIT … SPLIT_END.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "perfdata/cursor.h"
#include "perfdata/facts.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// Types of simpleperf, also of some later ones than this anyperf knows.
inline bool is_simpleperf(RecordType type) {
    const auto number = static_cast<std::uint32_t>(type);
    return number >= static_cast<std::uint32_t>(RecordType::first_simpleperf) && number < 33024;
}

/// The event's name in META_INFO ("cpu-cycles,0,0" in lines); empty if it has none.
std::string_view simpleperf_event_name(const Facts& facts, const abi::Attr& attr);

/// Reads simpleperf's records about symbols and tracepoints into `facts`, and joins the pieces of long ones.
class SimpleperfRecords {
  public:
    /// Takes a record with its header. EVENT_ID, and what only helps to debug simpleperf, is ignored.
    void take(RecordType type, Bytes record, Facts& facts);

    /// EVENT_ID: ids of events, by the index of the event.
    struct EventId {
        std::uint64_t event, id;
    };
    static std::vector<EventId> event_ids(Bytes record);

  private:
    void take_dso(Cursor cursor, Facts& facts);
    void take_symbol(Cursor cursor, Facts& facts);

    std::vector<std::byte> pieces_;
    std::vector<std::uint64_t> dsos_;  // the ids of DSO records, whose files are the last ones of the facts
};

}  // namespace anyperf::perfdata
