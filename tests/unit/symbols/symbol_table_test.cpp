#include "symbols/symbol_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace anyperf::symbols {
namespace {

std::string_view name_at(const SymbolTable& table, std::uint64_t address) {
    const Symbol* symbol = table.find(address);
    return symbol ? table.name(*symbol) : "none";
}

TEST(SymbolTable, FindsTheSymbolThatContainsAnAddress) {
    SymbolTable table;
    table.add(0x200, 0x10, "second", {});
    table.add(0x100, 0x10, "first", {});
    table.finish();
    EXPECT_EQ(name_at(table, 0xff), "none");
    EXPECT_EQ(name_at(table, 0x100), "first");
    EXPECT_EQ(name_at(table, 0x10f), "first");
    EXPECT_EQ(name_at(table, 0x110), "none");
    EXPECT_EQ(name_at(table, 0x20f), "second");
}

TEST(SymbolTable, ASymbolWithoutASizeEndsAtTheNextOne) {
    SymbolTable table;
    table.add(0x100, 0, "open", {});
    table.add(0x180, 8, "next", {});
    table.add(0x200, 0, "last", {});
    table.finish();
    EXPECT_EQ(name_at(table, 0x17f), "open");
    EXPECT_EQ(name_at(table, 0x188), "none");
    EXPECT_EQ(name_at(table, 0x1fff), "last");
    EXPECT_EQ(name_at(table, 0x2000), "none");
}

TEST(SymbolTable, TheLastSymbolWithoutASizeEndsAPageAfterTheNextBoundary) {
    for (const auto& [start, end] : {std::pair{0x1000u, 0x2000u}, std::pair{0x1001u, 0x3000u}}) {
        SymbolTable table;
        table.add(start, 0, "last", {});
        table.finish();
        EXPECT_EQ(name_at(table, end - 1), "last");
        EXPECT_EQ(name_at(table, end), "none");
    }
}

TEST(SymbolTable, OfNestedSymbolsOnlyTheInnerOneIsFound) {
    SymbolTable table;
    table.add(0x1000, 0x1000, "outer", {});
    table.add(0x1100, 0x10, "inner", {});
    table.finish();
    EXPECT_EQ(name_at(table, 0x10ff), "outer");
    EXPECT_EQ(name_at(table, 0x110f), "inner");
    EXPECT_EQ(name_at(table, 0x1200), "none");
}

TEST(SymbolTable, ALabelWithinAFunctionIsNotFound) {
    SymbolTable table;
    table.add(0x1000, 0x1000, "function", {});
    table.add(0x1000, 0, "alias", {.typed = false});
    table.add(0x1100, 0, "label", {.typed = false});
    table.add(0x1200, 0x10, "inner", {});
    table.add(0x1208, 0, "inner_label", {});
    table.add(0x2000, 0, "after", {.typed = false});
    table.finish();
    EXPECT_EQ(name_at(table, 0x1000), "function");
    EXPECT_EQ(name_at(table, 0x1100), "function");
    EXPECT_EQ(name_at(table, 0x1208), "inner");
    EXPECT_EQ(name_at(table, 0x2000), "after");
}

TEST(SymbolTable, ALabelAfterAnUntypedSymbolIsFound) {
    SymbolTable table;
    table.add(0x1000, 0x1000, "code", {.typed = false});
    table.add(0x1100, 0, "label", {.typed = false});
    table.finish();
    EXPECT_EQ(name_at(table, 0x1100), "label");
}

TEST(SymbolTable, KeepsTheBestOfSeveralNamesOfAnAddress) {
    SymbolTable table;
    table.add(0x100, 0, "without_a_size", {.global = true});
    table.add(0x100, 4, "__global", {.global = true});
    table.add(0x100, 4, "global", {.global = true});
    table.add(0x100, 4, "weak_and_longer", {.weak = true});
    table.add(0x200, 4, "mmap", {.global = true});
    table.add(0x200, 4, "mmap64", {.global = true});
    table.finish();
    EXPECT_EQ(table.size(), 2u);
    EXPECT_EQ(name_at(table, 0x100), "global");
    EXPECT_EQ(name_at(table, 0x200), "mmap64");
}

TEST(SymbolTable, OfSymbolsWithoutASizeTheLastOneIsKept) {
    SymbolTable table;
    table.add(0x100, 0, "__ia32_sys_vfork", {.global = true});
    table.add(0x100, 0, "__x64_sys_vfork", {.global = true});
    table.add(0x200, 0, "next", {.global = true});
    table.finish();
    EXPECT_EQ(name_at(table, 0x100), "__x64_sys_vfork");
}

TEST(SymbolTable, AConstructorMayHaveAnAliasOfTheSameLength) {
    SymbolTable table;
    table.add(0x100, 8, "alias_abc", {});
    table.add(0x100, 8, "_ZN1AC1Ev", {});
    table.finish();
    EXPECT_EQ(name_at(table, 0x100), "alias_abc");
}

TEST(SymbolTable, NamesMayBeInTextsOfAnotherOwner) {
    auto texts = std::make_shared<const std::string>("\0inner\0_ZN1AC2Ev\0_ZN1AC1Ev\0", 28);
    SymbolTable table;
    table.use_texts(*texts, texts);
    table.add_at(0x300, 8, 7, {});
    table.add_at(0x300, 8, 17, {});
    table.add_at(0x100, 0x10, 1, {});
    table.finish();
    // A PLT's stubs come when the others are sorted.
    table.add(0x200, 0x10, "stub@plt", {});
    table.finish();
    texts.reset();
    EXPECT_EQ(name_at(table, 0x100), "inner");
    EXPECT_EQ(name_at(table, 0x20f), "stub@plt");
    EXPECT_EQ(name_at(table, 0x300), "_ZN1AC2Ev");
}

TEST(SymbolTable, ASizePastTheEndOfAddressesIsCut) {
    SymbolTable table;
    table.add(~0ull - 16, ~0ull, "hostile", {});
    table.finish();
    EXPECT_EQ(name_at(table, ~0ull - 1), "hostile");
}

}  // namespace
}  // namespace anyperf::symbols
