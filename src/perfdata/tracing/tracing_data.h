// tracing_data.h: the feature TRACING_DATA of a perf.data file as the texts that it consists of: the `format` file of
// each recorded tracepoint.
#pragma once

#include <string>
#include <vector>

#include "perfdata/cursor.h"

namespace anyperf::perfdata {

struct TracingData {
    struct Format {
        std::string system;  ///< "sched"
        std::string text;    ///< of events/SYSTEM/EVENT/format in tracefs
    };
    bool foreign = false;  ///< the machine that recorded has the other byte order than this one
    std::vector<Format> formats;
};

/// Reads as much as can be read: damage ends the list.
TracingData read_tracing_data(Bytes section);

}  // namespace anyperf::perfdata
