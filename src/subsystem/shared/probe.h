// probe.h: places in files that events count the reaching or the leaving of (uprobes), as measured threads see them: in
// shared memory, numbered; 0 names none. Which events are at a place their pages say (Source::number).
//
// Freestanding, as event_page.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::subsystem {

/// attr.type of uprobes, which has no fixed number.
inline constexpr std::uint32_t kTypeUprobe = 7;

/// A file as /proc/PID/maps names it.
struct FileName {
    std::uint64_t device = 0;  ///< major number in the upper half, minor in the lower
    std::uint64_t inode = 0;

    bool operator==(const FileName&) const = default;
};

/// The file that an open names, as its opener finds it.
struct ProbedFile {
    std::int32_t error = 0;  ///< why it can't be probed, an errno; then nothing else is known
    std::uint32_t unused = 0;
    FileName name;
    std::uint64_t bytes = 0;
};

struct Probe {
    FileName file;
    std::uint64_t offset = 0;          ///< of the instruction, in the file
    std::uint64_t counter_offset = 0;  ///< of 16 bits that count who is there: a USDT semaphore; 0: there is none
    std::uint64_t version = 0;         ///< another one each time that this number is given to a place
};

/// A value that a record of a probe has behind its addresses (Documentation/trace/uprobetracer.rst of Linux).
struct ProbeValue {
    enum class From : std::uint8_t { reg, stack, number, comm };
    static constexpr std::size_t kSteps = 6;

    From from = From::reg;
    std::uint8_t reg = 0;    ///< as the engine numbers them, 16 rip, 17 flags
    std::uint8_t steps = 0;  ///< how often the value is an address that is read
    std::uint8_t bytes = 0;  ///< 1, 2, 4, 8; 0: text, whose place is told
    bool is_signed = false;
    std::uint8_t unused = 0;
    std::uint16_t offset = 0;        ///< of the value in the record
    std::int64_t number = 0;         ///< the value, or the word of the stack
    std::int64_t step[kSteps] = {};  ///< added to each address
};

struct ProbeRecord {
    static constexpr std::size_t kValues = 16;

    std::uint32_t values = 0;
    std::uint16_t bytes = 0;  ///< of the record, without texts
    ProbeValue value[kValues] = {};
};

using ProbeIndex = std::uint32_t;
inline constexpr ProbeIndex kMaximumProbes = 2048;
inline constexpr std::uint32_t kMaximumProbeRecords = 1024;

}  // namespace anyperf::subsystem
