// probe_values.h: the values in the records of a probe that uprobe_events defines with arguments: registers, words of
// the stack, memory, texts. They are fetched when the thread reaches the probe.
#pragma once

#include "agent/process.h"
#include "agent/sampling/raw_record.h"

namespace anyperf::agent {

/// Appends the values that ProbeRecord number `record` asks for; 0: none. A value that cannot be read is 0, a text that
/// cannot be read is empty.
void put_probe_values(RawRecord& raw, const engine::Thread& thread, std::uint32_t record);

}  // namespace anyperf::agent
