// probe_values.h: the values that records of a probe have, fetched where the thread stands.
#pragma once

#include "resident/process.h"
#include "resident/raw_record.h"

namespace anyperf::resident {

/// Puts the values of this ProbeRecord behind what the record has; 0: there are none.
void put_probe_values(RawRecord& raw, const engine::Thread& thread, std::uint32_t record);

}  // namespace anyperf::resident
