#include "symbols/kallsyms_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace anyperf;

class KallsymsCacheTest : public testing::Test {
  protected:
    KallsymsCacheTest() { std::filesystem::create_directories(directory_); }
    ~KallsymsCacheTest() override { std::filesystem::remove_all(directory_); }

    std::string write(const std::string& name, const std::string& text) const {
        const std::string path = directory_ + "/" + name;
        std::ofstream{path} << text;
        return path;
    }
    static symbols::SymbolTable table() {
        symbols::SymbolTable made;
        made.add(0x1000, 0, "first", {});
        made.add(0x2000, 16, "second", {});
        made.finish();
        return made;
    }

    std::string directory_ = testing::TempDir() + "kallsyms_cache." + std::to_string(getpid());
    std::string path_ = directory_ + "/below/kallsyms";
};

TEST_F(KallsymsCacheTest, GivesBackWhatWasWrittenWithTheSameState) {
    symbols::write_kallsyms_cache(path_, "state", table());
    const auto read = symbols::read_kallsyms_cache(path_, "state");
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 2);
    EXPECT_EQ(read->name(*read->find(0x1fff)), "first");
    EXPECT_EQ(read->name(*read->find(0x200f)), "second");
    EXPECT_EQ(read->find(0x2010), nullptr);
    EXPECT_FALSE(symbols::read_kallsyms_cache(path_, "other"));
    EXPECT_FALSE(symbols::read_kallsyms_cache(path_, "state2"));
    struct stat about{};
    ASSERT_EQ(stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600);
}

TEST_F(KallsymsCacheTest, DamagedFilesAreNoCache) {
    symbols::write_kallsyms_cache(path_, "state", table());
    std::ifstream file{path_, std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{file}, {}};
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::ofstream{path_, std::ios::binary | std::ios::trunc} << whole.substr(0, size);
        EXPECT_FALSE(symbols::read_kallsyms_cache(path_, "state")) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0xff);
        std::ofstream{path_, std::ios::binary | std::ios::trunc} << changed;
        // Any table will do, as long as its names can be read.
        const auto read = symbols::read_kallsyms_cache(path_, "state");
        if (!read) continue;
        for (const symbols::Symbol& each : *read) EXPECT_LE(read->name(each).size(), whole.size());
    }
}

TEST_F(KallsymsCacheTest, TheStateIsOfTheBootAndTheModules) {
    const std::string boot = write("boot_id", "b-1\n");
    const auto state = [&](const std::string& modules) {
        return symbols::kernel_state(boot, write("modules", modules));
    };
    EXPECT_EQ(state("a 4096 0 - Live 0xffff1000\n"), state("a 4096 3 b,c Live 0xffff1000\n"));
    EXPECT_NE(state("a 4096 0 - Live 0xffff1000\n"), state("a 4096 0 - Live 0xffff2000\n"));
    EXPECT_NE(state("a 4096 0 - Live 0xffff1000\n"), state(""));
    EXPECT_EQ(symbols::kernel_state(directory_ + "/nothing", boot), "");
    EXPECT_EQ(symbols::kernel_state(boot, directory_ + "/nothing"), "b-1");  // a kernel without modules
}

}  // namespace
