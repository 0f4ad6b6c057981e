#include "recording/parallel_drain.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "try.h"

namespace anyperf::recording {

namespace {

constexpr int kLongestWaitMs = 100;  // rings of rare events never reach their watermark

Error no_thread(int errno_value) {
    return {"cannot start the threads of --threads", std::generic_category().message(errno_value),
            "give --threads=package, or leave it out"};
}

/// Memory that a thread of the CPUs uses is near to them. A CPU that is not allowed (by a cgroup) is left out by the
/// kernel; if none is left, the thread runs anywhere.
void run_on(const std::vector<int>& cpus) {
    if (cpus.empty()) return;
    const auto most = static_cast<std::size_t>(std::ranges::max(cpus)) + 1;
    cpu_set_t* const set = CPU_ALLOC(most);
    if (set == nullptr) return;
    const std::size_t size = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(size, set);
    for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
    ::sched_setaffinity(0, size, set);
    CPU_FREE(set);
}

}  // namespace

Result<std::unique_ptr<ParallelDrain>> ParallelDrain::start(OpenSet& events, Options options) {
    std::unique_ptr<ParallelDrain> drain{new ParallelDrain};
    drain->noted_bytes_ = options.noted_bytes;
    TRY(drain->open_channels(events, options));
    TRY(drain->prepare_waiting());
    for (Worker& worker : drain->workers_) {
        try {
            worker.thread = std::thread{[&drain = *drain, &worker] { drain.run(worker); }};
        } catch (const std::system_error& error) {
            return std::unexpected(no_thread(error.code().value()));
        }
    }
    return drain;
}

// Samples of one ring are in the order of time, and other files have other rings: marks of rounds would say nothing.
Result<void> ParallelDrain::open_channels(OpenSet& events, const Options& options) {
    workers_.resize(options.threads.size());
    const auto places = events.ring_places();
    for (std::size_t ring = 0; ring < places.size(); ++ring) {
        const auto has_ring = [&](const DrainThread& each) {
            return std::ranges::find(each.rings, places[ring].cpu) != each.rings.end();
        };
        const auto of = std::ranges::find_if(options.threads, has_ring);
        if (of == options.threads.end()) continue;
        Worker& worker = workers_[static_cast<std::size_t>(of - options.threads.begin())];
        worker.affinity = of->affinity;
        auto output = TRY(perfdata::RecordOutput::create(fmt::format("{}/data.{}", options.directory, ring)));
        if (options.compression) output.compress(*options.compression);
        worker.channels.push_back(std::make_unique<Channel>(events.rings()[ring], places[ring].fd, std::move(output),
                                                            events.events().front().event.attr));
        worker.channels.back()->drain.leave_rounds_open();
    }
    std::erase_if(workers_, [](const Worker& worker) { return worker.channels.empty(); });
    return {};
}

// As in system_rings.cpp, the sets are edge-triggered, because the event of a task that has ended stays ready.
Result<void> ParallelDrain::prepare_waiting() {
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    end_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0 || end_ < 0) return std::unexpected(no_thread(errno));
    for (Worker& worker : workers_) {
        worker.epoll = ::epoll_create1(EPOLL_CLOEXEC);
        if (worker.epoll < 0) return std::unexpected(no_thread(errno));
        epoll_event end{.events = EPOLLIN, .data = {.fd = end_}};
        ::epoll_ctl(worker.epoll, EPOLL_CTL_ADD, end_, &end);
        for (const auto& channel : worker.channels) {
            epoll_event full{.events = EPOLLIN | EPOLLET, .data = {.fd = channel->fd}};
            ::epoll_ctl(worker.epoll, EPOLL_CTL_ADD, channel->fd, &full);
        }
    }
    return {};
}

ParallelDrain::~ParallelDrain() {
    if (!ending_) stop();
    for (const Worker& worker : workers_)
        if (worker.epoll >= 0) ::close(worker.epoll);
    for (const int fd : {wake_, end_})
        if (fd >= 0) ::close(fd);
}

// What the rings have when `ending_` is seen is all that there will be, but for records of the events that track.
void ParallelDrain::run(Worker& worker) {
    run_on(worker.affinity);
    for (;;) {
        const bool last = ending_.load(std::memory_order_acquire);
        for (const auto& channel : worker.channels) empty(*channel, last);
        if (last) return;
        std::array<epoll_event, 64> ready{};
        ::epoll_wait(worker.epoll, ready.data(), ready.size(), kLongestWaitMs);
    }
}

void ParallelDrain::empty(Channel& channel, bool last) {
    const std::span<Ring> rings{&channel.ring, 1};
    auto written = last ? channel.drain.rest(rings) : channel.drain.round(rings);
    if (last) {
        const auto ended = channel.output.end();
        if (written && !ended) written = std::unexpected(ended.error());
    }
    note_progress(channel);
    if (!written) note_failure(written.error());
}

void ParallelDrain::note_failure(const Error& error) {
    {
        const std::scoped_lock lock{mutex_};
        if (failure_) return;
        failure_ = error;
    }
    wake();
}

void ParallelDrain::note_progress(Channel& channel) {
    const std::uint64_t more =
        channel.output.data_bytes() - std::exchange(channel.seen_bytes, channel.output.data_bytes());
    const std::uint64_t before = bytes_.fetch_add(more, std::memory_order_relaxed);
    if (noted_bytes_ != 0 && before / noted_bytes_ != (before + more) / noted_bytes_) wake();
}

void ParallelDrain::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(wake_, &one, sizeof one);
}

void ParallelDrain::clear_wake() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_, &count, sizeof count);
}

void ParallelDrain::stop() {
    ending_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    if (end_ >= 0) [[maybe_unused]]
        const ssize_t put = ::write(end_, &one, sizeof one);
    for (Worker& worker : workers_)
        if (worker.thread.joinable()) worker.thread.join();
}

void ParallelDrain::add_counts_to(Drain& drain) const {
    for (const Worker& worker : workers_)
        for (const auto& channel : worker.channels) drain.add_counts(channel->drain);
}

std::uint64_t ParallelDrain::plain_bytes() const {
    std::uint64_t bytes = 0;
    for (const Worker& worker : workers_)
        for (const auto& channel : worker.channels) bytes += channel->output.plain_bytes();
    return bytes;
}

std::uint64_t ParallelDrain::dropped_bytes() const {
    std::uint64_t bytes = 0;
    for (const Worker& worker : workers_)
        for (const auto& channel : worker.channels) bytes += channel->output.dropped_bytes();
    return bytes;
}

std::optional<Error> ParallelDrain::failure() const {
    const std::scoped_lock lock{mutex_};
    return failure_;
}

}  // namespace anyperf::recording
