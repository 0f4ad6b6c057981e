// own_descriptors.cpp: three ranges are tried for a descriptor, because the kernel may refuse each: lowest_number() and
// above, then the highest numbers below the application's limit, then any number. A descriptor keeps its number for the
// life of the process, unless the application wants that number (vacate_descriptor()).
#include "engine/own_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kFirstNumber = 1000;
constexpr std::uint64_t kUsualLimit = 1024;  // the soft limit of most systems; a table up to there is small
constexpr std::uint64_t kRoom = 2048;        // the soft limit that DescriptorRoom tries to set

std::uint64_t number(int fd) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(fd));
}

/// The lowest number for the engine's descriptors, if the limit can be raised.
std::uint64_t lowest_number(std::uint64_t limit) {
    return limit > kFirstNumber && limit <= kUsualLimit ? kUsualLimit : kFirstNumber;
}

/// Copies the descriptor to a number for the engine's descriptors. A negated errno if no number is free.
long duplicate(int fd, std::uint64_t limit) {
    const std::uint64_t highest_inside = limit - std::min<std::uint64_t>(limit, kOwnDescriptors.size());
    for (const std::uint64_t lowest : {lowest_number(limit), highest_inside, std::uint64_t{0}}) {
        const long got = kernel_call(__NR_fcntl, number(fd), F_DUPFD_CLOEXEC, lowest);
        if (!is_error(got)) return got;
    }
    return -EMFILE;
}

/// Moves the descriptor to another number. False if none is free.
bool move(int& fd, std::uint64_t limit) {
    const long got = duplicate(fd, limit);
    if (is_error(got)) return false;
    kernel_call(__NR_close, number(fd));
    fd = static_cast<int>(got);
    return true;
}

}  // namespace

DescriptorRoom::DescriptorRoom(Engine& engine) : engine_(engine) {
    engine.cache.lock.lock();
    kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, address_of(&before_));
    if (before_.soft >= kRoom) return;
    // The kernel lets a process exceed its hard limit only with CAP_SYS_RESOURCE.
    raised_ = set({kRoom, std::max(before_.hard, kRoom)}) || set({before_.hard, before_.hard});
}

DescriptorRoom::~DescriptorRoom() {
    if (raised_) set(before_);
    engine_.cache.lock.unlock();
}

bool DescriptorRoom::set(const Limit& limit) {
    return !is_error(kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, address_of(&limit)));
}

bool is_engine_descriptor(const Engine& engine, std::uint64_t fd) {
    // The kernel takes a descriptor from the low 32 bits of a register.
    const auto wanted = static_cast<std::int32_t>(fd);
    return wanted >= 0 && std::ranges::any_of(kOwnDescriptors, [&](auto member) { return engine.*member == wanted; });
}

void make_spares(Engine& engine) {
    constexpr std::uint64_t kLargeTable = 4096;  // with such a limit no program fills its table by mistake
    constexpr std::uint64_t kSmallTable = 32;    // with such a limit the program needs every number
    struct {
        std::uint64_t soft, hard;
    } limit{};
    kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, address_of(&limit));
    if (limit.hard > kLargeTable || limit.hard < kSmallTable || engine.engine_fd < 0) return;
    for (int Engine::* const member : {&Engine::spare_fd, &Engine::other_spare_fd}) {
        if (engine.*member >= 0) continue;
        const long got = duplicate(engine.engine_fd, limit.soft);
        engine.*member = is_error(got) ? -1 : static_cast<int>(got);
    }
}

void free_spares(Engine& engine) {
    for (int Engine::* const member : {&Engine::spare_fd, &Engine::other_spare_fd}) {
        if (engine.*member >= 0) kernel_call(__NR_close, number(engine.*member));
        engine.*member = -1;
    }
}

void hide_descriptors(Engine& engine) {
    const DescriptorRoom room{engine};
    for (int Engine::* const member : kOwnDescriptors) {
        // A descriptor that already has its number was inherited over an exec. It only gets FD_CLOEXEC again.
        int& fd = engine.*member;
        const bool placed = number(fd) >= std::min(kFirstNumber, room.application_limit());
        if (fd >= 0 && (placed || !move(fd, room.application_limit())))
            kernel_call(__NR_fcntl, number(fd), F_SETFD, FD_CLOEXEC);
    }
}

bool vacate_descriptor(Engine& engine, std::uint64_t fd) {
    for (int Engine::* const member : kOwnDescriptors) {
        if (engine.*member < 0 || engine.*member != static_cast<std::int32_t>(fd)) continue;
        const DescriptorRoom room{engine};
        return move(engine.*member, room.application_limit());
    }
    return true;
}

void keep_descriptors_over_exec(const Engine& engine, bool keep) {
    for (int Engine::* const member : {&Engine::facts_fd, &Engine::run_fd, &Engine::broker_fd, &Engine::engine_fd})
        if (engine.*member >= 0) kernel_call(__NR_fcntl, number(engine.*member), F_SETFD, keep ? 0 : FD_CLOEXEC);
}

}  // namespace anyperf::engine
