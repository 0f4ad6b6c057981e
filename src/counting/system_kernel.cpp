// system_kernel.cpp: counting::Kernel by real system calls. An error is returned as a negated errno, because a later
// call could overwrite errno before the caller reads it.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "anyperf/kernel.h"
#include "host/hardware/cpus.h"
#include "host/root.h"

namespace anyperf::counting {

namespace {

class SystemKernel final : public Kernel {
  public:
    int open(const abi::Attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) override {
        const long fd = ::syscall(SYS_perf_event_open, &attr, pid, cpu, group_fd, flags);
        return fd < 0 ? -errno : static_cast<int>(fd);
    }

    ssize_t read(int fd, void* buffer, std::size_t bytes) override {
        const ssize_t got = ::read(fd, buffer, bytes);
        return got < 0 ? -errno : got;
    }

    int ioctl(int fd, unsigned long request, unsigned long argument) override {
        return ::ioctl(fd, request, argument) < 0 ? -errno : 0;
    }

    const void* map_page(int fd) override {
        void* page = ::mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
        return page == MAP_FAILED ? nullptr : page;
    }

    void unmap_page(const void* page) override { ::munmap(const_cast<void*>(page), page_bytes()); }

    void close(int fd) override { ::close(fd); }

    int open_directory(const std::string& path) override {
        const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }

    std::vector<pid_t> threads_of(pid_t process) override {
        std::vector<pid_t> tids;
        for (const auto& name : host::Root{}.list("/proc/" + std::to_string(process) + "/task")) {
            pid_t tid = 0;
            std::from_chars(name.data(), name.data() + name.size(), tid);
            tids.push_back(tid);
        }
        std::ranges::sort(tids);
        return tids;
    }

    std::vector<int> online_cpus() override {
        // Without sysfs, assume that CPU 0 is the only one.
        return host::online_cpus(host::Root{}).value_or(std::vector<int>{0});
    }

  private:
    static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
};

}  // namespace

Kernel& system_kernel() {
    static SystemKernel kernel;
    return kernel;
}

}  // namespace anyperf::counting
