// trace_filter_test.cpp: which filters of tracepoints are valid, and which records they pass. The errnos are those of
// Linux 6.18.
#include "pmu/tracing/trace_filter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using testing::RefusedWith;

const std::vector<TraceField> kFields{
    {"pid_t", "pid", 8, 4, true},           {"unsigned long", "bits", 16, 8, false},
    {"char[16]", "name", 24, 16, false},    {"__data_loc char[]", "file", 40, 4, false},
    {"const char *", "path", 48, 8, false}, {"unsigned long[6]", "args", 56, 48, false}};

struct Record {
    std::array<std::byte, 120> bytes{};

    template <class T>
    void set(std::size_t offset, T value) {
        std::memcpy(bytes.data() + offset, &value, sizeof value);
    }
    void put(std::size_t offset, std::string_view text) {
        std::memcpy(bytes.data() + offset, text.data(), text.size());
    }
};

Record sample_record() {
    Record record;
    record.set(4, 77);  // common_pid
    record.set(8, -5);
    record.set(16, std::uint64_t{1} << 63 | 6);
    record.put(24, "worker");
    record.set(40, std::uint32_t{104 | 9 << 16});
    record.put(104, "/bin/cat");
    record.set(48, std::uint64_t{0x1000});
    return record;
}

std::size_t copy_text(void* to, std::uint64_t address, std::size_t) {
    if (address != 0x1000) return 0;
    std::memcpy(to, "/etc/passwd", 12);
    return 12;
}

bool holds(std::string_view text, const Record& record = sample_record()) {
    const auto filter = parse_filter(text, kFields);
    EXPECT_TRUE(filter) << text;
    return filter && passes(**filter, {record.bytes, "a program", 3, copy_text});
}

TEST(Filter, ComparesNumbersByTheTypeOfTheField) {
    for (const char* const text : {"pid == -5", "pid < 0", "pid <= -5", "pid != 5", "bits > 9223372036854775807",
                                   "bits & 4", "bits & 0x8000000000000000", "pid\xa0== -5\xa0", "common_pid == 0115",
                                   "CPU == 3", "cpu >= 3", "  pid  ==  -5  "})
        EXPECT_TRUE(holds(text)) << text;
    for (const char* const text : {"pid == 5", "pid > 0", "bits < 7", "bits & 8", "CPU != 3", "args == 0", "args != 0"})
        EXPECT_FALSE(holds(text)) << text;
}

TEST(Filter, ComparesTextInEveryKindOfField) {
    for (const char* const text :
         {"name == \"worker\"", "name == 'worker'", "name != 'work'", "file == \"/bin/cat\"", "file ~ \"*/cat\"",
          "comm == \"a program\"", "COMM ~ \"a*\"", "name ~ \"w?rk[a-e]r\"", "name ~ \"!boss\"",
          "path.ustring == \"/etc/passwd\"", "path.ustring ~ \"/etc/*\""})
        EXPECT_TRUE(holds(text)) << text;
    for (const char* const text : {"name == \"work\"", "name ~ \"*k\"", "file != \"/bin/cat\"",
                                   "path == \"/etc/passwd\"", "path != \"/etc/passwd\"", "name ~ \"[!w]*\""})
        EXPECT_FALSE(holds(text)) << text;
}

TEST(Filter, BindsAndTighterThanOrAndNotToTheNextTerm) {
    EXPECT_TRUE(holds("pid == -5 || pid == 1 && pid == 2"));
    EXPECT_FALSE(holds("(pid == -5 || pid == 1) && pid == 2"));
    EXPECT_TRUE(holds("!(pid == 1) && !pid == 2"));
    EXPECT_TRUE(holds("!!pid == -5"));
    EXPECT_FALSE(holds("!(pid == -5 && (bits & 2 || bits & 8))"));
    EXPECT_TRUE(holds("pid == -5 &&")) << "Linux accepts an operator at the end";
}

TEST(Filter, ThatIsInvalidIsRefusedAsByLinux) {
    for (const char* const text :
         {"", "   ", "()", "nothere == 1", "pid = 1", "pid", "pid == x", "name == x", "name == 1", "pid == \"1\"",
          "pid ~ 1", "name < \"a\"", "pid == 08", "bits == -1", "pid == 9223372036854775808", "name.ustring == \"x\"",
          "pid\xc3\xa9 == 1", "\xe9 == 1", "\xff"})
        EXPECT_THAT(parse_filter(text, kFields), RefusedWith(EINVAL)) << text;
    for (const char* const text :
         {"== 1", "pid == 1)", "pid == 1 pid == 2", "&& pid == 1", "pid == 1 | pid == 2", "\x80", "pid == 1 \xe9"})
        EXPECT_THAT(parse_filter(text, kFields), RefusedWith(EPERM)) << text;
    EXPECT_THAT(parse_filter("(pid == 1", kFields), RefusedWith(ENOENT));
    EXPECT_THAT(parse_filter("name == \"x", kFields), RefusedWith(ESRCH));
}

TEST(Filter, OfAWholePageFits) {
    std::string text = "cpu<9";
    while (text.size() + 7 < 4095) text += "||cpu<9";
    EXPECT_TRUE(holds(text));
}

}  // namespace
}  // namespace anyperf::pmu
