// probe_values.h: the values in the records of a uprobe that was defined with arguments (uprobe_events): registers,
// words on the stack, memory, strings. The agent fetches them when the thread reaches the probe.
#pragma once

#include "agent/process.h"
#include "agent/sampling/raw_record.h"

namespace anyperf::agent {

/// Appends the values that the ProbeRecord with number `record` describes. Appends nothing if `record` is 0 or out of
/// range. A value that cannot be read is 0. A string is cut where its memory cannot be read, and may be empty.
void put_probe_values(RawRecord& raw, const engine::Thread& thread, std::uint32_t record);

}  // namespace anyperf::agent
