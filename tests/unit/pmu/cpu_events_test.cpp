// cpu_events_test.cpp: the virtual PMU's event codes are those of the catalog, for each CPU that a run can present.
#include "pmu/cpu/cpu_events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "anyperf/event_names.h"
#include "pmu/cpu/cpu_models.h"
#include "pmu/cpu/cpu_pmu.h"

namespace anyperf::pmu {
namespace {

TEST(RawEvents, MatchTheCatalog) {
    const auto names = events::EventNames::read("/nonexistent");
    for (const CpuModelRow& model : kCpuModels) {
        if (model.identity == nullptr || model.level != 0) continue;  // a level has the events of one of the others
        for (const RawRow& row : kRawEvents) {
            if (row.name.ends_with("(fixed)") || row.name.ends_with("_PEBS"))
                continue;  // only Intel's event files have these
            const std::string name = fmt::format("{}::{}", model.name, row.name);
            const auto encoded = names.encode(name);
            ASSERT_TRUE(encoded) << name;
            EXPECT_EQ(encoded->attr.config & kEncodingBits, row.config) << name;
            EXPECT_EQ(quantity_of({.type = 4, .config = encoded->attr.config}), row.quantity) << name;
        }
    }
}

TEST(RawEvents, HaveUniqueCodes) {
    std::set<std::uint64_t> codes;
    for (const RawRow& row : kRawEvents) {
        EXPECT_TRUE(codes.insert(row.config).second) << row.name;
        EXPECT_EQ(row.config & ~kEncodingBits, 0u) << row.name;
    }
}

TEST(GenericEvents, CountWhatTheirRawCodesCount) {
    for (const GenericRow& row : kGenericEvents) {
        if (!row.quantity) continue;
        EXPECT_EQ(quantity_of({.type = 4, .config = row.config}), *row.quantity) << row.name;
    }
    for (const SysfsEventRow& row : kSysfsEvents)
        EXPECT_TRUE(quantity_of({.type = 4, .config = row.config})) << row.name;
}

}  // namespace
}  // namespace anyperf::pmu
