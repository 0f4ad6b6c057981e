// user_record_text.h: what perf's own records (types from 64 on) say, as `report -D` prints it.
#pragma once

#include <string>

#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::cli {

/// What follows the record's name, with the end of the line. `record` is whole; `foreign`: of the other byte order.
std::string user_record_text(perfdata::RecordType type, perfdata::Bytes record, bool foreign);

}  // namespace anyperf::cli
