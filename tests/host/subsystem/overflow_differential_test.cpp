// overflow_differential_test.cpp: overflows of the subsystem equal those of the running kernel, which is the oracle.
// EventPair get the same enables, disables, refreshes, new periods and page faults in random order; after every step
// the number of samples and the count must be equal. A context switch restarts an event's period in the kernel, so the
// test needs a thread that is not preempted.
#include <gtest/gtest.h>
#include <sched.h>

#include <random>
#include <string>

#include "host/subsystem/fault_event.h"
#include "subsystem/shared/overflow.h"
#include "subsystem/shared/page_values.h"

namespace anyperf::subsystem {
namespace {

/// The same event in the kernel and in the subsystem.
class EventPair {
  public:
    EventPair(std::mt19937_64& random, const perf_event_attr& attr) : random_(random), kernels_(attr) {
        ours_.source.kind = Source::Kind::page_faults;
        ours_.shape.sample_type = attr.sample_type;
        ours_.period = attr.sample_period;
        ours_.sampling = 1;
        ours_.period_left = first_period(ours_);
        record_bytes_ = attr.sample_type == 0 ? 8 : 16;
        log_ = "period " + std::to_string(attr.sample_period);
    }

    bool open() { return kernels_.open() && kernels_.map(64, true); }

    void step() {
        switch (random_() % 6) {
            case 0: return enable();
            case 1: return disable();
            case 2: return change(1 + random_() % 12);
            case 3: return refresh(1 + random_() % 3);
            default: return fault(1 + random_() % 20);
        }
    }

    void compare() {
        EXPECT_EQ(kernels_.header().data_head / record_bytes_, samples_) << log_;
        EXPECT_EQ(kernels_.count(), count_at(ours_, value_)) << log_;
    }

  private:
    void set(EventState state) {
        if (ours_.state != state) change_state(ours_, state, value_, 0);
    }
    void enable() {
        log_ += " enable";
        kernels_.enable();
        set(EventState::counting);
    }
    void disable() {
        log_ += " disable";
        kernels_.disable();
        set(EventState::off);
    }
    void change(std::uint64_t period) {
        log_ += " period " + std::to_string(period);
        ::ioctl(kernels_.fd(), PERF_EVENT_IOC_PERIOD, &period);
        change_period(ours_, value_, period);
    }
    void refresh(std::uint64_t overflows) {
        log_ += " refresh " + std::to_string(overflows);
        ::ioctl(kernels_.fd(), PERF_EVENT_IOC_REFRESH, overflows);
        ours_.limit += static_cast<std::int64_t>(overflows);
        set(EventState::counting);
    }
    void fault(std::uint64_t faults) {
        log_ += " fault " + std::to_string(faults);
        for (std::uint64_t i = 0; i < faults; ++i) pages_.touch();
        for (std::uint64_t i = 0; i < faults; ++i) {
            ++value_;
            while (overflow_due(ours_, value_)) {
                ++samples_;
                if (take_overflow(ours_, value_, 1, 0).disable) set(EventState::off);
            }
        }
    }

    std::mt19937_64& random_;
    testing::FaultEvent kernels_;
    EventPage ours_;
    testing::FreshPages pages_;
    std::uint64_t value_ = 0;
    std::uint64_t samples_ = 0;
    std::uint64_t record_bytes_;
    std::string log_;
};

/// Gives this thread the highest real-time priority on one CPU for the lifetime of the object.
class Unpreempted {
  public:
    Unpreempted() {
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &here);
        ::sched_getaffinity(0, sizeof before_, &before_);
        ::sched_setaffinity(0, sizeof here, &here);
        const sched_param first{.sched_priority = 99};
        granted_ = ::sched_setscheduler(0, SCHED_FIFO, &first) == 0;
    }
    ~Unpreempted() {
        const sched_param ordinary{.sched_priority = 0};
        ::sched_setscheduler(0, SCHED_OTHER, &ordinary);
        ::sched_setaffinity(0, sizeof before_, &before_);
    }
    Unpreempted(const Unpreempted&) = delete;
    Unpreempted& operator=(const Unpreempted&) = delete;
    bool granted() const { return granted_; }

  private:
    cpu_set_t before_;
    bool granted_;
};

TEST(Overflows, EqualTheKernelsAfterEveryStep) {
    const Unpreempted thread;
    if (!thread.granted()) GTEST_SKIP() << "needs SCHED_FIFO: " << std::strerror(errno);
    std::mt19937_64 random{7};
    for (int events = 0; events < 100 && !HasFailure(); ++events) {
        perf_event_attr attr = testing::page_faults();
        attr.sample_period = 1 + random() % 12;
        if (random() % 5 == 0) attr.sample_type = PERF_SAMPLE_PERIOD;
        EventPair both{random, attr};
        if (!both.open()) GTEST_SKIP() << "no page-fault events with rings here: " << std::strerror(errno);
        for (int steps = 0; steps < 12 && !HasFailure(); ++steps) {
            both.step();
            both.compare();
        }
    }
}

}  // namespace
}  // namespace anyperf::subsystem
