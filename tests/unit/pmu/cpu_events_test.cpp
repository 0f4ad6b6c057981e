// The codes against the catalog of event names: what libpfm's users call skx.
#include "pmu/cpu_events.h"

#include <gtest/gtest.h>

#include <set>

#include "anyperf/event_names.h"
#include "pmu/cpu.h"

namespace anyperf::pmu {
namespace {

TEST(RawEvents, AreThoseOfTheCatalog) {
    const auto names = events::EventNames::read("/nonexistent");
    for (const RawRow& row : kRawEvents) {
        if (row.name.ends_with("(fixed)") || row.name.ends_with("_PEBS")) continue;  // Intel's files alone have these
        const auto encoded = names.encode("skx::" + std::string{row.name});
        ASSERT_TRUE(encoded) << row.name;
        EXPECT_EQ(encoded->attr.config & kEncodingBits, row.config) << row.name;
        EXPECT_EQ(quantity_of({.type = 4, .config = encoded->attr.config}), row.quantity) << row.name;
    }
}

TEST(RawEvents, AreEachThereOnce) {
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
    for (const NamedRow& row : kNamedEvents) EXPECT_TRUE(quantity_of({.type = 4, .config = row.config})) << row.name;
}

}  // namespace
}  // namespace anyperf::pmu
