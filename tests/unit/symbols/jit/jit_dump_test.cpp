// The dumps are made here, record by record: what a JIT may write, and what a stranger may.
#include "symbols/jit/jit_dump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace anyperf::symbols {
namespace {

/// A dump in the byte order of this machine, or of the other one.
class Dump {
  public:
    explicit Dump(std::uint64_t flags = 0, bool foreign = false) : foreign_(foreign) {
        word(0x4a69'5444).word(1).word(40).word(62).word(0).word(77).wide(5).wide(flags);
    }
    Dump& load(std::uint64_t time, std::uint64_t start, const std::string& code, const std::string& name,
               std::uint64_t index) {
        word(0).word(static_cast<std::uint32_t>(56 + name.size() + 1 + code.size())).wide(time).word(77).word(77);
        wide(start).wide(start).wide(code.size()).wide(index);
        bytes_ += name + '\0' + code;
        return *this;
    }
    Dump& move(std::uint64_t time, std::uint64_t to, std::uint64_t size, std::uint64_t index) {
        return word(1).word(64).wide(time).word(77).word(77).wide(to).wide(0).wide(to).wide(size).wide(index);
    }
    struct Line {
        std::uint64_t address;
        std::uint32_t line;
        std::string file;
    };
    Dump& lines(std::uint64_t of, const std::vector<Line>& lines) {
        std::size_t size = 32;
        for (const Line& each : lines) size += 16 + each.file.size() + 1;
        word(2).word(static_cast<std::uint32_t>(size)).wide(1).wide(of).wide(lines.size());
        for (const Line& each : lines) {
            wide(each.address).word(each.line).word(0);
            bytes_ += each.file + '\0';
        }
        return *this;
    }
    Dump& word(std::uint32_t value) { return put(value); }
    Dump& wide(std::uint64_t value) { return put(value); }

    std::string bytes_;

  private:
    template <class Number>
    Dump& put(Number value) {
        if (foreign_) value = std::byteswap(value);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    bool foreign_;
};

Result<JitDump> read(const std::string& bytes) {
    std::istringstream file(bytes);
    return read_jit_dump(file, "jit-77.dump");
}

TEST(JitDump, KnowsItsFilesByTheirNames) {
    EXPECT_TRUE(is_jit_dump("/tmp/jit-1.dump"));
    EXPECT_TRUE(is_jit_dump("jit-4194304.dump"));
    for (const char* other :
         {"/tmp/jit-.dump", "/tmp/jit-1x.dump", "/tmp/jit-1.dumped", "/jit-1.dump/a", "/tmp/perf-1.map"})
        EXPECT_FALSE(is_jit_dump(other)) << other;
}

TEST(JitDump, HasTheLinesOfTheCodeThatFollowsThem) {
    for (const bool foreign : {false, true}) {
        Dump dump{0, foreign};
        dump.lines(0x7000, {{0x7000, 3, "a.js"}, {0x7002, 4, "\xff"}, {0x7009, 5, "b.js"}});
        dump.load(10, 0x7000, "1234", "first", 1).load(20, 0x7000, "12", "second", 2);
        dump.lines(0x8000, {{0x8000, 6, "b.js"}}).load(30, 0x9000, "1234", "not that of the lines", 3);
        const auto read_back = read(dump.bytes_);
        ASSERT_TRUE(read_back.has_value());
        ASSERT_EQ(read_back->loaded.size(), 3u);
        const std::uint64_t first = read_back->loaded[0].file_offset;
        for (const auto& [offset, line] : {std::pair{0u, 3u}, {1u, 3u}, {2u, 4u}, {3u, 4u}}) {
            const JitLine* known = read_back->line_at(first + offset, first);
            ASSERT_NE(known, nullptr);
            EXPECT_EQ(known->line, line);
            EXPECT_EQ(read_back->files[known->file], "a.js");
        }
        EXPECT_EQ(read_back->lines.size(), 2u);  // one is beyond the code, and one of other code
        for (std::size_t i = 1; i < 3; ++i)
            EXPECT_EQ(read_back->line_at(read_back->loaded[i].file_offset, read_back->loaded[i].file_offset), nullptr);
    }
}

TEST(JitDump, LinesThatPassTheirRecordAreLeftOut) {
    Dump dump;
    dump.word(2).word(48).wide(1).wide(0x7000).wide(1000).wide(0x7000).word(3).word(0);  // no name, and 999 lines less
    dump.load(10, 0x7000, "1234", "first", 1);
    const auto read_back = read(dump.bytes_);
    ASSERT_TRUE(read_back.has_value());
    EXPECT_EQ(read_back->loaded.size(), 1u);
    EXPECT_TRUE(read_back->lines.empty());
}

TEST(JitDump, HasCodeByTheOffsetOfItsBytes) {
    for (const bool foreign : {false, true}) {
        Dump dump{0, foreign};
        dump.load(10, 0x7000, "1234", "first", 1).load(20, 0x7000, "12", "second", 2).move(30, 0x9000, 4, 1);
        const auto read_back = read(dump.bytes_);
        ASSERT_TRUE(read_back.has_value());
        ASSERT_EQ(read_back->loaded.size(), 2u);
        const JitCode& first = read_back->loaded[0];
        EXPECT_EQ(first.time, 10u);
        EXPECT_EQ(first.start, 0x7000u);
        EXPECT_EQ(dump.bytes_.substr(first.file_offset, first.size), "1234");
        const Symbol* symbol = read_back->symbols.find(first.file_offset + 3);
        ASSERT_NE(symbol, nullptr);
        EXPECT_EQ(read_back->symbols.name(*symbol), "first");
        EXPECT_EQ(read_back->address_of(first.file_offset + 3), 0x7003u);
        ASSERT_EQ(read_back->moved.size(), 1u);
        EXPECT_EQ(read_back->moved[0].start, 0x9000u);
        EXPECT_EQ(read_back->moved[0].file_offset, first.file_offset);
        EXPECT_EQ(read_back->machine, 62u);
        EXPECT_FALSE(read_back->other_clock);
    }
    EXPECT_TRUE(read(Dump{1}.bytes_)->other_clock);
}

TEST(JitDump, IsReadAsFarAsItIsComplete) {
    Dump dump;
    dump.load(10, 0x7000, "1234", "first", 1);
    const std::size_t complete = dump.bytes_.size();
    dump.load(20, 0x8000, "1234", "second", 2);
    for (std::size_t size = 0; size <= dump.bytes_.size(); ++size) {
        const auto read_back = read(dump.bytes_.substr(0, size));
        ASSERT_EQ(read_back.has_value(), size >= 40) << size;
        if (!read_back) continue;
        // The bytes of code are not needed for the name.
        const std::size_t least = size < complete - 4 ? 0 : size < dump.bytes_.size() - 4 ? 1 : 2;
        EXPECT_EQ(read_back->loaded.size(), least) << size;
    }
}

TEST(JitDump, SkipsRecordsWithImpossibleSizes) {
    Dump dump;
    dump.word(0).word(56).wide(1).word(1).word(1).wide(0).wide(0x7000).wide(~0ull).wide(9);  // more code than record
    dump.word(7).word(24).wide(1).wide(0);                                                   // an unknown kind
    dump.move(1, ~0ull - 1, 16, 9).load(1, ~0ull - 1, "1234", "end", 3).load(20, 0x8000, "12", "right", 2);
    const auto read_back = read(dump.bytes_);
    ASSERT_TRUE(read_back.has_value());
    ASSERT_EQ(read_back->loaded.size(), 1u);
    EXPECT_EQ(read_back->loaded[0].start, 0x8000u);
    EXPECT_TRUE(read_back->moved.empty());
    EXPECT_FALSE(read("ELF").has_value());
    dump.bytes_[8] = 8;  // the size of the header
    EXPECT_FALSE(read(dump.bytes_).has_value());
    Dump endless;
    endless.word(7).word(0).wide(0);
    EXPECT_TRUE(read(endless.bytes_)->loaded.empty());
}

}  // namespace
}  // namespace anyperf::symbols
