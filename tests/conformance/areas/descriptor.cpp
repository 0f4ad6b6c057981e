// descriptor.cpp: an event's descriptor as a descriptor: dup, fork, SCM_RIGHTS, fstat, and calls that make no sense of
// it.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::string link_of(int fd) {
    std::array<char, 256> text{};
    const auto bytes = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

void lowest_number() {
    const int free = ::dup(STDIN_FILENO);
    ::close(free);
    const Event event{dummy()};
    want_equal("descriptor", event.fd(), free);
}

void fstat_of() {
    const Event event{dummy()};
    const Event other{dummy()};
    struct stat first{}, second{};
    want_success("fstat", or_errno(::fstat(event.fd(), &first)));
    want_success("fstat", or_errno(::fstat(other.fd(), &second)));
    want_equal("st_size", first.st_size, 0);
    want_equal("st_mode", first.st_mode, 0600U);
    want_equal("inodes of two events", first.st_ino, second.st_ino);
}

void reopened() {
    const Event event{dummy()};
    const long result = or_errno(::open(("/proc/self/fd/" + std::to_string(event.fd())).c_str(), O_RDWR));
    want_result("open of /proc/self/fd/N", result, ENXIO);
}

struct Senseless {
    const char* name;
    const char* statement;
    int expected;
    long (*call)(int fd);
};

constexpr std::array kSenseless{
    Senseless{"pread", "pread is ESPIPE", ESPIPE,
              [](int fd) {
                  std::uint64_t word = 0;
                  return or_errno(::pread(fd, &word, sizeof word, 0));
              }},
    Senseless{"pwrite", "pwrite is ESPIPE", ESPIPE, [](int fd) { return or_errno(::pwrite(fd, "12345678", 8, 0)); }},
    Senseless{"lseek", "lseek is ESPIPE", ESPIPE, [](int fd) { return or_errno(::lseek(fd, 0, SEEK_SET)); }},
    Senseless{"write", "write is EINVAL", EINVAL, [](int fd) { return or_errno(::write(fd, "12345678", 8)); }},
    Senseless{"ftruncate", "ftruncate is EINVAL", EINVAL, [](int fd) { return or_errno(::ftruncate(fd, 0)); }},
    Senseless{"nonblock", "O_NONBLOCK is accepted", 0,
              [](int fd) { return or_errno(::fcntl(fd, F_SETFL, O_NONBLOCK)); }},
    Senseless{"fionbio", "FIONBIO is accepted", 0,
              [](int fd) {
                  int on = 1;
                  return or_errno(::ioctl(fd, FIONBIO, &on));
              }},
};

void splice_refused() {
    const Event event{dummy()};
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw Failure{"pipe failed"};
    want_result("splice", or_errno(::splice(event.fd(), nullptr, pipe[1], nullptr, 8, 0)), EINVAL);
}

void dup_is_the_same_event() {
    Faults faults;
    Event event{page_faults()};
    const Event copy = Event::adopt(::dup(event.fd()));
    copy.enable();
    faults.cause(2);
    event.disable();
    want_equal("ids", copy.id(), event.id());
    want_equal("counts", copy.count(), event.count());
    const std::uint64_t count = event.count();
    event.close();
    want_equal("count after the first close", copy.count(), count);
}

void child_controls() {
    Faults faults;
    const Event event{page_faults()};
    in_checked_child([&] { event.enable(); });
    faults.cause(4);
    in_checked_child([&] {
        event.disable();
        want_at_least("count read by a child", event.count(), 4U);
    });
}

void close_in_a_child() {
    Faults faults;
    const Event event{page_faults()};
    event.enable();
    in_child([&] { ::close(event.fd()); });
    const std::uint64_t before = event.count();
    faults.cause(4);
    want_at_least("faults after a child has closed its copy", event.count() - before, 4U);
}

/// Sends a descriptor through a socket and takes what comes out.
int through_a_socket(int fd) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw Failure{"socketpair failed"};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    char byte = 'x';
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    want_success("sendmsg", or_errno(::sendmsg(ends[0], &message, 0)));
    want_success("recvmsg", or_errno(::recvmsg(ends[1], &message, 0)));
    int received = -1;
    if (CMSG_FIRSTHDR(&message) == nullptr) throw Failure{"expected a descriptor in the message"};
    std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    ::close(ends[0]);
    ::close(ends[1]);
    return received;
}

void passed_on() {
    Faults faults;
    Event event{page_faults()};
    const Event copy = Event::adopt(through_a_socket(event.fd()));
    const std::uint64_t id = event.id();
    event.close();
    want_equal("id", copy.id(), id);
    copy.enable();
    faults.cause(3);
    copy.disable();
    want_equal("count", copy.count(), 3U);
}

void creator_exits() {
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(6); }}};
    child.step();
    long fd = -1;
    in_thread([&] {
        Call call{.attr = page_faults(), .pid = child.pid()};
        fd = open_event(call);
    });
    const Event event = Event::adopt(static_cast<int>(want_success("perf_event_open in a thread", fd)));
    event.enable();
    child.step();
    event.disable();
    want_at_least("faults", event.count(), 6U);
}

void too_many() {
    const Event first{dummy()};
    const Event second{dummy()};
    const auto next = static_cast<rlim_t>(second.fd()) + 1;
    const rlimit limit{next, next};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Failure{"setrlimit failed"};
    want_result("the next", result_of(dummy()), EMFILE);
}

}  // namespace

std::vector<Case> descriptor_cases() {
    std::vector<Case> cases{
        {"lowest", "the descriptor is the lowest free number", kNothing, lowest_number},
        {"link", "its link reads anon_inode:[perf_event]", kNothing,
         [] {
             const Event event{dummy()};
             want_equal("link", link_of(event.fd()), "anon_inode:[perf_event]");
         }},
        {"fstat", "fstat: mode 0600 without a type, size 0, one inode for all", kNothing, fstat_of},
        {"read_write", "it is open for reading and writing", kNothing,
         [] {
             const Event event{dummy()};
             want_equal("F_GETFL & O_ACCMODE", ::fcntl(event.fd(), F_GETFL) & O_ACCMODE, O_RDWR);
         }},
        {"reopen", "opening it through /proc/self/fd is ENXIO", kRoot, reopened},
        {"splice", "splice is EINVAL", kNothing, splice_refused},
        {"dup", "a dup is the same event, which lives until the last is closed", kNothing, dup_is_the_same_event},
        {"child_controls", "a forked child's copy reads and controls the event", kNothing, child_controls},
        {"close_in_a_child", "closing a forked copy has no effect", kNothing, close_in_a_child},
        {"scm_rights", "a descriptor sent through a socket is the same event", kNothing, passed_on},
        {"creator_exits", "an event lives on after the thread that has opened it", kNothing, creator_exits},
        {"emfile", "at the limit of descriptors: EMFILE", kNothing, too_many},
    };
    for (const Senseless& row : kSenseless)
        cases.push_back({row.name, row.statement, kNothing, [&row] {
                             const Event event{dummy()};
                             want_result(row.name, row.call(event.fd()), row.expected);
                         }});
    return cases;
}

}  // namespace conformance
