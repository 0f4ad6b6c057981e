// thread_counts.h: `anyperf report -T`: the count of each event in each thread that ended, as `record -s` has them.
#pragma once

#include "anyperf/error.h"
#include "cli/output/output.h"
#include "perfdata/reader.h"

namespace anyperf::cli {

/// Reads the recording and prints a table, in the form of perf 6.1 (tools/perf/util/values.c). Prints a note
/// if the recording has no such counts.
Result<void> print_thread_counts(perfdata::Reader& reader, Output& out);

}  // namespace anyperf::cli
