#include "symbols/dwarf/code_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace anyperf;
using symbols::CodeCache;
using symbols::GatheredCode;

class CodeCacheTest : public testing::Test {
  public:
    ~CodeCacheTest() override { std::filesystem::remove_all(directory_); }

  protected:
    /// A function at [begin, begin + 0x100) with a call inlined into its first half.
    static GatheredCode code(std::uint64_t begin, const std::string& name) {
        GatheredCode made;
        made.texts = name + '\0' + "inlined" + '\0';
        made.ranges = {{{begin, begin + 0x100}, 0}};
        made.functions = {{.name = 0, .first = 0, .count = 1, .declared = {1, 10}}};
        made.calls = {{.range = {begin, begin + 0x80},
                       .depth = 1,
                       .name = static_cast<std::uint32_t>(name.size()) + 1,
                       .call = {1, 12},
                       .declared = {2, 3}}};
        return made;
    }
    void write(const std::map<std::uint64_t, GatheredCode>& gathered, const std::optional<CodeCache>& before) const {
        symbols::write_code_cache(path_, "id", ranges_, 2, gathered, before);
    }

    std::string directory_ = testing::TempDir() + "code_cache." + std::to_string(getpid());
    std::string path_ = directory_ + "/code/id";
    std::vector<symbols::UnitRange> ranges_{{{0x1000, 0x1100}, 0}, {{0x2000, 0x2100}, 1}};
};

TEST_F(CodeCacheTest, KeepsTheUnitsOfAllReports) {
    write({{1, code(0x2000, "second")}}, {});
    const auto once = CodeCache::open(path_, "id");
    ASSERT_TRUE(once);
    EXPECT_EQ(once->size(), 2);
    EXPECT_EQ(once->ranges().size(), 2);
    EXPECT_FALSE(once->table(0));
    write({{0, code(0x1000, "first")}}, once);
    const auto twice = CodeCache::open(path_, "id");
    ASSERT_TRUE(twice);
    ASSERT_TRUE(twice->table(0) && twice->table(1));
    EXPECT_FALSE(twice->table(2));
    const auto table = *twice->table(1);
    const auto inner = table.at(0x2010), outer = table.at(0x20f0);
    ASSERT_TRUE(inner && outer);
    ASSERT_EQ(inner->calls.size(), 1);
    EXPECT_EQ(table.text(inner->calls[0]->name), "inlined");
    EXPECT_EQ(inner->calls[0]->call.line, 12);
    EXPECT_TRUE(outer->calls.empty());
    EXPECT_EQ(table.text(outer->function->name), "second");
    EXPECT_FALSE(table.at(0x2100));
}

TEST_F(CodeCacheTest, IsForOneBuildIdAndOneUser) {
    write({{0, code(0x1000, "first")}}, {});
    EXPECT_FALSE(CodeCache::open(path_, "other"));
    struct stat about{};
    ASSERT_EQ(stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600);
}

// Whatever the file has, no lookup leaves it; the sanitizers watch.
TEST_F(CodeCacheTest, DamagedFilesDoNoHarm) {
    write({{0, code(0x1000, "first")}, {1, code(0x2000, "second")}}, {});
    std::ifstream file{path_, std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{file}, {}};
    const auto look = [&](const std::string& bytes) {
        std::ofstream{path_, std::ios::binary | std::ios::trunc} << bytes;
        std::size_t names = 0;
        const auto cache = CodeCache::open(path_, "id");
        for (std::uint64_t unit = 0; cache && unit < 2; ++unit) {
            const auto table = cache->table(unit);
            for (std::uint64_t address = 0; table && address < 0x3000; address += 0x40) {
                const auto active = table->at(address);
                if (!active) continue;
                names += table->text(active->function->name).size();
                for (const auto* call : active->calls) names += table->text(call->name).size();
            }
        }
        return names;
    };
    EXPECT_GT(look(whole), 0);
    for (std::size_t size = 0; size < whole.size(); ++size) look(whole.substr(0, size));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const char bits : {'\x01', '\x80', '\xff'}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ bits);
            look(changed);
        }
}

TEST_F(CodeCacheTest, TheOldestFilesGoFirst) {
    std::filesystem::create_directories(directory_);
    for (const char* name : {"a", "b", "c"}) {
        const std::string path = directory_ + "/" + name;
        std::ofstream{path} << std::string(100, 'x');
        const auto age = std::chrono::hours{name[0] == 'b' ? 3 : 1};
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
    }
    symbols::bound_cache(directory_, 250);
    EXPECT_FALSE(std::filesystem::exists(directory_ + "/b"));
    EXPECT_TRUE(std::filesystem::exists(directory_ + "/a") && std::filesystem::exists(directory_ + "/c"));
}

}  // namespace
