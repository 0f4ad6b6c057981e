// server.cpp: the event loop. Each round handles closes and deaths first, then requests.
//
// Why this order: a program closes an event, or dies, and another one asks about it. The kernel has made the end of
// file, or the pidfd, readable before the second program's datagram; handling the datagram first would show a state
// that the program knows to be over. For the same reason the descriptors are looked at again before each single
// request.
#include "broker/server.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "broker/machine/presented_machine.h"
#include "broker/requests/serve_request.h"
#include "broker/state/task_life.h"
#include "broker/transport/mailbox.h"

namespace anyperf::broker {

namespace {

constexpr int kLongestSleepMs = 100;   ///< while events rotate: the interval may have been shortened meanwhile
constexpr int kPollsBeforeSleep = 60;  ///< calls of epoll_wait, some 20 microseconds in all

}  // namespace

Server::Server(RunMemory& memory, OwnedFd requests, const MachineOptions& machine)
    : requests_(std::move(requests)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), state_(memory, machine) {
    state_.descriptors.add(requests_.fd(), DescriptorKind::requests);
    state_.descriptors.add(wake_.get(), DescriptorKind::wake);
}

Server::~Server() = default;

// A client that has been answered often asks again at once. If it runs on another CPU, polling for some microseconds is
// cheaper than sleeping and being woken. On the same CPU polling would only keep the client from running.
int Server::wait_for_descriptors(std::span<epoll_event> ready) {
    for (int look = 0; look < polls_before_sleep_; ++look)
        if (const int count = state_.descriptors.wait(ready, 0); count != 0) return count;
    const int interval_ms = [&] {
        const std::lock_guard held{lock_};
        if (!state_.machine || !state_.machine->subsystem.needs_tick()) return -1;
        const auto interval = state_.machine->host.limits().mux_interval_ns / 1'000'000;
        return std::min(static_cast<int>(interval), kLongestSleepMs);
    }();
    return state_.descriptors.wait(ready, interval_ms);
}

bool Server::serve_once() {
    // The wait is the only part without the lock: other threads call the subsystem meanwhile.
    std::array<epoll_event, 64> ready{};
    const int count = wait_for_descriptors(ready);
    const std::lock_guard held{lock_};
    if (state_.machine && state_.machine->subsystem.needs_tick()) state_.machine->subsystem.tick();
    bool asked = false;
    bool ended = false;
    for (int i = 0; i < count; ++i) {
        const ReadyDescriptor descriptor = DescriptorSet::described(ready[static_cast<std::size_t>(i)]);
        asked = asked || descriptor.kind == DescriptorKind::requests;
        ended = ended || descriptor.kind == DescriptorKind::command;
        on_ready(descriptor);
    }
    if (asked) serve_requests();
    polls_before_sleep_ = asked && client_on_other_cpu_ ? kPollsBeforeSleep : 0;
    state_.report_poll_changes();
    return ended;
}

int Server::serve_until_exit(pid_t child) {
    OwnedFd child_fd = open_pidfd(child);
    state_.descriptors.add(child_fd.get(), DescriptorKind::command);
    int status = 0;
    while (!serve_once() || ::waitpid(child, &status, WNOHANG) != child) {
    }
    child_fd = OwnedFd{};  // the pidfd would stay ready for ever
    serve_remaining_processes();
    return status;
}

void Server::serve_until(int stop) {
    state_.descriptors.add(stop, DescriptorKind::command);
    while (!serve_once()) {
    }
    state_.descriptors.remove(stop);  // it would stay ready for ever
}

// A broker that ended with its command would leave daemons without one. A copy of it goes on; the caller returns.
void Server::serve_remaining_processes() {
    serve_requests();
    // If no event was ever opened, the programs that are left need no broker.
    if (!state_.machine || requests_.closed()) return;
    const pid_t broker = ::fork();
    if (broker != 0) {
        if (broker > 0) state_.description.files.disown();
        return;
    }
    // A reader of the command's output waits for end of file: this copy must not hold the pipe open.
    const OwnedFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    for (const int fd : {0, 1, 2}) ::dup2(nothing.get(), fd);
    while (!requests_.closed()) serve_once();
    state_.description.files.remove();  // _exit runs no destructors
    ::_exit(0);
}

void Server::serve_requests() {
    ReceivedRequest received;
    while (requests_.receive(received)) {
        serve_closes_and_deaths();
        handle(received);
        state_.report_poll_changes();
    }
    if (requests_.closed()) state_.descriptors.remove(requests_.fd());  // it would stay ready for ever
}

/// All of them: a request of a process that has died must not get the rights of the next process of that number
/// (caller_of()). A close or a death is ready once only, and what stays ready are some three descriptors.
void Server::serve_closes_and_deaths() {
    std::array<epoll_event, 16> ready{};
    for (std::size_t count = ready.size(); count == ready.size();) {
        count = static_cast<std::size_t>(std::max(0, state_.descriptors.wait(ready, 0)));
        for (const epoll_event& each : std::span{ready}.first(count)) on_ready(DescriptorSet::described(each));
    }
}

void Server::handle(ReceivedRequest& received) {
    const auto caller = caller_of(received, state_);
    if (!caller) return;  // no answer: the mailbox that the request names may be another thread's
    const RequestAnswer answer = serve_request(state_, *caller, received);
    state_.publish_wanted();  // before the answer, so that the thread reports what its new event wants
    if (answer.is_sent) {
        state_.report_poll_changes();  // before the answer, so that a poll after it sees them
        const run::RequestHead& head = received.request.head;
        client_on_other_cpu_ = head.cpu != write_answer(state_.memory.mailbox(caller->thread_page), head, answer);
    }
    if (state_.machine) state_.machine->host.end_request();
}

subsystem::Subsystem& Server::subsystem() {
    return state_.make_machine().subsystem;
}

TaskId Server::begin_local_call() {
    // This process is not a program of the run and has no thread page, so nothing is counted on it.
    const TaskId self{run::kMaximumThreadPages, ::getpid(), static_cast<std::int32_t>(::gettid())};
    state_.host = self;
    state_.make_machine().host.begin_request(self, {});
    register_pending_children(state_);
    return self;
}

void Server::end_local_call() {
    state_.machine->host.end_request();
    state_.publish_wanted();
    state_.report_poll_changes();
    // Events that this call has opened may have to rotate, but the serving thread may be asleep without a time limit.
    constexpr std::uint64_t kOnce = 1;
    if (state_.machine->subsystem.needs_tick()) [[maybe_unused]]
        const ssize_t written = ::write(wake_.get(), &kOnce, sizeof kOnce);
}

void Server::track_command(pid_t process, std::uint32_t page) {
    const std::lock_guard held{lock_};
    // The process is a child of this one, so its id is certain. It has sent no request, from which the broker would
    // learn that the page is its own, and does not run the engine yet, which RunThreads::find() requires.
    state_.processes.track(process);
    state_.threads.add({page, process, process}, {process, process});
}

void Server::about_to_reap(pid_t process) {
    const std::lock_guard held{lock_};
    end_process(state_, process);
}

std::span<std::byte> Server::ring_memory(subsystem::RingIndex ring) {
    const std::lock_guard held{lock_};
    return state_.make_machine().host.ring_memory(ring);
}

std::uint64_t Server::locked_out(subsystem::RingIndex ring) {
    const std::lock_guard held{lock_};
    return __atomic_load_n(&state_.make_machine().host.ring_page(ring).locked_out, __ATOMIC_RELAXED);
}

std::string Server::machine_files(std::uint32_t part) {
    const std::lock_guard held{lock_};
    return state_.description.make_files(part) ? state_.description.files.root() : "";
}

bool Server::has_tracepoint(std::uint64_t id) {
    const std::lock_guard held{lock_};
    const auto& all = state_.description.tracepoints.all_tracepoints();
    return std::ranges::find(all, id, &pmu::Tracepoint::id) != all.end();
}

void Server::on_ready(const ReadyDescriptor& ready) {
    if (ready.kind == DescriptorKind::event) state_.close_event(ready.number);
    if (ready.kind == DescriptorKind::process) end_process(state_, static_cast<pid_t>(ready.number));
}

}  // namespace anyperf::broker
