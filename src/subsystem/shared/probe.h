// probe.h: probes (uprobes and uretprobes): places in files, as measured threads see them. They are numbered, in shared
// memory; 0 names none. An event's page names its probe (Source::number).
//
// Freestanding, as event_page.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::subsystem {

/// attr.type of uprobes. The kernel assigns it dynamically; this is the run's number.
inline constexpr std::uint32_t kTypeUprobe = 7;

/// Identifies a file as /proc/PID/maps does.
struct FileId {
    std::uint64_t device = 0;  ///< major number in the upper 32 bits, minor in the lower
    std::uint64_t inode = 0;

    bool operator==(const FileId&) const = default;
};

/// The file that an open names, as its opener resolved the path.
struct ProbedFile {
    std::int32_t error = 0;  ///< the errno for a file that can't be probed; the other fields are then unset
    std::uint32_t unused = 0;
    FileId name;
    std::uint64_t bytes = 0;
};

struct Probe {
    FileId file;
    std::uint64_t offset = 0;  ///< of the probed instruction in the file
    /// Of a 16-bit count of attached probes, in the file (ref_ctr_offset: a USDT semaphore); 0: none.
    std::uint64_t reference_counter_offset = 0;
    std::uint64_t version = 0;  ///< differs for each place that gets this number
};

/// A value in a probe's record, after its addresses (Documentation/trace/uprobetracer.rst of Linux).
struct ProbeValue {
    enum class From : std::uint8_t { reg, stack, number, comm };
    static constexpr std::size_t kSteps = 6;

    From from = From::reg;
    std::uint8_t reg = 0;    ///< number of the engine; 16: rip, 17: flags
    std::uint8_t steps = 0;  ///< how many times the value is used as an address and read
    std::uint8_t bytes = 0;  ///< 1, 2, 4 or 8; 0: a string, as __data_loc
    bool is_signed = false;
    std::uint8_t unused = 0;
    std::uint16_t offset = 0;        ///< of the value in the record
    std::int64_t number = 0;         ///< a constant, or the index of a word on the stack
    std::int64_t step[kSteps] = {};  ///< added before each read
};

struct ProbeRecord {
    static constexpr std::size_t kValues = 16;

    std::uint32_t values = 0;
    std::uint16_t bytes = 0;  ///< of the record, without strings
    ProbeValue value[kValues] = {};
};

using ProbeIndex = std::uint32_t;
inline constexpr ProbeIndex kMaximumProbes = 2048;
inline constexpr std::uint32_t kMaximumProbeRecords = 1024;

}  // namespace anyperf::subsystem
