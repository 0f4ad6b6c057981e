// overflow_sequences_test.cpp: calls of a client on a sampling event between its overflows, in any order, lead to the
// same number of overflows and the same count as on Linux 6.18. Each row was measured there with page faults of a task
// that nothing interrupts.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "abi/sample_bits.h"
#include "subsystem/shared/overflow.h"
#include "subsystem/shared/page_values.h"

namespace anyperf::subsystem {
namespace {

struct Sequence {
    std::uint64_t period;
    std::string_view steps;  ///< N: events, +R: REFRESH, =P: PERIOD, on, off
    std::uint64_t overflows;
    std::uint64_t count;
};

constexpr Sequence kSequences[] = {
    {10, "on 3 =4 =11 15", 2, 18},       // the old period continues although it was changed twice
    {1, "on =11 2", 3, 2},               // the first event of a period of 1 is also its last
    {9, "on =1 16", 16, 16},             // with a period of 1 each event is a sample at once
    {10, "on =10 =9 off on 19", 2, 19},  // the new period begins when the event is enabled
    {4, "on 2 =7 off on 3", 0, 5},       //
    {12, "on 15 off =2 on off =1 on 10", 11, 25},
    {2, "on =7 =2 15", 8, 15},
    {5, "=1 on =10 =11 19", 4, 19},
    {3, "=1 on =6 17", 5, 17},
    {10, "16 +3 off +2 =1 +2 off +2 12", 9, 9},  // the limit of REFRESH has run out and disabled the event
    {8, "on off +2 1 =1 off on =2 on 10", 2, 2},
    {6, "2 on +1 +2 =11 off +1 15", 1, 15},
    {12, "2 +3 on off on +1 =1 +3 11", 7, 7},
};

class OverflowSequence : public ::testing::TestWithParam<Source::Kind> {
  protected:
    void start(std::uint64_t period) {
        page = {};
        page.source.kind = GetParam();
        page.sampling = 1;
        page.period = period;
        page.period_left = first_period(page);
        value = overflows = 0;
    }

    void set(EventState state) {
        if (page.state != state) change_state(page, state, value, 0);
    }

    void occur(std::uint64_t events) {
        for (; events > 0; --events) {
            ++value;
            if (GetParam() == Source::Kind::occurrences && page.state == EventState::counting) add_occurrences(page, 1);
            while (overflow_due(page, value)) {
                ++overflows;
                if (take_overflow(page, value, 1, 0).disable) set(EventState::off);
            }
        }
    }

    void step(const std::string& text) {
        if (text == "on") return set(EventState::counting);
        if (text == "off") return set(EventState::off);
        const std::uint64_t number = std::stoull(text.substr(text.find_first_of("0123456789")));
        if (text[0] == '=') return change_period(page, value, number);
        if (text[0] != '+') return occur(number);
        page.limit += static_cast<std::int64_t>(number);
        set(EventState::counting);
    }

    EventPage page;
    std::uint64_t value = 0;
    std::uint64_t overflows = 0;
};

TEST_P(OverflowSequence, EndsAsOnTheKernel) {
    for (const Sequence& row : kSequences) {
        start(row.period);
        std::istringstream steps{std::string{row.steps}};
        for (std::string text; steps >> text;) step(text);
        EXPECT_EQ(overflows, row.overflows) << row.period << ": " << row.steps;
        EXPECT_EQ(count_at(page, value), row.count) << row.period << ": " << row.steps;
    }
}
INSTANTIATE_TEST_SUITE_P(Kinds, OverflowSequence,
                         ::testing::Values(Source::Kind::page_faults, Source::Kind::occurrences));

}  // namespace
}  // namespace anyperf::subsystem
