// open_rows.cpp: turns rows into cases.
#include "suite/open_rows.h"

#include "suite/expect.h"

namespace conformance {

std::vector<Case> open_cases(std::span<const OpenRow> rows, const Attr& base) {
    std::vector<Case> cases;
    for (const OpenRow& row : rows)
        cases.push_back({row.name, row.statement, row.needs, [row, base] {
                             Call call{.attr = base};
                             row.change(call);
                             want_result("perf_event_open", result_of(call), row.expected);
                         }});
    return cases;
}

}  // namespace conformance
