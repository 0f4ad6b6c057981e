// ring_differential_test.cpp: the subsystem's ring equals that of the running kernel, which is the oracle. Two events
// with different records share each ring, and both rings get the same random operations; after every step the data, the
// head and the wake-ups must be equal.
#include <gtest/gtest.h>
#include <poll.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "abi/attr_flags.h"
#include "host/subsystem/fault_event.h"
#include "subsystem/shared/sample.h"

namespace anyperf::subsystem {
namespace {

using testing::FaultEvent;

/// The same ring in the kernel and in the subsystem.
class RingPair {
  public:
    explicit RingPair(std::mt19937_64& random) : random_(random) {
        attr_.write_backward = one_in(3);
        overwrite_ = one_in(3);
        attr_.watermark = one_in(2);
        attr_.wakeup_events = static_cast<std::uint32_t>(attr_.watermark ? below(one_in(2) ? 200 : 9000) : below(5));
        attr_.sample_id_all = one_in(2);
        pages_ = 1u << below(3);
        memory_.resize(std::size_t{512} * (1 + pages_));
        page_.pages = pages_;
        ring_ = {&page_, reinterpret_cast<std::byte*>(memory_.data()), std::uint64_t{pages_} * 4096};
        start_ring(ring_, {.pages = pages_,
                           .watermark = attr_.watermark ? attr_.wakeup_watermark : 0,
                           .overwrite = overwrite_,
                           .backward = attr_.write_backward != 0});
    }

    bool open() {
        for (unsigned i = 0; i < 2; ++i) {
            attr_.sample_type = i == 0 ? 0 : PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_DATA_SRC;
            if (one_in(2)) attr_.sample_type |= PERF_SAMPLE_ID;
            kernels_[i] = std::make_unique<FaultEvent>(attr_);
            if (!kernels_[i]->open()) return false;
            EventPage& page = ours_[i];
            page.id = page.stream_id = kernels_[i]->id();
            page.shape.sample_type = attr_.sample_type;
            page.shape.wakeup = attr_.wakeup_events;
            page.shape.flags =
                (attr_.watermark ? abi::flag("watermark") : 0) | (attr_.sample_id_all ? abi::flag("sample_id_all") : 0);
        }
        return kernels_[0]->map(pages_, !overwrite_) &&
               ::ioctl(kernels_[1]->fd(), PERF_EVENT_IOC_SET_OUTPUT, kernels_[0]->fd()) == 0;
    }

    void step() {
        switch (below(8)) {
            case 5: return move_tail();
            case 6: return pause();
            case 7: return poll();
            default: return write(below(2), 1 + below(one_in(4) ? 4 : 60));
        }
    }

    void compare() {
        ASSERT_EQ(kernels_[0]->header().data_head, ring_.header().data_head) << log_;
        ASSERT_EQ(std::memcmp(kernels_[0]->data(), ring_.data(), ring_.bytes()), 0) << log_;
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    void write(std::size_t which, std::uint64_t records) {
        log_ += " write " + std::to_string(records) + " of " + std::to_string(which);
        kernels_[which]->enable();
        for (std::uint64_t i = 0; i < records; ++i) pages_to_touch_.touch();
        kernels_[which]->disable();
        for (std::uint64_t i = 0; i < records; ++i) write_sample(ring_, ours_[which], {});
    }

    void move_tail() {
        if (overwrite_) return;
        abi::MmapPage& header = kernels_[0]->header();
        const auto unread = static_cast<std::int64_t>(header.data_head - header.data_tail);
        const std::int64_t part = one_in(4) ? unread : unread / 16 * 8;
        header.data_tail += static_cast<std::uint64_t>(part);
        ring_.header().data_tail = header.data_tail;
        log_ += " tail " + std::to_string(part);
    }

    void pause() {
        const bool paused = one_in(3);
        ::ioctl(kernels_[0]->fd(), PERF_EVENT_IOC_PAUSE_OUTPUT, paused ? 1 : 0);
        page_.paused = paused;
        log_ += paused ? " pause" : " go on";
    }

    void poll() {
        log_ += " poll";
        pollfd waiting{kernels_[0]->fd(), POLLIN, 0};
        ::poll(&waiting, 1, 0);
        EXPECT_EQ((waiting.revents & POLLIN) != 0, page_.wake_pending != 0) << log_;
        page_.wake_pending = 0;
    }

    std::mt19937_64& random_;
    perf_event_attr attr_ = testing::page_faults();
    bool overwrite_;
    std::uint32_t pages_;
    std::unique_ptr<FaultEvent> kernels_[2];
    EventPage ours_[2];
    RingPage page_;
    std::vector<std::uint64_t> memory_;
    Ring ring_;
    testing::FreshPages pages_to_touch_;
    std::string log_ = "steps:";
};

TEST(Ring, EqualsTheKernelsAfterEveryStep) {
    std::mt19937_64 random{11};
    for (int rings = 0; rings < 60; ++rings) {
        RingPair pair{random};
        if (!pair.open()) GTEST_SKIP() << "no page-fault events with rings here: " << std::strerror(errno);
        for (int steps = 0; steps < 50 && !HasFailure(); ++steps) {
            pair.step();
            pair.compare();
        }
    }
}

}  // namespace
}  // namespace anyperf::subsystem
