// directory.h: a recording that is a directory, as `perf record --threads` writes it: `data` is a file with header,
// attrs, features and the records that perf makes itself, and data.0, data.1 … have the records of one ring each,
// without a header. A ring is in the order of time, so these files have no FINISHED_ROUND (record__mmap_read_evlist()
// of tools/perf/builtin-record.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perfdata/bytes/compressed_records.h"
#include "perfdata/bytes/input.h"

namespace anyperf::perfdata {

/// One of the files with records, and how far it was read.
struct RingFile {
    Input input;
    std::string name;              ///< "data.3"
    std::size_t at = 0;            ///< where the next record begins
    std::uint64_t newest = 0;      ///< time of its newest record so far
    CompressedRecords compressed;  ///< each file is a stream of its own
    std::uint64_t skip = 0;        ///< bytes of a record's payload that come next

    bool is_done() const { return at == input.mapped().size(); }
};

/// The file of a recording that has the header: the path itself, or `data` if it is a directory.
std::string header_path(const std::string& path);

/// Whether the path is a directory that has such files and nothing else.
bool is_recording_directory(const std::string& path);

/// The files with the records of rings, by their numbers; none if `path` is not a directory. Empty files are left out.
/// Fails if one can't be read.
Result<std::vector<RingFile>> open_ring_files(const std::string& path);

}  // namespace anyperf::perfdata
