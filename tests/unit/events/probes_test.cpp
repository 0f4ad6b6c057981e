// probes_test.cpp: event strings of uprobes and kprobes. The probed program is this test itself.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "events/sources/elf_functions.h"
#include "machines.h"

/// The tests look it up by name in this program's own symbol table.
extern "C" [[gnu::noinline]] int anyperf_probe_me(int value);
extern "C" int anyperf_probe_me(int value) {
    return value + 1;
}
namespace anyperf_probe {
[[gnu::noinline]] int in_a_namespace(int value) {
    return anyperf_probe_me(value) + 1;
}
}  // namespace anyperf_probe

namespace anyperf::events {
namespace {

using testing::HasSubstr;

std::string own_path() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

/// Whether the file has the code of `function` at `offset`: compares its first bytes with those in memory.
bool is_at(std::uint64_t offset, const void* function) {
    std::array<char, 4> code{};
    std::ifstream file{own_path(), std::ios::binary};
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(code.data(), code.size());
    return std::memcmp(code.data(), function, code.size()) == 0;
}

/// Probes name real files, so these tests use this machine. They are skipped if it has no uprobe PMU.
class Uprobes : public testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type"))
            GTEST_SKIP() << "this kernel has no uprobe PMU";
    }
    const Machine here = Machine::read();
};

TEST_F(Uprobes, FindTheFileOffsetOfAFunction) {
    EXPECT_EQ(anyperf_probe::in_a_namespace(1), 3);
    const Event event = event_of(here, "uprobe:" + own_path() + ":anyperf_probe_me:u");
    EXPECT_EQ(event.config1_text, own_path());
    EXPECT_EQ(event.attr.config, 0);
    EXPECT_TRUE(is_at(event.attr.config2, reinterpret_cast<const void*>(&anyperf_probe_me)));
    EXPECT_EQ(event_of(here, "uprobe:" + own_path() + ":anyperf_probe_me+0x4").attr.config2, event.attr.config2 + 4);
    EXPECT_EQ(event_of(here, "uprobe/path=" + own_path() + ",symbol=anyperf_probe_me/").attr.config2,
              event.attr.config2);
}

TEST_F(Uprobes, AcceptAPathRelativeToTheWorkingDirectory) {
    const std::string relative = std::filesystem::relative(own_path()).string();
    const Event event = event_of(here, "uprobe:" + relative + ":anyperf_probe_me");
    EXPECT_EQ(event.config1_text, relative);
    EXPECT_TRUE(is_at(event.attr.config2, reinterpret_cast<const void*>(&anyperf_probe_me)));
}

TEST_F(Uprobes, FindAFunctionByItsDemangledName) {
    const Event event = event_of(here, "uprobe:" + own_path() + ":anyperf_probe::in_a_namespace:u");
    EXPECT_TRUE(is_at(event.attr.config2, reinterpret_cast<const void*>(&anyperf_probe::in_a_namespace)));
    EXPECT_NE(event.attr.flags, 0);
}

TEST_F(Uprobes, AcceptOffsetsReturnsAndReferenceCounters) {
    const Event event = event_of(here, "uprobe/path=/bin/true,offset=0x1234,retprobe,ref_ctr_offset=5/u");
    EXPECT_EQ(event.attr.config, 0x500000001);
    EXPECT_EQ(event.attr.config2, 0x1234);
    EXPECT_EQ(event.config1_text, "/bin/true");
    EXPECT_EQ(event_of(here, "uretprobe:/bin/true:0x1234").attr.config, 1);
    EXPECT_EQ(event_of(here, "uprobe/offset=0x1234,path=/bin/true/").config1_text, "/bin/true");
    EXPECT_EQ(reinterpret_cast<const char*>(attr_to_open(event).config1), event.config1_text.c_str());
}

TEST_F(Uprobes, ThatMatchNothingAreExplained) {
    EXPECT_THAT(error_of(here, "uprobe:" + own_path() + ":anyperf_prbe_me").fix, HasSubstr("'anyperf_probe_me'"));
    EXPECT_THAT(error_of(here, "uprobe:/nonexistent:main").cause, HasSubstr("No such file or directory"));
    EXPECT_THAT(error_of(here, "uprobe:/dev/null:main").cause, HasSubstr("it is not a regular file"));
    EXPECT_THAT(error_of(here, "uprobe:/etc/hostname:main").cause, HasSubstr("no"));
    EXPECT_EQ(error_of(here, "uprobe:/bin/true").cause, "a uprobe needs a file and a place in it");
    EXPECT_EQ(error_of(here, "uprobe/path=/bin/true/").cause, "a uprobe needs a file and a place in it");
    EXPECT_THAT(error_of(here, "uprobe/path=/bin/true,config1=5/").fix, HasSubstr("write path="));
}

TEST(Kprobes, AcceptAFunctionOrAnAddress) {
    const Machine skylake = machine("intel-skylake-server");
    const Event entry = event_of(skylake, "kprobe:vfs_read+0x10:k");
    EXPECT_EQ(entry.attr.type, 6);
    EXPECT_EQ(entry.config1_text, "vfs_read");
    EXPECT_EQ(entry.attr.config2, 0x10);
    EXPECT_EQ(event_of(skylake, "kretprobe:vfs_read").attr.config, 1);
    EXPECT_EQ(event_of(skylake, "kprobe/addr=0xffffffff81000000/").attr.config2, 0xffffffff81000000);
    EXPECT_EQ(event_of(skylake, "kprobe/func=vfs_read,offset=4/").attr.config2, 4);
    EXPECT_EQ(error_of(machine("amd-zen"), "kprobe:vfs_read").cause, "this kernel has no kprobe PMU");
}

TEST(ElfFunctions, OfThisTestIncludePltSlotsAndItsOwnFunctions) {
    const auto functions = elf_functions(own_path());
    ASSERT_TRUE(functions);
    EXPECT_NE(std::ranges::find(*functions, "anyperf_probe_me", &ElfFunction::name), functions->end());
    EXPECT_TRUE(std::ranges::any_of(*functions, [](const ElfFunction& f) { return f.name.ends_with("@plt"); }));
}

}  // namespace
}  // namespace anyperf::events
