// broker_request.h: sends requests to the broker from a thread of the application, and waits for the answers.
// protocol.h describes the protocol. A thread must not hold a page's lock while it sends: the broker may want that lock
// before it comes to the request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "agent/agent_state.h"
#include "engine/engine.h"
#include "run/protocol.h"

namespace anyperf::agent {

using engine::Thread;

/// Whether this run has a broker that serves events.
inline bool has_broker(const engine::Engine& engine) {
    return engine.broker_fd >= 0 && engine.run != nullptr;
}

/// One request of `thread`, about `event` if the kind has one. Fill in what the kind needs (RequestKind), then send()
/// or post() it. A payload's memory must live until then.
class BrokerRequest {
  public:
    BrokerRequest(Thread& thread, run::RequestKind kind, std::uint32_t event = 0);

    /// Sets RequestHead::argument[index].
    BrokerRequest& argument(unsigned index, std::uint64_t argument) {
        head_.argument[index] = argument;
        return *this;
    }
    /// The payload: `count` bytes of the engine's memory; what exceeds kRequestPayload is cut.
    BrokerRequest& payload(const void* bytes, std::size_t count);
    /// The payload: `count` bytes of the application's memory; what exceeds kRequestPayload is cut. If they cannot be
    /// read, the request has no payload.
    BrokerRequest& from_application(std::uint64_t address, std::size_t count);
    /// For an open: the descriptor of the group's leader, as the application passed it; -1: none.
    BrokerRequest& group_descriptor(std::int32_t fd) {
        head_.group = fd;
        return *this;
    }
    /// For an open with PERF_FLAG_PID_CGROUP: the inode of the cgroup's directory, 0 if it is not a cgroup.
    BrokerRequest& cgroup(std::uint64_t inode) {
        head_.cgroup = inode;
        return *this;
    }
    /// For an open of a uprobe: the file that its path leads to.
    BrokerRequest& file(const subsystem::ProbedFile& found) {
        head_.file = found;
        return *this;
    }
    /// Passes the broker a copy of the descriptor. The caller keeps its own.
    BrokerRequest& descriptor(int fd) {
        descriptor_ = fd;
        return *this;
    }

    /// Sends the request and waits for the answer: a value, or a negated errno. -EIO if there is no broker, or it has
    /// ended.
    long send();
    /// Sends the request and does not wait. Only for kinds that are not answered.
    void post();

    /// The answer's payload and event, after send() has returned 0 or more, or an error other than -EIO.
    const run::Mailbox& mailbox() const { return *thread_.agent->mailbox; }

  private:
    long transmit();
    long wait();
    long sleep();
    void wake_waiters() const;

    Thread& thread_;
    run::RequestHead head_;
    std::uint64_t payload_ = 0;
    int descriptor_ = -1;
    std::optional<std::uint64_t> switches_before_;  ///< of the thread, when the request was sent; if they matter
};

/// Reports to the broker on which CPU the thread runs, if the broker does not know that CPU yet: an event of a CPU
/// counts what runs there. Does nothing until an event has been opened in the run.
void report_if_moved(Thread& thread);

/// Whether an event has been opened in the run.
bool are_events_used(const engine::Engine& engine);

/// Whether the broker has ended.
bool broker_is_gone(const engine::Engine& engine);

/// Context switches of the program in the calling thread: those of thread_switches.h, without those of the thread's
/// waits for the broker. The number never falls.
std::uint64_t context_switches(const Thread& thread);

/// Unmaps the thread's mailbox. To be called before the thread ends.
void drop_mailbox(Thread& thread);

}  // namespace anyperf::agent
