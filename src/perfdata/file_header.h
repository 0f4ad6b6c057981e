// file_header.h: the first bytes of a perf.data file: where its sections are. Nothing in them is trusted.
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

/// A part of the file.
struct FileSection {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// An event that was recorded: its attr, the ids by which records name it, and its name.
struct EventInfo {
    abi::Attr attr;
    std::vector<std::uint64_t> ids;
    std::string name;
    std::string unit;
};

struct FeatureSection {
    Feature feature;
    FileSection place;
};

struct FileHeader {
    bool foreign = false;  ///< of the other byte order
    bool pipe = false;     ///< no sections: records follow the header at once
    FileSection data;
    std::vector<EventInfo> events;
    std::vector<FeatureSection> features;
    std::string note;  ///< what is damaged but could be worked around; empty if nothing
};

inline constexpr std::size_t kPipeHeaderSize = 16, kFileHeaderSize = 104;

/// Whether these first bytes are those of a perf.data file.
bool is_perf_data(Bytes begin);

/// Reads the header of a whole file, or the 16 bytes of one in pipe mode. Fails if it is not a perf.data file or no
/// event can be read.
Result<FileHeader> read_file_header(Bytes file);

}  // namespace anyperf::perfdata
