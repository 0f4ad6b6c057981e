// descriptor_set.cpp: epoll(7). An entry's kind and number are in its user data.
#include "broker/transport/descriptor_set.h"

namespace anyperf::broker {

DescriptorSet::DescriptorSet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

void DescriptorSet::add(int fd, DescriptorKind kind, std::uint32_t number) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    if (kind == DescriptorKind::wake) event.events |= EPOLLET;  // it is never read: each write is reported once
    // An event ends when its socket is ready for the first time. The entry outlives the broker's descriptor if the
    // program has kept a copy of this end of the pair, and must not stay ready then.
    if (kind == DescriptorKind::event) event.events |= EPOLLONESHOT;
    event.data.u64 = static_cast<std::uint64_t>(kind) << 32 | number;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void DescriptorSet::remove(int fd) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

int DescriptorSet::wait(std::span<epoll_event> ready, int timeout_ms) const {
    return ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), timeout_ms);
}

ReadyDescriptor DescriptorSet::described(const epoll_event& ready) {
    const std::uint64_t data = ready.data.u64;
    return {static_cast<DescriptorKind>(data >> 32), static_cast<std::uint32_t>(data)};
}

}  // namespace anyperf::broker
