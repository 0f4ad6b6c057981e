// request.h: asks the broker, from a thread of the application, and waits for the answer.
#pragma once

#include <cstdint>
#include <span>

#include "engine/engine.h"
#include "resident/protocol.h"

namespace anyperf::resident {

using engine::Thread;

/// Whether somebody hosts events for this run.
inline bool hosted(const engine::Engine& engine) {
    return engine.broker_fd >= 0 && engine.run != nullptr;
}

/// A request about `event`, on the stack of who asks: fill in arguments and payload, then `ask`.
class Ask {
  public:
    Ask(Thread& thread, RequestKind kind, std::uint32_t event = 0);

    Ask& with(unsigned index, std::uint64_t argument) {
        head_.argument[index] = argument;
        return *this;
    }
    /// Bytes of the engine's own memory.
    Ask& payload(const void* bytes, std::size_t count);
    /// Bytes of the application's memory, as far as they can be read.
    Ask& from_application(std::uint64_t address, std::size_t count);
    /// Of an open: the group's descriptor as the application named it, -1 for none.
    Ask& group_descriptor(std::int32_t fd) {
        head_.group = fd;
        return *this;
    }
    /// Of an open with PERF_FLAG_PID_CGROUP: the directory's inode.
    Ask& cgroup(std::uint64_t inode) {
        head_.cgroup = inode;
        return *this;
    }
    /// Of an open of a uprobe: the file that its path leads to.
    Ask& file(const subsystem::ProbedFile& found) {
        head_.file = found;
        return *this;
    }
    /// Gives the broker a descriptor with it.
    Ask& descriptor(int fd) {
        descriptor_ = fd;
        return *this;
    }

    /// The answer: an errno, negated, or a value. -EIO where the broker is gone.
    long send();
    /// Tells, and waits for nothing.
    void tell();

    const Mailbox& mailbox() const { return *static_cast<const Mailbox*>(thread_.mailbox); }

  private:
    long transmit();
    long wait();

    Thread& thread_;
    RequestHead head_;
    std::uint64_t payload_ = 0;
    int descriptor_ = -1;
};

/// Tells the broker where the thread runs, if that is not where it was seen last: events of a CPU count what is done
/// there.
void tell_if_moved(Thread& thread);

/// ns of CPU time that the thread has used.
std::uint64_t task_clock();

/// Gives the thread's mailbox back, before it ends.
void drop_mailbox(Thread& thread);

}  // namespace anyperf::resident
