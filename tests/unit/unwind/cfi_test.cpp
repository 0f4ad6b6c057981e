#include "unwind/cfi.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace anyperf;
using Cfa = unwind::UnwindRow::Cfa;
using Rbp = unwind::UnwindRow::Rbp;

using Code = std::vector<int>;

/// An ELF file with an .eh_frame of one CIE and one FDE for the 32 bytes from 0x1000 on.
symbols::ElfImage image(const Code& instructions, const std::string& augmentation = "zR") {
    std::string frame;
    const auto number = [&](std::uint32_t value) { frame.append(reinterpret_cast<const char*>(&value), sizeof value); };
    const auto code = [&](const Code& values) {
        for (const int value : values) frame += static_cast<char>(value);
    };
    const auto end_entry = [&](std::size_t begin) {
        while (frame.size() % 4 != 0) frame += '\0';
        const auto length = static_cast<std::uint32_t>(frame.size() - begin - 4);
        std::memcpy(frame.data() + begin, &length, sizeof length);
    };
    number(0);
    number(0);
    code({1});
    frame += augmentation + '\0';
    code({1, 0x78, 16, 1, 3});         // code 1, data -8, return register 16; pointers are absolute, 4 bytes
    code({0x0c, 7, 8, 0x80 | 16, 1});  // the CFA is rsp + 8, the return address is at CFA - 8
    end_entry(0);
    const std::size_t fde = frame.size();
    number(0);
    number(static_cast<std::uint32_t>(fde + 4));
    number(0x1000);
    number(32);
    code({0});
    code(instructions);
    end_entry(fde);
    number(0);

    const std::string names{"\0.eh_frame\0.names\0", 18};
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_type = ET_DYN;
    head.e_machine = EM_X86_64;
    head.e_shoff = sizeof head;
    head.e_ehsize = sizeof head;
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = 3;
    head.e_shstrndx = 2;
    Elf64_Shdr sections[3]{};
    sections[1] = {.sh_name = 1,
                   .sh_type = SHT_PROGBITS,
                   .sh_flags = SHF_ALLOC,
                   .sh_addr = 0x8000,
                   .sh_offset = sizeof head + sizeof sections,
                   .sh_size = frame.size(),
                   .sh_link = 0,
                   .sh_info = 0,
                   .sh_addralign = 8,
                   .sh_entsize = 0};
    sections[2] = {.sh_name = 11,
                   .sh_type = SHT_STRTAB,
                   .sh_flags = 0,
                   .sh_addr = 0,
                   .sh_offset = sizeof head + sizeof sections + frame.size(),
                   .sh_size = names.size(),
                   .sh_link = 0,
                   .sh_info = 0,
                   .sh_addralign = 1,
                   .sh_entsize = 0};
    std::string file{reinterpret_cast<const char*>(&head), sizeof head};
    file.append(reinterpret_cast<const char*>(sections), sizeof sections);
    file += frame + names;
    const auto* data = reinterpret_cast<const std::byte*>(file.data());
    return *symbols::ElfImage::of({data, data + file.size()});
}

TEST(CfiTest, RowsFollowThePrologue) {
    // push rbp; mov rbp, rsp; …; leave
    const symbols::ElfImage elf = image({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0c, 7, 8});
    const unwind::UnwindTable table{elf};
    const auto* first = table.find(0x1000);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->cfa, Cfa::rsp);
    EXPECT_EQ(first->cfa_offset, 8);
    EXPECT_EQ(first->rbp, Rbp::same);
    const auto* pushed = table.find(0x1003);
    EXPECT_EQ(pushed->cfa_offset, 16);
    EXPECT_EQ(pushed->rbp, Rbp::saved);
    EXPECT_EQ(pushed->rbp_offset, -16);
    EXPECT_EQ(table.find(0x1004)->cfa, Cfa::rbp);
    const auto* left = table.find(0x101f);
    EXPECT_EQ(left->cfa, Cfa::rsp);
    EXPECT_EQ(left->cfa_offset, 8);
    EXPECT_EQ(left->rbp, Rbp::saved) << "GCC leaves the rule behind";
}

TEST(CfiTest, AddressesOutsideOfFunctionsHaveNoRow) {
    const symbols::ElfImage elf = image({});
    const unwind::UnwindTable table{elf};
    EXPECT_EQ(table.find(0xfff), nullptr);
    EXPECT_NE(table.find(0x101f), nullptr);
    EXPECT_EQ(table.find(0x1020), nullptr);
}

TEST(CfiTest, RememberedRulesComeBack) {
    const symbols::ElfImage elf = image({0x0e, 32, 0x0a, 0x44, 0x0e, 8, 0x44, 0x0b});
    const unwind::UnwindTable table{elf};
    EXPECT_EQ(table.find(0x1000)->cfa_offset, 32);
    EXPECT_EQ(table.find(0x1004)->cfa_offset, 8);
    EXPECT_EQ(table.find(0x1008)->cfa_offset, 32);
}

TEST(CfiTest, AnUndefinedReturnAddressEndsTheStack) {
    const symbols::ElfImage elf = image({0x07, 16});
    EXPECT_EQ(unwind::UnwindTable{elf}.find(0x1000)->cfa, Cfa::outermost);
}

TEST(CfiTest, SignalFramesAndExpressionsAreMarked) {
    const symbols::ElfImage elf = image({0x0f, 2, 0x77, 8, 0x10, 6, 2, 0x77, 16}, "zRS");
    const unwind::UnwindTable table{elf};
    const auto* row = table.find(0x1000);
    EXPECT_TRUE(row->signal);
    EXPECT_EQ(row->cfa, Cfa::expression);
    EXPECT_EQ(table.expression(row->cfa_offset).size(), 2);
    EXPECT_EQ(row->rbp, Rbp::expression);
    EXPECT_EQ(table.expression(row->rbp_offset)[1], std::byte{16});
}

// The offset of such a row would otherwise be taken for the number of an expression.
TEST(CfiTest, OnlyTheOffsetOrTheRegisterOfAnExpressionCannotChange) {
    for (const Code& change : {Code{0x0e, 99}, Code{0x13, 99}, Code{0x0d, 7}}) {
        Code code{0x0f, 2, 0x77, 8};
        code.insert(code.end(), change.begin(), change.end());
        const symbols::ElfImage elf = image(code);
        EXPECT_EQ(unwind::UnwindTable{elf}.find(0x1000)->cfa, Cfa::unknown);
    }
    const symbols::ElfImage both = image({0x0f, 2, 0x77, 8, 0x0c, 7, 24});
    EXPECT_EQ(unwind::UnwindTable{both}.find(0x1000)->cfa, Cfa::rsp);
}

TEST(CfiTest, OtherRegistersThanRspAndRbpAreNotFollowed) {
    const symbols::ElfImage elf = image({0x0d, 10});
    EXPECT_EQ(unwind::UnwindTable{elf}.find(0x1000)->cfa, Cfa::unknown);
}

}  // namespace
