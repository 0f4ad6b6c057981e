// fake_kernel.h: a kernel made of rules, for tests of which calls counting makes and how it uses the answers. It
// records the calls; an event's count is ten times its descriptor.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "anyperf/event.h"
#include "anyperf/kernel.h"

namespace anyperf::counting {

class FakeKernel final : public Kernel {
  public:
    struct Call {
        abi::Attr attr;
        pid_t pid;
        int cpu;
        int group_fd;
        unsigned long flags;
    };
    struct OpenEvent {
        Call call;
        std::vector<int> members;  ///< of a leader: itself and its siblings
        std::uint64_t value = 0;
    };

    // Set by a test.
    std::function<int(const Call&)> refuses = [](const Call&) { return 0; };  ///< an errno, or 0 to accept
    std::function<std::vector<pid_t>(pid_t)> threads = [](pid_t process) { return std::vector<pid_t>{process}; };
    std::function<bool(const abi::Attr&)> apart = [](const abi::Attr&) { return false; };
    std::vector<int> cpus{0, 1};
    std::uint64_t enabled = 1000;
    std::uint64_t running = 1000;
    int read_errno = 0;
    int directory_errno = 0;
    bool end_of_file = false;
    const void* page = nullptr;

    // Read by a test.
    std::map<int, OpenEvent> events;
    std::vector<Call> calls;
    std::vector<std::pair<int, unsigned long>> ioctls;
    int directories = 0;

    bool is_apart(const abi::Attr& attr) override { return apart(attr); }
    int open(const abi::Attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) override {
        const Call call{attr, pid, cpu, group_fd, flags};
        calls.push_back(call);
        if (const int refused = refuses(call)) return -refused;
        const int fd = next_++;
        events[fd] = {call, {fd}, static_cast<std::uint64_t>(fd) * 10};
        if (group_fd >= 0) events.at(group_fd).members.push_back(fd);
        return fd;
    }

    ssize_t read(int fd, void* buffer, std::size_t bytes) override {
        if (read_errno != 0) return -read_errno;
        if (end_of_file) return 0;
        const auto& event = events.at(fd);
        const std::uint64_t format = event.call.attr.read_format;
        const bool lost = (format & abi::read_format("PERF_FORMAT_LOST")) != 0;
        std::size_t words = 0;
        auto* out = static_cast<std::uint64_t*>(buffer);
        if ((format & abi::read_format("PERF_FORMAT_GROUP")) != 0) {
            out[words++] = event.members.size();
            out[words++] = enabled;
            out[words++] = running;
            for (const int member : event.members) {
                out[words++] = events.at(member).value;
                if (lost) out[words++] = 7;
            }
        } else {
            out[words++] = event.value;
            out[words++] = enabled;
            out[words++] = running;
        }
        return words * 8 > bytes ? -ENOSPC : static_cast<ssize_t>(words * 8);
    }

    int ioctl(int fd, unsigned long request, unsigned long) override {
        ioctls.emplace_back(fd, request);
        return 0;
    }
    const void* map_page(int) override { return page; }
    void unmap_page(const void*) override { page = nullptr; }
    void close(int fd) override {
        if (fd == kDirectory) {
            --directories;
            return;
        }
        events.erase(fd);
    }
    int open_directory(const std::string& path) override {
        if (path.ends_with("absent")) return -ENOENT;
        if (directory_errno != 0) return -directory_errno;
        ++directories;
        return kDirectory;
    }
    std::vector<pid_t> threads_of(pid_t process) override { return threads(process); }
    std::vector<int> online_cpus() override { return cpus; }

    static constexpr int kDirectory = 999;

  private:
    int next_ = 3;
};

inline events::Event event_named(std::string name, std::uint64_t config = 0) {
    events::Event event;
    event.name = event.source_text = std::move(name);
    event.attr.type = 1;
    event.attr.config = config;
    return event;
}

inline events::EventGroup group_of(std::vector<events::Event> events) {
    events::EventGroup group;
    group.braces = events.size() > 1;
    group.events = std::move(events);
    return group;
}

inline bool has_flag(const abi::Attr& attr, std::uint64_t mask) {
    return (attr.flags & mask) != 0;
}

}  // namespace anyperf::counting
