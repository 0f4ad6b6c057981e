// descriptor.cpp: what an event's descriptor has in common with other descriptors (dup, fork, SCM_RIGHTS, fstat), and
// the errors of calls that an event does not support.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::string link_target(int fd) {
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

void fstat_fields() {
    const Event event{dummy()};
    const Event other{dummy()};
    struct stat first{}, second{};
    want_success("fstat", or_errno(::fstat(event.fd(), &first)));
    want_success("fstat", or_errno(::fstat(other.fd(), &second)));
    want_equal("st_size", first.st_size, 0);
    want_equal("st_mode", first.st_mode, 0600U);
    want_equal("inodes of two events", first.st_ino, second.st_ino);
}

void fstat_without_a_free_descriptor() {
    const Event event{dummy()};
    struct stat before{}, after{};
    want_success("fstat", or_errno(::fstat(event.fd(), &before)));
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(event.fd()) + 1;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Failure{"setrlimit failed"};
    want_result("another event", result_of(dummy()), EMFILE);
    want_success("fstat", or_errno(::fstat(event.fd(), &after)));
    want_equal("st_ino", after.st_ino, before.st_ino);
    want_equal("st_mode", after.st_mode, 0600U);
}

void reopened() {
    const Event event{dummy()};
    const long result = or_errno(::open(("/proc/self/fd/" + std::to_string(event.fd())).c_str(), O_RDWR));
    want_result("open of /proc/self/fd/N", result, ENXIO);
}

/// preadv2(2) into `count` buffers of one word each, or readv(2) if the position is -1 and there are no flags.
long read_vector(int fd, int count, off_t position, int flags = 0) {
    std::uint64_t word = 0;
    std::vector<iovec> parts(static_cast<std::size_t>(count), iovec{&word, sizeof word});
    if (position == -1 && flags == 0) return or_errno(::readv(fd, parts.data(), count));
    return or_errno(::preadv2(fd, parts.data(), count, position, flags));
}

void read_by_preadv2() {
    const Event event{dummy()};
    std::uint64_t word = 1;
    iovec part{&word, sizeof word};
    want_equal("bytes", or_errno(::preadv2(event.fd(), &part, 1, -1, 0)), 8);
    want_equal("count", word, 0U);
}

/// Reads the link by each name that /proc has for a descriptor of this thread.
void links_by_all_names() {
    const Event event{dummy()};
    const std::string number = std::to_string(event.fd());
    for (const std::string& directory : {std::string{"/proc/self/fd/"}, std::string{"/proc/thread-self/fd/"},
                                         std::string{"/dev/fd/"}, "/proc/" + std::to_string(::getpid()) + "/fd/"}) {
        std::array<char, 64> text{};
        want_success("readlink", or_errno(::readlink((directory + number).c_str(), text.data(), text.size())));
        want_equal(directory.c_str(), std::string{text.data()}, "anon_inode:[perf_event]");
    }
    const Event directory = Event::adopt(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY));
    std::array<char, 64> text{};
    want_success("readlinkat", or_errno(::readlinkat(directory.fd(), number.c_str(), text.data(), text.size())));
    want_equal("readlinkat", std::string{text.data()}, "anon_inode:[perf_event]");
    in_checked_child([&] {
        std::array<char, 64> seen{};
        const std::string path = "/proc/" + std::to_string(::getppid()) + "/fd/" + number;
        want_success("readlink", or_errno(::readlink(path.c_str(), seen.data(), seen.size())));
        want_equal("read by a child", std::string{seen.data()}, "anon_inode:[perf_event]");
    });
}

/// What /proc has of a descriptor.
std::string info_of(int fd) {
    std::ifstream file{"/proc/self/fdinfo/" + std::to_string(fd)};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void fdinfo_lines() {
    const Event event{dummy()};
    const Event other = Event::adopt(::epoll_create1(0));
    const std::string of_other = info_of(other.fd());
    const std::size_t begin = of_other.find("mnt_id:");
    const std::size_t end = of_other.find('\n', of_other.find("ino:"));
    std::array<char, 64> first{};
    const int closes = (::fcntl(event.fd(), F_GETFD) & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
    std::snprintf(first.data(), first.size(), "pos:\t0\nflags:\t0%o\n",
                  static_cast<unsigned>(::fcntl(event.fd(), F_GETFL) | closes));
    want_equal("fdinfo", info_of(event.fd()), first.data() + of_other.substr(begin, end + 1 - begin));
}

void statx_fields() {
    const Event event{dummy()};
    struct statx about{};
    want_success("statx", or_errno(::statx(event.fd(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &about)));
    want_equal("stx_mode", std::uint32_t{about.stx_mode}, 0600U);
    struct statfs system{};
    want_success("fstatfs", or_errno(::fstatfs(event.fd(), &system)));
    want_equal("f_type", static_cast<long>(system.f_type), 0x09041934L);  // ANON_INODE_FS_MAGIC
}

/// A call on an event's descriptor.
struct CallRow {
    const char* name;
    const char* statement;
    int expected;
    long (*call)(int fd);
};

constexpr std::array kCalls{
    CallRow{"pread", "pread is ESPIPE", ESPIPE,
            [](int fd) {
                std::uint64_t word = 0;
                return or_errno(::pread(fd, &word, sizeof word, 0));
            }},
    CallRow{"pwrite", "pwrite is ESPIPE", ESPIPE, [](int fd) { return or_errno(::pwrite(fd, "12345678", 8, 0)); }},
    CallRow{"lseek", "lseek is ESPIPE", ESPIPE, [](int fd) { return or_errno(::lseek(fd, 0, SEEK_SET)); }},
    CallRow{"write", "write is EINVAL", EINVAL, [](int fd) { return or_errno(::write(fd, "12345678", 8)); }},
    CallRow{"ftruncate", "ftruncate is EINVAL", EINVAL, [](int fd) { return or_errno(::ftruncate(fd, 0)); }},
    CallRow{"nonblock", "O_NONBLOCK is accepted", 0, [](int fd) { return or_errno(::fcntl(fd, F_SETFL, O_NONBLOCK)); }},
    CallRow{"fionbio", "FIONBIO is accepted", 0,
            [](int fd) {
                int on = 1;
                return or_errno(::ioctl(fd, FIONBIO, &on));
            }},
    CallRow{"lseek_whence", "lseek with an invalid whence is EINVAL", EINVAL,
            [](int fd) { return or_errno(::lseek(fd, 0, 99)); }},
    CallRow{"pread_negative", "pread at a negative offset is EINVAL", EINVAL,
            [](int fd) {
                std::uint64_t word = 0;
                return or_errno(::pread(fd, &word, sizeof word, -1));
            }},
    CallRow{"preadv", "preadv is ESPIPE", ESPIPE, [](int fd) { return read_vector(fd, 1, 0); }},
    CallRow{"preadv2", "preadv2 with RWF_NOWAIT is EOPNOTSUPP", EOPNOTSUPP,
            [](int fd) { return read_vector(fd, 1, -1, RWF_NOWAIT); }},
    CallRow{"readv_count", "readv of more than 1,024 buffers is EINVAL", EINVAL,
            [](int fd) { return read_vector(fd, 1025, -1); }},
    CallRow{"read_size", "read of more bytes than the address space has is EFAULT", EFAULT,
            [](int fd) {
                std::uint64_t word = 0;
                return or_errno(::syscall(SYS_read, fd, &word, std::size_t{1} << 47));
            }},
    CallRow{"fsync", "fsync is EINVAL", EINVAL, [](int fd) { return or_errno(::fsync(fd)); }},
    CallRow{"fchmod", "fchmod is EOPNOTSUPP", EOPNOTSUPP, [](int fd) { return or_errno(::fchmod(fd, 0700)); }},
    CallRow{"copy_file_range", "copy_file_range is EINVAL", EINVAL,
            [](int fd) { return or_errno(::copy_file_range(fd, nullptr, STDIN_FILENO, nullptr, 8, 0)); }},
    CallRow{"pwritev2", "pwritev2 with a position is ESPIPE", ESPIPE,
            [](int fd) {
                std::uint64_t word = 0;
                const iovec part{&word, sizeof word};
                return or_errno(::pwritev2(fd, &part, 1, 0, 0));
            }},
    CallRow{"sendfile_position", "sendfile from an event with a position is ESPIPE", ESPIPE,
            [](int fd) {
                off_t position = 0;
                return or_errno(::sendfile(1, fd, &position, 8));
            }},
    CallRow{"sendfile_closed", "sendfile from a descriptor that is not open is EBADF", EBADF,
            [](int fd) { return or_errno(::sendfile(fd, -1, nullptr, 8)); }},
    CallRow{"splice_closed", "splice to a descriptor that is not open is EBADF", EBADF,
            [](int fd) { return or_errno(::splice(fd, nullptr, -1, nullptr, 8, 0)); }},
    CallRow{"fchownat", "fchownat with an empty path is EOPNOTSUPP, as fchown", EOPNOTSUPP,
            [](int fd) { return or_errno(::fchownat(fd, "", 0, 0, AT_EMPTY_PATH)); }},
    CallRow{"utimensat", "utimensat with an empty path is EOPNOTSUPP, as futimens", EOPNOTSUPP,
            [](int fd) { return or_errno(::utimensat(fd, "", nullptr, AT_EMPTY_PATH)); }},
    CallRow{"fionread", "FIONREAD is ENOTTY", ENOTTY,
            [](int fd) {
                int count = 0;
                return or_errno(::ioctl(fd, FIONREAD, &count));
            }},
    CallRow{"recv", "recv is ENOTSOCK", ENOTSOCK,
            [](int fd) {
                char byte = 0;
                return or_errno(::recv(fd, &byte, 1, MSG_DONTWAIT));
            }},
    CallRow{"send", "send is ENOTSOCK", ENOTSOCK, [](int fd) { return or_errno(::send(fd, "x", 1, 0)); }},
    CallRow{"shutdown", "shutdown is ENOTSOCK", ENOTSOCK, [](int fd) { return or_errno(::shutdown(fd, SHUT_RDWR)); }},
    CallRow{"getsockopt", "getsockopt is ENOTSOCK", ENOTSOCK,
            [](int fd) {
                int type = 0;
                socklen_t bytes = sizeof type;
                return or_errno(::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes));
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

/// Sends a descriptor through a socket and returns the descriptor that is received.
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

void sent_through_socket() {
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

void descriptor_limit() {
    const Event first{dummy()};
    const Event second{dummy()};
    const auto next = static_cast<rlim_t>(second.fd()) + 1;
    rlimit one_more{};
    ::getrlimit(RLIMIT_NOFILE, &one_more);
    one_more.rlim_cur = next + 1;
    if (::setrlimit(RLIMIT_NOFILE, &one_more) != 0) throw Failure{"setrlimit failed"};
    want_result("the last descriptor below the limit", result_of(dummy()), 0);
    const rlimit limit{next, next};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Failure{"setrlimit failed"};
    want_result("the next", result_of(dummy()), EMFILE);
}

}  // namespace

std::vector<Case> descriptor_cases() {
    std::vector<Case> cases{
        {"lowest", "the descriptor is the lowest free number", kNothing, lowest_number},
        {"link", "the link in /proc/self/fd reads anon_inode:[perf_event]", kNothing,
         [] {
             const Event event{dummy()};
             want_equal("link", link_target(event.fd()), "anon_inode:[perf_event]");
         }},
        {"fstat", "fstat reports mode 0600 without a file type, size 0, and the same inode for all events", kNothing,
         fstat_fields},
        {"fstat_full", "fstat reports the same without a free descriptor", kNothing, fstat_without_a_free_descriptor},
        {"read_write", "the descriptor is open for reading and writing", kNothing,
         [] {
             const Event event{dummy()};
             want_equal("F_GETFL & O_ACCMODE", ::fcntl(event.fd(), F_GETFL) & O_ACCMODE, O_RDWR);
         }},
        {"reopen", "opening the descriptor through /proc/self/fd is ENXIO", kRoot, reopened},
        {"links", "the link is the same by every name in /proc, also for another process", kNothing,
         links_by_all_names},
        {"fdinfo", "/proc/self/fdinfo has position, flags, and mount and inode of an anonymous inode", kNothing,
         fdinfo_lines},
        {"statx", "statx and fstatfs report an anonymous inode", kNothing, statx_fields},
        {"preadv2_reads", "preadv2 without a position reads like read", kNothing, read_by_preadv2},
        {"splice", "splice is EINVAL", kNothing, splice_refused},
        {"dup", "a dup refers to the same event, which exists until the last descriptor is closed", kNothing,
         dup_is_the_same_event},
        {"child_controls", "a forked child's copy reads and controls the event", kNothing, child_controls},
        {"close_in_a_child", "closing a forked copy does not affect the event", kNothing, close_in_a_child},
        {"scm_rights", "a descriptor sent through a socket is the same event", kNothing, sent_through_socket},
        {"creator_exits", "an event outlives the thread that has opened it", kNothing, creator_exits},
        {"emfile", "open is EMFILE at the limit of descriptors, and not before", kNothing, descriptor_limit},
    };
    for (const CallRow& row : kCalls)
        cases.push_back({row.name, row.statement, kNothing, [&row] {
                             const Event event{dummy()};
                             want_result(row.name, row.call(event.fd()), row.expected);
                         }});
    return cases;
}

}  // namespace conformance
