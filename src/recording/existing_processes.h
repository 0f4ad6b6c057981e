// existing_processes.h: records of what existed before the events were opened, made from /proc as perf makes them:
// names, parents and mappings of processes, and the kernel's text and modules. Their times are 0: they come first.
//
// The kernel writes a record when a process maps a file or changes its name. What happened before the events were
// opened is known to /proc only. So the recorder opens the events, and then reads /proc: what changes in between is in
// both, and never in neither. A process that ends while it is read gives the records that were read before its end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>

#include "host/root.h"
#include "perfdata/cursor.h"

namespace anyperf::recording {

/// Gets one record.
using RecordSink = std::function<void(perfdata::Bytes)>;

/// What the records have in common.
struct SynthesisOptions {
    std::size_t trailer_bytes = 0;  ///< of the sample id that each record ends with
    bool data_maps = false;         ///< mappings that are not executable, too
};

/// The process that a thread belongs to (Tgid in /proc/PID/status); 0: it has ended.
pid_t process_of(const host::Root& root, pid_t thread);

/// FORK, COMM and MMAP2 records of one process and its threads; none if it has ended.
void put_process(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink);

/// The name of a process whose exec is yet to come: its mappings will not exist any more.
void put_name(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink);

/// All processes that are in /proc.
void put_all_processes(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink);

/// The kernel's text and its modules, as MMAP records of pid ~0. False, without any record: the kernel hides their
/// addresses (kernel.kptr_restrict).
bool put_kernel(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink);

}  // namespace anyperf::recording
