// server.h: the broker of one run. It holds the run's perf_event subsystem, takes the requests of the programs in the
// run, and answers them. Counting and sampling happen in the programs themselves, in memory that both sides share
// (run/layout.h); the broker is needed to open, close, group, inherit and rotate events, and for what a program cannot
// see, such as the death of another one.
//
// The broker is no program of the run: it is the process of `anyperf run` or of a verb that measures (hosted_run), and
// nothing of it is translated.
//
// Its parts: transport/ receives requests and writes answers, requests/ has a handler for each kind of request, state/
// has what the handlers work on, machine/ is the presented machine. Server itself is the event loop.
//
// The event loop (serve_once) has one epoll set:
//
//   requests   the broker's end of a SOCK_SEQPACKET pair; all programs of the run send to the other end. The answer is
//              written to the mailbox of the thread that asked, in shared memory, and a futex wakes the thread.
//   event      the broker's end of an event's socket pair. End of file there is the last close of the event's
//              descriptor in all programs.
//   process    the pidfd of a process that uses events. A process that is killed does not report its end itself.
//   command    the pidfd of the command, or the descriptor of serve_until(): serving is over.
//   wake       an eventfd: another thread of this process has changed what the loop waits for.
//
// Closes and deaths are handled before requests, and again before each request: a request must not find an event open
// or a process alive that was gone when the request was sent. With events that rotate, the loop also wakes each
// perf_event_mux_interval_ms.
//
// After an answer the next request mostly follows at once, and a wake-up by the kernel costs more than the answer. So
// the loop polls for some 20 us before it sleeps, unless the client runs on the broker's own CPU, where polling would
// keep it from running.
//
// Threads: one thread serves, others of the same process may call the subsystem (call_subsystem). `lock_` is held while
// the loop handles what is ready, and during each such call, so the subsystem sees one caller at a time.
//
// Trust: a request may contain anything, and so may the shared memory, which every program of the run can write. The
// sender is the thread that the kernel names (tasks/run_threads.h). The broker checks the frame of a request
// (caller_of), and the subsystem the arguments, as the kernel would. A malformed request gets no answer. Rights are
// asked of the kernel when an event is opened and are not remembered. What the broker relies on it keeps to itself.
// docs/security.md has the whole picture.
//
// End: the command has ended, and no program holds the socket any more. If programs outlive the command and an event
// was opened in the run, the process forks: the copy serves them, and the original returns to its caller.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include <mutex>
#include <span>
#include <string>

#include "broker/machine/machine_options.h"
#include "broker/run_memory.h"
#include "broker/state/broker_state.h"
#include "broker/transport/request_socket.h"
#include "subsystem/subsystem.h"

namespace anyperf::broker {

class Server {
  public:
    /// `memory` must outlive the server. `requests` is the broker's end of make_request_socket().
    Server(RunMemory& memory, OwnedFd requests, const MachineOptions& machine);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Serves until the child has ended, waits for it, and returns its status as wait(2) gives it. Then as
    /// serve_remaining_processes().
    int serve_until_exit(pid_t child);
    /// Serves until `stop` is readable. For a hosted run, whose verb waits for its commands itself.
    void serve_until(int stop);
    /// If programs are left and any event was opened in the run, forks a copy of this process, which serves until the
    /// last of them has ended and then exits. Returns at once in the caller. No other thread may serve or call
    /// meanwhile.
    void serve_remaining_processes();

    /// Calls the subsystem for this process itself, from any of its threads. `function` gets the subsystem and the
    /// caller's TaskId; its result is returned. The caller has no thread page, so nothing is counted on it.
    template <class Function>
    auto call_subsystem(const Function& function) {
        const std::lock_guard held{lock_};
        const subsystem::TaskId self = begin_local_call();
        auto answer = function(subsystem(), self);
        end_local_call();
        return answer;
    }
    /// Tracks a command of a hosted run by a pidfd, so that its end is known even if it is killed. `page` is the thread
    /// page of its first thread; run::kNoPage: it has none yet.
    void track_command(pid_t process, std::uint32_t page);
    /// From here on `eventfd` becomes readable when the poll state of an event changes that this process has opened. To
    /// be called before serving.
    void signal_own_events(int eventfd) { state_.events.signal_own(eventfd); }
    /// Where this process has mapped the ring; valid until the ring is freed. Empty if there is no such ring.
    std::span<std::byte> ring_memory(subsystem::RingIndex ring);
    /// RingPage::locked_out of the ring.
    std::uint64_t locked_out(subsystem::RingIndex ring);
    /// The process has ended and is a zombie: takes its final times from /proc before the caller waits for it.
    void about_to_reap(pid_t process);
    /// Makes part `part` of the presented machine's files (0: PMUs and settings, 1: tracepoints) if that has not been
    /// done, and returns their directory; "" if they cannot be made.
    std::string machine_files(std::uint32_t part);
    /// Whether the presented machine has a built-in tracepoint with this number.
    bool has_tracepoint(std::uint64_t id);

  private:
    subsystem::Subsystem& subsystem();
    subsystem::TaskId begin_local_call();
    void end_local_call();
    /// One round of the event loop. Returns whether a descriptor of kind `command` is ready.
    bool serve_once();
    /// Waits until a descriptor is ready, or until events have to be rotated. Returns how many are in `ready`.
    int wait_for_descriptors(std::span<epoll_event> ready);
    /// Handles a close or a death. Ignores other kinds.
    void on_ready(const ReadyDescriptor& ready);
    /// Serves all requests that wait.
    void serve_requests();
    void serve_closes_and_deaths();
    /// Serves a request and writes the answer.
    void handle(ReceivedRequest& received);

    RequestSocket requests_;
    OwnedFd wake_;                ///< an eventfd: events rotate now, so the serving thread must not sleep for ever
    int polls_before_sleep_ = 0;  ///< how often to poll the descriptors before sleeping
    bool client_on_other_cpu_ = false;  ///< the thread that was answered last runs on another CPU
    std::mutex lock_;                   ///< of `state_`, between the serving thread and callers of call_subsystem
    BrokerState state_;
};

}  // namespace anyperf::broker
