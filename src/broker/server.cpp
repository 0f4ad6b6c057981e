// server.cpp: see server.h. The loop: what has died first, so that nothing is asked of the dead; then requests.
#include "broker/server.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "broker/machine.h"
#include "broker/process_maps.h"

namespace anyperf::broker {

using resident::Mailbox;
using resident::RequestHead;
using resident::RequestKind;

namespace {

constexpr int kRotationMs = 4;  ///< perf_event_mux_interval_ms
constexpr int kLooks = 60;      ///< some 20 microseconds

int open_pidfd(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

/// As the machine's own tracefs numbers it, where that can be read.
std::optional<std::uint32_t> id_in_tracefs(std::string_view system, std::string_view name) {
    for (const std::string_view root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        std::string path{root};
        path.append("/events/").append(system).append("/").append(name).append("/id");
        std::uint32_t id = 0;
        if (std::ifstream{path} >> id) return id;
    }
    return std::nullopt;
}

}  // namespace

Server::Server(RunMemory& memory, OwnedFd requests, const MachineOptions& machine)
    : memory_(memory),
      options_(machine),
      places_(memory.probes()),
      probes_(places_, memory.probe_records(), probed_file),
      tracepoints_(id_in_tracefs, &probes_),
      requests_(std::move(requests)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    watch(requests_.get(), Watched::requests);
    watch(wake_.get(), Watched::wake);
}

Server::~Server() = default;

Server::Machine& Server::machine() {
    if (!machine_) {
        machine_ = std::make_unique<Machine>(memory_, options_, files_, tracepoints_, places_);
        __atomic_store_n(&memory_.header().events_used, 1, __ATOMIC_RELEASE);
    }
    return *machine_;
}

void Server::watch(int fd, Watched what, std::uint32_t number) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    if (what == Watched::wake) event.events |= EPOLLET;  // nobody reads it: each write is told once
    event.data.u64 = static_cast<std::uint64_t>(what) << 32 | number;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

/// A program that has asked once will often ask again at once, and to be woken takes the kernel longer than all that
/// an answer takes: so the broker looks for a while before it sleeps. Not where it has the CPU of who would ask.
int Server::wait_for_news(std::span<epoll_event> ready) {
    const auto most = static_cast<int>(ready.size());
    for (int look = 0; look < looks_; ++look)
        if (const int count = ::epoll_wait(epoll_.get(), ready.data(), most, 0); count != 0) return count;
    const bool rotates = [&] {
        const std::lock_guard held{lock_};
        return machine_ && machine_->subsystem.rotates();
    }();
    return ::epoll_wait(epoll_.get(), ready.data(), most, rotates ? kRotationMs : -1);
}

bool Server::serve_once() {
    std::array<epoll_event, 64> ready{};
    const int count = wait_for_news(ready);
    const std::lock_guard held{lock_};
    if (machine_ && machine_->subsystem.rotates()) machine_->subsystem.tick();
    bool asked = false;
    bool ended = false;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
        const auto what = static_cast<Watched>(data >> 32);
        asked = asked || what == Watched::requests;
        ended = ended || what == Watched::command;
        on_descriptor(what, static_cast<std::uint32_t>(data));
    }
    if (asked) serve_requests();
    looks_ = asked && asked_elsewhere_ ? kLooks : 0;
    tell_changes();
    return ended;
}

int Server::serve_until_exit(pid_t child) {
    OwnedFd child_fd{open_pidfd(child)};
    watch(child_fd.get(), Watched::command);
    int status = 0;
    while (!serve_once() || ::waitpid(child, &status, WNOHANG) != child) {
    }
    child_fd = OwnedFd{};  // it would stay ready for ever
    stay_for_the_rest();
    return status;
}

void Server::serve_until(int stop) {
    watch(stop, Watched::command);
    while (!serve_once()) {
    }
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, stop, nullptr);  // it would stay ready for ever
}

void Server::stay_for_the_rest() {
    serve_requests();
    if (!machine_ || nobody_left_) return;
    const pid_t broker = ::fork();
    if (broker != 0) {
        if (broker > 0) files_.leave_to_another();
        return;
    }
    // What waits for the command's output must not wait for us.
    const OwnedFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    for (const int fd : {0, 1, 2}) ::dup2(nothing.get(), fd);
    while (!nobody_left_) serve_once();
    files_.remove();
    ::_exit(0);
}

bool Server::receive(Received& out) {
    iovec part{&out.request, sizeof out.request};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 8)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(requests_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got == 0) {  // the last process of the run has closed its end
        nobody_left_ = true;
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, requests_.get(), nullptr);
    }
    if (got <= 0) return false;
    out.bytes = static_cast<std::size_t>(got);
    out.descriptor = OwnedFd{};
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = 0; at + sizeof(int) <= header->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
            out.descriptor = OwnedFd{fd};  // one is expected; of several the last stays
        }
    }
    return true;
}

void Server::serve_requests() {
    Received received;
    while (receive(received)) {
        // What has died since is told of before anybody asks about it.
        std::array<epoll_event, 16> ready{};
        const int count = ::epoll_wait(epoll_.get(), ready.data(), ready.size(), 0);
        for (int i = 0; i < count; ++i) {
            const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
            on_descriptor(static_cast<Watched>(data >> 32), static_cast<std::uint32_t>(data));
        }
        handle(received);
        tell_changes();
    }
}

void Server::answer(const RequestHead& head, std::int64_t value, std::span<const std::byte> payload, EventIndex event) {
    tell_changes();  // whoever is answered finds them done
    Mailbox& mailbox = memory_.mailbox(head.page);
    const std::size_t bytes = std::min(payload.size(), sizeof mailbox.payload);
    if (bytes != 0) std::memcpy(mailbox.payload, payload.data(), bytes);  // an empty span may have no address
    mailbox.payload_bytes = static_cast<std::uint32_t>(bytes);
    mailbox.event = event;
    const int here = ::sched_getcpu();
    asked_elsewhere_ = head.cpu != here;
    __atomic_store_n(&mailbox.host_cpu, static_cast<std::uint32_t>(here + 1), __ATOMIC_RELAXED);
    mailbox.answer = value;
    __atomic_store_n(&mailbox.answered, head.sequence, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&mailbox.waiting, __ATOMIC_SEQ_CST) != 0)
        ::syscall(SYS_futex, &mailbox.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Server::handle(Received& received) {
    using Handler = void (Server::*)(Received&);
    static constexpr std::array<Handler, static_cast<std::size_t>(RequestKind::count)> kHandlers{
        &Server::on_open,          &Server::on_read,      &Server::on_control,       &Server::on_map,
        &Server::on_unmap,         &Server::on_identify,  &Server::on_before_clone,  &Server::on_clone_failed,
        &Server::on_cloned,        &Server::on_begin,     &Server::on_executing,     &Server::on_executed,
        &Server::on_end,           &Server::on_renamed,   &Server::on_mapped,        &Server::on_new_namespaces,
        &Server::on_switch_events, &Server::on_files,     &Server::on_poll,          &Server::on_wake,
        &Server::on_ran_out,       &Server::on_reaping,   &Server::on_define_probes, &Server::on_switched,
        &Server::on_made_cgroup,   &Server::on_loaded_bpf};
    const RequestHead& head = received.request.head;
    const bool whole = received.bytes >= sizeof head && received.bytes - sizeof head >= head.payload_bytes &&
                       head.payload_bytes <= resident::kRequestPayload;
    // A request that is none has no mailbox that could be trusted.
    if (!whole || head.version != resident::kProtocolVersion || head.kind >= RequestKind::count ||
        head.page >= engine::kMaximumThreadPages || memory_.thread_page(head.page).tid != head.tid)
        return;
    engine::ThreadPage& page = memory_.thread_page(head.page);
    const TaskName caller{head.page, head.pid, head.tid};
    if (machine_) {
        machine_->host.called_by(caller, head.task_clock, head.cpu);
        if (page.cpu != head.cpu && head.cpu >= 0) machine_->subsystem.task_moved(caller, head.cpu);
    }
    page.cpu = head.cpu;
    (this->*kHandlers[static_cast<std::size_t>(head.kind)])(received);
    if (machine_) machine_->host.caller_gone();
    note_wanted();
}

subsystem::Subsystem& Server::subsystem() {
    return machine().subsystem;
}

TaskName Server::begin_asking() {
    // No page of the run is this process's: what it asks for is done at once, and nothing is counted on it.
    const TaskName self{engine::kMaximumThreadPages, ::getpid(), static_cast<std::int32_t>(::gettid())};
    machine().host.called_by(self, 0, -1);
    notice_births();
    return self;
}

void Server::end_asking() {
    machine().host.caller_gone();
    note_wanted();
    tell_changes();
    constexpr std::uint64_t kOnce = 1;
    if (machine().subsystem.rotates()) [[maybe_unused]]
        const ssize_t told = ::write(wake_.get(), &kOnce, sizeof kOnce);
}

void Server::know(pid_t process) {
    const std::lock_guard held{lock_};
    know_process(process);
}

void Server::about_to_reap(pid_t process) {
    const std::lock_guard held{lock_};
    end_process(process);
}

std::string Server::machine_files(std::uint32_t part) {
    const std::lock_guard held{lock_};
    return make_files(part) ? files_.root() : "";
}

void Server::note_wanted() {
    if (!machine_) return;
    const std::uint32_t wanted = machine_->subsystem.wanted();
    std::uint32_t& told = memory_.header().wanted;
    if (told != wanted) __atomic_store_n(&told, wanted, __ATOMIC_RELEASE);
}

void Server::tell_changes() {
    if (!machine_) return;
    for (const EventIndex event : machine_->host.take_changed()) {
        const auto known = events_.find(event);
        // A byte says: ask what poll says now. If the last one is still there, nobody needs another.
        if (known != events_.end()) ::send(known->second.fd.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void Server::on_descriptor(Watched what, std::uint32_t number) {
    if (what == Watched::event) close_event(number);
    if (what == Watched::process) end_process(static_cast<std::int32_t>(number));
}

void Server::close_event(EventIndex event) {
    const auto known = events_.find(event);
    if (known == events_.end()) return;
    event_by_inode_.erase(known->second.inode);
    events_.erase(known);
    machine().subsystem.close(event);
}

void Server::know_process(std::int32_t pid) {
    if (processes_.contains(pid)) return;
    OwnedFd fd{open_pidfd(pid)};
    if (!fd) return;
    watch(fd.get(), Watched::process, static_cast<std::uint32_t>(pid));
    processes_[pid] = std::move(fd);
}

void Server::end_thread(const TaskName& task) {
    machine().subsystem.task_exit(task);
    machine().host.forget(task.thread_page);
}

void Server::end_threads_of(std::int32_t pid, bool dead) {
    const std::uint32_t pages = std::min(memory_.header().thread_pages, engine::kMaximumThreadPages);
    for (std::uint32_t number = 0; number < pages; ++number) {
        engine::ThreadPage& page = memory_.thread_page(number);
        if (page.state != engine::RecordState::live || page.process_id() != pid) continue;
        end_thread({number, pid, page.tid});
        if (dead && memory_.header().counting == 0) page.release();  // killed: nobody else frees it
    }
}

void Server::end_process(std::int32_t pid) {
    if (processes_.erase(pid) != 0) end_threads_of(pid, true);
}

}  // namespace anyperf::broker
