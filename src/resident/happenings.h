// happenings.h: what a thread sees happen to itself, told to its events: each counts it that is of this kind and whose
// filter it passes, and samples it where a period ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// One thing that has happened. Which members tell of it depends on `what`.
struct Occurrence {
    subsystem::Source::Happening what = subsystem::Source::Happening::none;
    std::uint32_t call = 0;                    ///< number of the system call
    const std::uint64_t* arguments = nullptr;  ///< six, of a call that begins
    long answer = 0;                           ///< of a call that ends
    std::int32_t child = 0;                    ///< of a fork: the new thread
    bool whole_process = false;                ///< no thread of the process is left
    subsystem::ProbeIndex place = 0;           ///< that was reached or left
    std::uint64_t address = 0;                 ///< of that place in this process
};

/// Precondition: ThreadPage::traced has its bit, or else nothing comes of it.
void tell(Thread& thread, const Occurrence& occurrence);

/// Whether an event of this thread waits for it.
inline bool is_traced(const Thread& thread, subsystem::Source::Happening what) {
    return (thread.page.traced >> static_cast<unsigned>(what) & 1) != 0;
}

}  // namespace anyperf::resident
