// group_read.cpp: the overhead of Group::read over read(2) of the same descriptor, for a group of 8. Both are measured
// alternately, and each result is the minimum of many rounds, because noise only adds.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "anyperf/group.h"

namespace {

using anyperf::counting::Count;
using anyperf::counting::Group;

constexpr int kReads = 200;  // short, so that some rounds are not preempted
constexpr int kRounds = 2000;

template <class Read>
double ns_per_read(Read read) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kReads; ++i) read();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kReads;
}

}  // namespace

int main() {
    const auto groups = anyperf::events::parse(anyperf::events::Machine::read(),
                                               "{page-faults:u,minor-faults:u,major-faults:u,alignment-faults:u,"
                                               "emulation-faults:u,dummy:u,task-clock:u,cpu-clock:u}");
    if (!groups) return fmt::print(stderr, "{}\n", groups.error().cause), 125;
    auto group = Group::open(groups->front(), {}, {.start = anyperf::counting::Start::enabled});
    if (!group) return fmt::print(stderr, "{}\n", group.error().cause), 125;
    std::array<std::uint64_t, 64> raw{};
    std::array<Count, 8> counts;
    double theirs = std::numeric_limits<double>::max();
    double ours = theirs;
    for (int round = 0; round < kRounds; ++round) {
        theirs = std::min(theirs, ns_per_read([&] {
                              if (::read(group->fd(0), raw.data(), sizeof raw) < 0) std::abort();
                          }));
        ours = std::min(ours, ns_per_read([&] {
                            if (!group->read(counts)) std::abort();
                        }));
    }
    fmt::print(
        "group of 8: read(2) {:.0f} ns, Group::read {:.0f} ns, {:.2f} M reads/s, ratio {:.3f} (aim: at most 1.1)\n",
        theirs, ours, 1e3 / ours, ours / theirs);
    return 0;
}
