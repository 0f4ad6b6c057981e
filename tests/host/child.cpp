#include "host/child.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "host/open_failure.h"

namespace anyperf::host {

namespace {

constexpr unsigned kNobody = 65534;

void write_all(int fd, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
        if (wrote <= 0) return;
        done += static_cast<std::size_t>(wrote);
    }
}

}  // namespace

std::string in_child(const std::function<std::string()>& body) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        write_all(ends[1], body());
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> piece;
    for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? text : "killed by signal " + std::to_string(WTERMSIG(status));
}

int open_event(const OpenCall& call) {
    abi::Attr attr = call.attr;
    const long fd = ::syscall(SYS_perf_event_open, &attr, call.pid, call.cpu, call.group_fd, call.flags);
    return fd < 0 ? -errno : static_cast<int>(fd);
}

std::string open_failure(const OpenCall& call) {
    const int fd = open_event(call);
    if (fd >= 0) {
        ::close(fd);
        return "";
    }
    const Error error = why_open_failed(call, -fd, "dummy");
    return std::string{::strerrorname_np(-fd)} + ": " + error.cause + " FIX: " + error.fix;
}

void become_nobody() {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0)
        std::abort();
    ::prctl(PR_SET_DUMPABLE, 1);
}

std::string open_failure_as_nobody(const OpenCall& call) {
    return in_child([&call] {
        become_nobody();
        return open_failure(call);
    });
}

OpenCall dummy() {
    OpenCall call;
    call.attr.type = 1;    // PERF_TYPE_SOFTWARE
    call.attr.config = 9;  // PERF_COUNT_SW_DUMMY
    call.attr.size = 136;
    call.attr.flags = 1 | 1 << 5 | 1 << 6;  // disabled, exclude_kernel, exclude_hv
    return call;
}

}  // namespace anyperf::host
