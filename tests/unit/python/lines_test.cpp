// lines_test.cpp: tables that the compilers of six versions of CPython made of the same function, and the lines that
// code.co_lines() (dis.findlinestarts() up to 3.9) of each version has for them.
#include "python/lines.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/python/made_memory.h"

namespace anyperf::python {
namespace {

std::string bytes_of(std::string_view hexadecimal) {
    const auto digit = [](char each) { return std::isdigit(each) != 0 ? each - '0' : each - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
        bytes += static_cast<char>(digit(hexadecimal[i]) * 16 + digit(hexadecimal[i + 1]));
    return bytes;
}

struct Table {
    std::string_view version;
    LineTable kind;
    std::int64_t bytes_of_code;
    std::string_view table;
    /// Where each line begins. 0: the instructions have no line.
    std::vector<std::pair<std::int64_t, std::int64_t>> lines;
};

const std::array kTables{
    Table{"3.8",
          LineTable::deltas,
          44,
          "0002020102ff020202fe0403040102010201020102fe0804087f004a",
          {{0, 7},
           {2, 8},
           {4, 7},
           {6, 9},
           {8, 7},
           {12, 10},
           {16, 11},
           {18, 12},
           {20, 13},
           {22, 14},
           {24, 12},
           {32, 16},
           {40, 217}}},
    Table{"3.10",
          LineTable::ranges,
          52,
          "0202020102ff020204fe0403020102010201020106fe0604007f044a008108b6007f044a",
          {{0, 7},
           {2, 8},
           {4, 7},
           {6, 9},
           {8, 7},
           {12, 10},
           {16, 11},
           {18, 12},
           {20, 13},
           {22, 14},
           {24, 12},
           {30, 16},
           {36, 217},
           {40, 16},
           {48, 217}}},
    Table{"3.11",
          LineTable::locations,
          126,
          "8000e0090ad8090af103010a0be0090af00502090c8041f006000809f000060510f002050910dd0c0dd80d0ed80d0ef105020d10f400"
          "020d10f000020d10f508000d0e89438c4388438843f88d4189438c4388438843f8f8f8f05206000c0d8048",
          {{0, 5},
           {2, 7},
           {4, 8},
           {6, 7},
           {10, 9},
           {12, 7},
           {16, 10},
           {20, 11},
           {22, 12},
           {34, 13},
           {36, 14},
           {38, 12},
           {54, 16},
           {84, 0},
           {86, 16},
           {116, 0},
           {122, 217}}},
    Table{"3.13",
          LineTable::locations,
          114,
          "8000e0090ad8090af103010a0be0090af00502090c8041f606000809f002050910dc0c0dd80d0ed80d0ef405020d10f408000d0e8c43"
          "f05206000c0d804888318048f8f45306000d0e8d43fa",
          {{0, 5},
           {2, 7},
           {4, 8},
           {6, 7},
           {10, 9},
           {12, 7},
           {16, 10},
           {30, 11},
           {32, 12},
           {42, 13},
           {44, 14},
           {46, 12},
           {56, 16},
           {76, 217},
           {84, 0},
           {86, 16},
           {108, 0}}},
};

TEST(Lines, EachInstructionHasTheLineThatPythonReports) {
    constexpr std::int64_t kFirst = 5;
    for (const Table& table : kTables) {
        MadeMemory made;
        const std::uint64_t object = made.bytes_object(bytes_of(table.table));
        auto next = table.lines.begin();
        std::int64_t expected = kFirst;
        for (std::int64_t offset = 0; offset < table.bytes_of_code; offset += 2) {
            if (next != table.lines.end() && next->first == offset) {
                if (next->second != 0) expected = next->second;
                ++next;
            }
            EXPECT_EQ(line_at(made.memory(), table.kind, object, offset, kFirst), expected)
                << table.version << " at " << offset;
        }
    }
}

TEST(Lines, CodeThatHasNotBegunIsAtItsFirstLine) {
    MadeMemory made;
    const std::uint64_t object = made.bytes_object("\x02\x02");
    EXPECT_EQ(line_at(made.memory(), LineTable::ranges, object, -2, 5), 5);
}

TEST(Lines, ATableThatEndsOrCannotBeReadGivesTheLastLine) {
    MadeMemory made{64};
    EXPECT_EQ(line_at(made.memory(), LineTable::ranges, 0, 100, 5), 5);
    const std::uint64_t object = made.bytes_object("\x02\x02");
    for (const LineTable kind : {LineTable::deltas, LineTable::ranges})
        EXPECT_EQ(line_at(made.memory(), kind, object, 1000, 5), 7);
    made.put(object + kObjectSize, ~std::uint64_t{0});
    EXPECT_EQ(line_at(made.memory(), LineTable::locations, object, 1000, 5), 5);
}

}  // namespace
}  // namespace anyperf::python
