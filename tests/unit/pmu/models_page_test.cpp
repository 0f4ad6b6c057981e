// models_page_test.cpp: docs/models.md names each machine that a run can model.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "models/machines/presets.h"

namespace anyperf::pmu {
namespace {

TEST(ModelsPage, NamesEachMachine) {
    std::stringstream page;
    page << std::ifstream{ANYPERF_SOURCE_DIR "/docs/models.md"}.rdbuf();
    for (const models::Preset& preset : models::presets())
        EXPECT_THAT(page.str(), ::testing::HasSubstr(fmt::format("`{}`", preset.name)));
}

}  // namespace
}  // namespace anyperf::pmu
