// file_header.h: the first bytes of a perf.data file: where its sections are. Nothing in them is trusted.
//
// The header by offset (struct perf_file_header of perf's sources), all numbers of 64 bits:
//       0  magic "PERFILE2"; its reverse if the writer has the other byte order; "PERFFILE" is version 1
//       8  size of the header: 104, or 16 in pipe mode, where nothing more precedes the records
//      16  size of an entry of the attrs: the writer's perf_event_attr and 16 bytes for the place of the ids
//      24  attrs, 40 data, 56 event types (unused): {offset, size} each
//      72  bitmap of 256 features
// A place may lie outside of the file, overlap another, or have a size that overflows. The attrs and the data are cut
// where the file ends, and a feature that passes the end is left out. FileHeader::note describes the first such loss of
// data or features. A file is refused if its header is cut, if its attrs have an impossible size, or if no event is
// left.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "anyperf/attr.h"
#include "anyperf/error.h"
#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// A part of the file, in bytes.
struct FileSection {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// An event that was recorded: its attr, the ids by which records name it, and its name.
struct EventInfo {
    abi::Attr attr;
    std::vector<std::uint64_t> ids;  ///< one for each CPU or thread that it was opened on; may be empty
    std::string name;
    std::string unit;  ///< of its counts, such as "Joules"; mostly empty
};

struct FeatureSection {
    Feature feature;
    FileSection place;
};

/// What the header says. `data`, and the places of the features, are within the file.
struct FileHeader {
    bool foreign = false;  ///< of the other byte order
    bool pipe = false;     ///< no sections: records follow the header at once
    FileSection data;
    std::vector<EventInfo> events;
    std::vector<FeatureSection> features;
    std::string note;  ///< the first thing that is damaged but could be worked around; empty if nothing
};

inline constexpr std::size_t kPipeHeaderSize = 16, kFileHeaderSize = 104;

/// Whether these first bytes are those of a perf.data file.
bool is_perf_data(Bytes begin);

/// Whether the first kPipeHeaderSize bytes of such a file are those of one in pipe mode.
bool begins_as_pipe(Bytes begin);

/// Reads the header of a whole file, or the 16 bytes of one in pipe mode. Fails if it is not a perf.data file or no
/// event can be read.
Result<FileHeader> read_file_header(Bytes file);

}  // namespace anyperf::perfdata
