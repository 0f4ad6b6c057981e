// open_rows.h: tables of cases that check the result of one perf_event_open call.
#pragma once

#include <span>
#include <vector>

#include "suite/case.h"
#include "suite/event.h"

namespace conformance {

struct OpenRow {
    const char* name;
    const char* statement;
    int expected;           ///< errno, or 0 for success
    void (*change)(Call&);  ///< applied to the base call
    unsigned needs = kNothing;
};

/// One case for each row: perf_event_open with `base` on this thread, after the row's change, returns the expected
/// result.
std::vector<Case> open_cases(std::span<const OpenRow> rows, const Attr& base);

}  // namespace conformance
