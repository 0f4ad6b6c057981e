// open_rows.h: cases that are one call and its errno, as rows.
#pragma once

#include <span>
#include <vector>

#include "suite/case.h"
#include "suite/event.h"

namespace conformance {

struct OpenRow {
    const char* name;
    const char* statement;
    int expected;  ///< errno, 0 for success
    void (*change)(Call&);
    unsigned needs = kNothing;
};

/// A case a row: the call of `base` on this thread, changed, answers as expected.
std::vector<Case> open_cases(std::span<const OpenRow> rows, const Attr& base);

}  // namespace conformance
