// models_page_test.cpp: the table of costs in docs/models.md is the one that the cost model uses.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "pmu/cpu/cost_model.h"

namespace anyperf::pmu {
namespace {

TEST(ModelsPage, ListsEachCostOfTheModel) {
    std::stringstream page;
    page << std::ifstream{ANYPERF_SOURCE_DIR "/docs/models.md"}.rdbuf();
    for (const CostRow& row : kCosts) {
        const auto& of = engine::x86_64::kClasses[static_cast<std::size_t>(row.instruction_class)];
        const double cycles = static_cast<double>(row.cost) / (1u << kCostShift);
        EXPECT_THAT(page.str(), ::testing::HasSubstr(fmt::format("| {} | {} | {} |\n", of.name, cycles, row.reason)));
    }
}

}  // namespace
}  // namespace anyperf::pmu
