// open_many.cpp: the time to open 1,000 events on 4 threads at once, by Counter::open and by bare perf_event_open(2).
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "anyperf/counter.h"

namespace {

constexpr int kThreads = 4;
constexpr int kEach = 250;
constexpr int kRounds = 10;

/// The time until all threads have finished `work`.
template <class Work>
double milliseconds_of(Work work) {
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
    }
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const auto groups = anyperf::events::parse(anyperf::events::Machine::read(), "page-faults:u");
    if (!groups) return fmt::print(stderr, "{}\n", groups.error().cause), 125;
    const auto& event = groups->front().events.front();
    auto bare = anyperf::events::attr_to_open(event);
    bare.read_format = 0b11011;  // as Counter::open: all bits but ID
    bare.flags |= 1;             // disabled, as those of Counter::open
    double theirs = std::numeric_limits<double>::max();
    double ours = theirs;
    for (int round = 0; round < kRounds; ++round) {
        theirs = std::min(theirs, milliseconds_of([&] {
                              std::vector<long> fds;
                              for (int i = 0; i < kEach; ++i)
                                  fds.push_back(::syscall(SYS_perf_event_open, &bare, 0, -1, -1, 8));
                              for (const long fd : fds) ::close(static_cast<int>(fd));
                          }));
        ours = std::min(ours, milliseconds_of([&] {
                            std::vector<anyperf::counting::Counter> counters;
                            for (int i = 0; i < kEach; ++i) {
                                auto counter = anyperf::counting::Counter::open(event);
                                if (!counter) std::abort();
                                counters.push_back(std::move(*counter));
                            }
                        }));
    }
    fmt::print("1,000 events on 4 threads: perf_event_open(2) {:.1f} ms, Counter::open {:.1f} ms, ratio {:.2f}\n",
               theirs, ours, ours / theirs);
    return 0;
}
