// event.cpp: the perf_event_open system call, and the calls on an event's descriptor.
#include "suite/event.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "suite/expect.h"

namespace conformance {

long open_event(const void* attr, pid_t pid, int cpu, int group, unsigned long flags) {
    return or_errno(::syscall(SYS_perf_event_open, attr, pid, cpu, group, flags));
}

long open_event(Call& call) {
    return open_event(&call.attr, call.pid, call.cpu, call.group, call.flags);
}

long result_of(Call call) {
    const long fd = open_event(call);
    if (fd < 0) return fd;
    ::close(static_cast<int>(fd));
    return 0;
}

long result_of(const Attr& attr) {
    return result_of(Call{.attr = attr});
}

namespace {

Attr user_mode(std::uint32_t type, std::uint64_t config, std::uint64_t period) {
    Attr attr{};
    attr.type = type;
    attr.size = kAttrSize;
    attr.config = config;
    attr.sample_period = period;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return attr;
}

}  // namespace

Attr software(std::uint64_t config, std::uint64_t period) {
    return user_mode(PERF_TYPE_SOFTWARE, config, period);
}
Attr page_faults(std::uint64_t period) {
    return software(PERF_COUNT_SW_PAGE_FAULTS, period);
}
Attr dummy() {
    return software(PERF_COUNT_SW_DUMMY);
}
Attr task_clock(std::uint64_t period) {
    return software(PERF_COUNT_SW_TASK_CLOCK, period);
}
Attr hardware(std::uint64_t config, std::uint64_t period) {
    return user_mode(PERF_TYPE_HARDWARE, config, period);
}
Attr instructions(std::uint64_t period) {
    return hardware(PERF_COUNT_HW_INSTRUCTIONS, period);
}

Attr watchpoint(const void* address, std::uint64_t length, std::uint32_t type, std::uint64_t period) {
    Attr attr = user_mode(PERF_TYPE_BREAKPOINT, 0, period);
    attr.bp_type = type;
    attr.bp_addr = reinterpret_cast<std::uint64_t>(address);
    attr.bp_len = length;
    return attr;
}

Event::Event(const Attr& attr, pid_t pid, int cpu, int group, unsigned long flags) {
    fd_ = static_cast<int>(want_success("perf_event_open", open_event(&attr, pid, cpu, group, flags)));
}

Event Event::adopt(int fd) {
    Event event;
    event.fd_ = fd;
    return event;
}

void Event::close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

long Event::ioctl(unsigned long request, unsigned long argument) const {
    return or_errno(::syscall(SYS_ioctl, fd_, request, argument));
}

long Event::ioctl(unsigned long request, const void* argument) const {
    return or_errno(::syscall(SYS_ioctl, fd_, request, argument));
}

void Event::enable(unsigned long flags) const {
    want_success("PERF_EVENT_IOC_ENABLE", ioctl(PERF_EVENT_IOC_ENABLE, flags));
}
void Event::disable(unsigned long flags) const {
    want_success("PERF_EVENT_IOC_DISABLE", ioctl(PERF_EVENT_IOC_DISABLE, flags));
}
void Event::reset(unsigned long flags) const {
    want_success("PERF_EVENT_IOC_RESET", ioctl(PERF_EVENT_IOC_RESET, flags));
}

std::uint64_t Event::id() const {
    std::uint64_t id = 0;
    want_success("PERF_EVENT_IOC_ID", ioctl(PERF_EVENT_IOC_ID, &id));
    return id;
}

long Event::read_result(std::size_t bytes) const {
    std::vector<char> buffer(bytes + 1);
    return or_errno(::read(fd_, buffer.data(), bytes));
}

std::vector<std::uint64_t> Event::words() const {
    std::array<std::uint64_t, 4096> buffer{};
    const long bytes = want_success("read", or_errno(::read(fd_, buffer.data(), sizeof buffer)));
    return {buffer.begin(), buffer.begin() + bytes / 8};
}

std::uint64_t Event::count() const {
    const auto all = words();
    if (all.empty()) fail("read", "at least 8 bytes", "end of file");
    return all[0];
}

Event sibling(const Attr& attr, const Event& leader) {
    return Event{attr, 0, -1, leader.fd()};
}

}  // namespace conformance
