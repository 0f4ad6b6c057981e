// objects.h: ids of System V objects and cookies of inotify in a deterministic run.
//
// The kernel numbers segments, semaphores and queues (sysvipc(7)) after what the machine has had before, and counts the
// renamings that inotify(7) reports for all of its programs. Programs of a deterministic run see numbers in the order
// in which they meet them: ids from run::kFirstShownObject on, cookies from 1 on. An id that comes to a program by
// another way, as an argument, still is the kernel's and works. So does one of a run that has used up its 4,096.
//
// In what IPC_STAT reports, the ids of processes are those of the run, and each time is the time of the question,
// by the run's clock: the kernel's times are those of the machine.
//
// LIMITS. Translated in the calls of these objects and in read(2) of inotify descriptors, not in readv(2). A program
// outside of the run must know the kernel's ids; the run's mean nothing to it.
#pragma once

#include "engine/syscalls/call.h"
#include "run/shown_objects.h"

namespace anyperf::engine {

run::ShownObjects& shown_objects(const Engine& engine);

/// The id that programs see for one of the kernel's.
std::int32_t shown_object(const Engine& engine, run::ObjectKind kind, std::int32_t real);

/// A call of a deterministic run that may have an id of a System V object or events of inotify. Made before the call.
class ObjectCall {
  public:
    explicit ObjectCall(Call& call);
    ObjectCall(const ObjectCall&) = delete;
    ObjectCall& operator=(const ObjectCall&) = delete;

    /// Called after the call. Returns what the program gets for `answer`.
    long finish(long answer);

    struct Row;

  private:
    Call& call_;
    const Row* row_ = nullptr;
    std::uint64_t given_ = 0;  ///< the program's first argument
};

}  // namespace anyperf::engine
