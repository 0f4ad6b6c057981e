// descriptor_travel.cpp: an event's descriptor that reaches a process by another way than fork: through a socket, by
// pidfd_getfd(2), in a table that two processes share (CLONE_FILES), over an exec.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// What one process tells the other, in memory that both have.
struct Report {
    int fd = -1;
    std::uint64_t id = 0;
    std::uint64_t count = 0;
    long result = 0;
};

class SharedReport {
  public:
    SharedReport()
        : report_(static_cast<Report*>(
              ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        if (report_ == MAP_FAILED) throw Failure{"mmap failed"};
        *report_ = {};
    }
    SharedReport(const SharedReport&) = delete;
    SharedReport& operator=(const SharedReport&) = delete;
    ~SharedReport() { ::munmap(report_, sizeof(Report)); }
    Report* operator->() const { return report_; }

  private:
    Report* report_;
};

Attr counted_faults() {
    return changed(page_faults(), [](Attr& a) { a.disabled = 0; });
}

void touch_new_page() {
    auto* const page = static_cast<volatile char*>(
        ::mmap(nullptr, Faults::kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    *page = 1;
}

void send_descriptor(int socket, int fd) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    char byte = 'x';
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    want_success("sendmsg", or_errno(::sendmsg(socket, &message, 0)));
}

int receive_descriptor(int socket) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    char byte = 0;
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    want_success("recvmsg", or_errno(::recvmsg(socket, &message, 0)));
    if (CMSG_FIRSTHDR(&message) == nullptr) throw Failure{"expected a descriptor in the message"};
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

void sent_to_an_older_child() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw Failure{"socketpair failed"};
    const SharedReport seen;
    Child child{{[&] {
        const Event event = Event::adopt(receive_descriptor(ends[1]));
        seen->id = event.id();
        seen->count = event.count();
        seen->result = event.ioctl(PERF_EVENT_IOC_RESET);
    }}};
    const Event event{counted_faults()};
    touch_new_page();
    event.disable();
    const std::uint64_t count = event.count();
    send_descriptor(ends[0], event.fd());
    child.step();
    want_at_least("count", count, 1U);
    want_equal("count read by the receiver", seen->count, count);
    want_equal("id read by the receiver", seen->id, event.id());
    want_success("reset by the receiver", seen->result);
    want_equal("count after the reset", event.count(), 0U);
}

void taken_by_pidfd() {
    const SharedReport seen;
    Event of_child;
    Child child{{[&] {
        of_child = Event{counted_faults()};
        touch_new_page();
        of_child.disable();
        *seen.operator->() = {of_child.fd(), of_child.id(), of_child.count(), 0};
    }}};
    child.step();
    const Event process = Event::adopt(static_cast<int>(::syscall(SYS_pidfd_open, child.pid(), 0)));
    const long fd = or_errno(::syscall(SYS_pidfd_getfd, process.fd(), seen->fd, 0));
    if (fd == -EPERM) throw Skip{"pidfd_getfd is not permitted"};
    const Event event = Event::adopt(static_cast<int>(want_success("pidfd_getfd", fd)));
    want_equal("id", event.id(), seen->id);
    want_at_least("count", event.count(), 1U);
    want_equal("count", event.count(), seen->count);
}

/// Runs `body` in a child that shares the table of descriptors, and waits for its end.
template <class Body>
void in_child_with_same_descriptors(const Body& body) {
    const long child = ::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, 0);
    if (child < 0) throw Failure{"clone failed"};
    if (child == 0) {
        body();
        ::_exit(0);
    }
    ::waitpid(static_cast<pid_t>(child), nullptr, 0);
}

void opened_in_a_shared_table() {
    const SharedReport seen;
    in_child_with_same_descriptors([&] {
        Call call{.attr = counted_faults()};
        seen->fd = static_cast<int>(open_event(call));
        touch_new_page();
    });
    const Event event = Event::adopt(static_cast<int>(want_success("perf_event_open in the child", seen->fd)));
    want_at_least("id", event.id(), 1U);
    want_at_least("count", event.count(), 1U);
    pollfd polled{event.fd(), POLLIN, 0};
    want_equal("poll", ::poll(&polled, 1, 0), 1);
    want_equal("revents: the child has ended", int{polled.revents}, POLLHUP);
}

void replaced_in_a_shared_table() {
    const Event event{counted_faults()};
    in_child_with_same_descriptors([&] {
        const int zeros = ::open("/dev/zero", O_RDONLY);
        if (zeros < 0) return;
        ::dup2(zeros, event.fd());
        ::close(zeros);
    });
    std::array<char, 3> bytes{'x', 'x', 'x'};
    want_equal("bytes read of /dev/zero", ::read(event.fd(), bytes.data(), bytes.size()), 3);
}

/// Executes the helper that reads `fd`, and returns whether it has read a count.
bool read_after_exec(int fd) {
    const int status = in_child([&] { exec_helper({"read", std::to_string(fd)}); });
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void kept_over_exec() {
    const Event event{counted_faults()};
    want_equal("read after an exec", read_after_exec(event.fd()), true);
}

void kept_over_exec_with_a_full_table() {
    const Event event{counted_faults()};
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(event.fd()) + 5;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const int status = in_child([&] {
        // The dynamic loader needs one.
        while (::dup(STDIN_FILENO) < static_cast<int>(limit.rlim_cur) - 2) {
        }
        exec_helper({"read", std::to_string(event.fd())});
    });
    want_equal("status", status, 0);
}

}  // namespace

std::vector<Case> descriptor_travel_cases() {
    return {
        {"scm_rights", "a process that was forked before any event was opened receives an event through a socket",
         kNothing, sent_to_an_older_child},
        {"pidfd_getfd", "pidfd_getfd makes a descriptor of the same event", kNothing, taken_by_pidfd},
        {"clone_files", "an event that a child opens in a shared table of descriptors is the parent's, too", kNothing,
         opened_in_a_shared_table},
        {"clone_files_dup2", "a file that a child puts in an event's place in a shared table is what the parent reads",
         kNothing, replaced_in_a_shared_table},
        {"exec", "a descriptor without FD_CLOEXEC is the event's after an exec", kNothing, kept_over_exec},
        {"exec_full", "the same with a full table of descriptors", kNothing, kept_over_exec_with_a_full_table},
    };
}

}  // namespace conformance
