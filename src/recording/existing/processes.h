// processes.h: makes records of what existed before the events were opened, from /proc and as perf makes them:
// names, parents and mappings of processes, and the kernel's text and modules. Their times are 0, so readers process
// them before all others.
//
// The kernel writes a record when a process maps a file or changes its name. Only /proc shows what happened before the
// events were opened. So the recorder first opens the events and then reads /proc: a change in between is in both, and
// no change is missed. If a process ends while the recorder reads its files, the records made until then remain.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "host/root.h"
#include "perfdata/cursor.h"

namespace anyperf::recording {

/// Called with each record, which is valid during the call.
using RecordSink = std::function<void(perfdata::Bytes)>;

/// What the records have in common.
struct SynthesisOptions {
    std::size_t trailer_bytes = 0;  ///< length of the sample id that each record ends with
    bool data_maps = false;         ///< also write mappings that are not executable
    /// The id in records of a task that /proc knows by `id`; empty: the same.
    std::function<pid_t(pid_t id)> shown = {};

    std::uint32_t id(pid_t task) const { return static_cast<std::uint32_t>(shown ? shown(task) : task); }
};

/// The process that a thread belongs to (Tgid in /proc/PID/status); 0 if the thread has ended.
pid_t process_of(const host::Root& root, pid_t thread);

/// FORK, COMM and MMAP2 records of one process and its threads; none if it has ended.
void put_process(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink);

/// The COMM record of a process that is about to execute the command. Its mappings are left out: the exec removes them.
void put_name(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink);

/// The records of put_process() for each process in /proc.
void put_all_processes(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink);

/// The kernel's text and its modules, as MMAP records of pid ~0. False if the kernel hides their addresses
/// (kernel.kptr_restrict); then there is no record.
bool put_kernel(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink);

}  // namespace anyperf::recording
