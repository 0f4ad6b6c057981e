#include "agent/syscalls/stand_ins.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "agent/syscalls/poll_set.h"
#include "engine/own_descriptors.h"

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

OwnDescriptor::~OwnDescriptor() {
    if (fd_ >= 0) kernel_call(__NR_close, static_cast<unsigned>(fd_));
}

std::int32_t OwnDescriptor::get(engine::Engine& engine, long (*make)()) {
    if (fd_ >= 0) return fd_;
    const engine::DescriptorRoom room{engine};  // the application's table may be full
    const long made = make();
    if (!is_error(made)) fd_ = static_cast<std::int32_t>(made);
    return fd_;
}

std::int32_t StandIns::epoll_set() {
    return epoll_set_.get(call_.engine, [] { return kernel_call(__NR_epoll_create1, EPOLL_CLOEXEC); });
}

/// The reading end of a pipe that nobody writes.
std::int32_t StandIns::hung_up() {
    return hung_up_.get(call_.engine, [] {
        std::int32_t ends[2]{};
        const long error = kernel_call(__NR_pipe2, address_of(ends), O_CLOEXEC);
        if (is_error(error)) return error;
        kernel_call(__NR_close, static_cast<unsigned>(ends[1]));
        return long{ends[0]};
    });
}

std::int32_t StandIns::readable() {
    return readable_.get(call_.engine, [] { return kernel_call(__NR_eventfd2, 1, EFD_CLOEXEC); });
}

std::int32_t StandIns::with_bytes(const void* bytes, std::size_t count, std::uint64_t& at) {
    const std::int32_t fd = bytes_.get(call_.engine, [] {
        constexpr unsigned kCloseOnExec = 1;  // MFD_CLOEXEC
        return kernel_call(__NR_memfd_create, address_of("values"), kCloseOnExec);
    });
    at = bytes_end_;
    const long written = kernel_call(__NR_pwrite64, static_cast<unsigned>(fd), address_of(bytes), count, at);
    if (written != static_cast<long>(count)) return -1;
    bytes_end_ += count;
    return fd;
}

std::int32_t StandIns::polled(std::int32_t fd, EventIndex event, std::uint32_t& events) {
    constexpr std::uint32_t kData = POLLIN | POLLRDNORM;
    const bool wants_data = (events & kData) != 0;
    events &= kData | POLLERR | POLLHUP;
    drain_socket(fd);
    const short state = poll_state_of(call_.thread, event);
    if ((state & (POLLHUP | POLLERR)) != 0) return hung_up();
    return (state & POLLIN) != 0 && wants_data ? readable() : fd;
}

}  // namespace anyperf::agent
