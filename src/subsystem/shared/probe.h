// probe.h: probes (uprobes and uretprobes): places in files, as measured threads see them. They are in shared memory
// and have numbers; 0 is no probe. An event's page has the number of its probe (Source::number).
//
// Freestanding, like event_page.h.
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
    /// Offset in the file of a 16-bit count of attached probes (ref_ctr_offset: a USDT semaphore); 0: there is none.
    std::uint64_t reference_counter_offset = 0;
    std::uint64_t version = 0;  ///< differs for each place that gets this number
};

/// A value in a probe's record. The values follow the addresses with which the record begins
/// (Documentation/trace/uprobetracer.rst of Linux).
struct ProbeValue {
    enum class From : std::uint8_t { reg, stack, number, comm };
    static constexpr std::size_t kSteps = 6;

    From from = From::reg;
    std::uint8_t reg = 0;    ///< the engine's number of the register; 16: rip, 17: flags
    std::uint8_t steps = 0;  ///< how many times the value becomes an address that is read; a string is at the last one
    std::uint8_t bytes = 0;  ///< 1, 2, 4 or 8; 0: a string, as __data_loc
    bool is_signed = false;
    std::uint8_t unused = 0;
    std::uint16_t offset = 0;        ///< of the value in the record
    std::int64_t number = 0;         ///< a constant, or the index of a word on the stack
    std::int64_t step[kSteps] = {};  ///< step[i] is added to the value before it is used as an address
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
