// side_band_text.h: records that are not samples as text, as perf's perf_event__fprintf() writes them
// (tools/perf/util/event.c).
#pragma once

#include <cstdint>
#include <string>

#include "perfdata/reader.h"

namespace anyperf::cli {

/// Which of them `anyperf script` prints.
struct ShownRecords {
    bool tasks = false;       ///< COMM, FORK, EXIT
    bool maps = false;        ///< MMAP, MMAP2
    bool switches = false;    ///< SWITCH, SWITCH_CPU_WIDE
    bool losses = false;      ///< LOST
    bool namespaces = false;  ///< NAMESPACES
    bool cgroups = false;     ///< CGROUP
    bool bpf = false;         ///< KSYMBOL, BPF_EVENT
    bool rounds = false;      ///< FINISHED_ROUND, which is perf's own

    bool has(perfdata::RecordType type) const;
};

/// "PERF_RECORD_FORK(12:12):(1:1)"; with further lines for namespaces. Empty: the record is too short.
std::string side_band_text(const perfdata::Record& record);

/// "%#lx" of C, which writes 0 without a prefix.
std::string hexadecimal(std::uint64_t number);

/// The thread that the record is about; of records about no thread that of its sample id.
std::uint32_t tid_of(const perfdata::Record& record);

}  // namespace anyperf::cli
