// record_lists.h: what `anyperf report` prints of a recording in place of samples: --stats, --tasks and --mmaps, in the
// form of perf 6.1 (tools/perf/builtin-report.c).
#pragma once

#include <cstdint>
#include <string_view>

#include "anyperf/error.h"
#include "cli/output/output.h"
#include "perfdata/reader.h"

namespace anyperf::cli {

/// Which list is wanted.
struct RecordLists {
    bool stats = false;
    bool tasks = false;
    bool maps = false;  ///< with the tasks

    bool any() const { return stats || tasks || maps; }
};

/// perf's name of a type of records: "MMAP2"; "UNKNOWN" if no perf has it.
std::string_view record_type_name(std::uint32_t type);

/// Reads the recording and prints the list. Error: more than one is wanted.
Result<void> print_record_lists(const RecordLists& wanted, perfdata::Reader& reader, Output& out);

}  // namespace anyperf::cli
