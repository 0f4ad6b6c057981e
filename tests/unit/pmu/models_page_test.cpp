// docs/models.md repeats the table of costs for its readers; here it is compared with the one that counts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "pmu/cost_model.h"

namespace anyperf::pmu {
namespace {

TEST(ModelsPage, HasEachCostAsItIs) {
    std::stringstream page;
    page << std::ifstream{ANYPERF_SOURCE_DIR "/docs/models.md"}.rdbuf();
    for (const CostRow& row : kCosts) {
        const auto& of = engine::x86_64::kClasses[static_cast<std::size_t>(row.of)];
        const double cycles = static_cast<double>(row.cost) / (1u << kCostShift);
        EXPECT_THAT(page.str(), ::testing::HasSubstr(fmt::format("| {} | {} | {} |\n", of.name, cycles, row.reason)));
    }
}

}  // namespace
}  // namespace anyperf::pmu
