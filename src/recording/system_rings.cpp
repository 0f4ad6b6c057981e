// system_rings.cpp: rings of the kernel. One epoll set reports all of them. It is edge-triggered: the event of a task
// that has ended stays ready (EPOLLHUP) as long as it is open, and it must stay open because other events may still
// write to its ring. A level-triggered set would never let the recorder sleep again.
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "recording/ring_source.h"

namespace anyperf::recording {

namespace {

class SystemRings final : public RingSource {
  public:
    SystemRings() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
    ~SystemRings() override {
        if (epoll_ >= 0) ::close(epoll_);
    }
    SystemRings(const SystemRings&) = delete;
    SystemRings& operator=(const SystemRings&) = delete;

    counting::Kernel& kernel() override { return counting::system_kernel(); }
    Ring::Writer writer() const override { return Ring::Writer::kernel; }

    std::expected<std::span<std::byte>, int> map(int event, std::size_t bytes, bool overwrite) override {
        const int protection = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
        void* const memory = ::mmap(nullptr, bytes, protection, MAP_SHARED, event, 0);
        if (memory == MAP_FAILED) return std::unexpected(-errno);
        epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {.fd = event}};
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, event, &wanted);
        return std::span{static_cast<std::byte*>(memory), bytes};
    }

    void unmap(int event, std::span<std::byte> memory) override {
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, event, nullptr);
        ::munmap(memory.data(), memory.size());
    }

    int wake_fd() override { return epoll_; }

    void clear_wake() override {
        std::array<epoll_event, 64> ready{};
        while (::epoll_wait(epoll_, ready.data(), ready.size(), 0) == static_cast<int>(ready.size())) {
        }
    }

  private:
    int epoll_;
};

}  // namespace

std::unique_ptr<RingSource> system_rings() {
    return std::make_unique<SystemRings>();
}

}  // namespace anyperf::recording
