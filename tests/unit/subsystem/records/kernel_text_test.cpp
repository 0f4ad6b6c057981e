// kernel_text_test.cpp: the layout of the records about code in the kernel: KSYMBOL, BPF_EVENT and TEXT_POKE.
#include "subsystem/records/kernel_text.h"

#include <gtest/gtest.h>

#include "unit/subsystem/records/parsed_record.h"

namespace anyperf::subsystem {
namespace {

using testing::Parsed;

TEST(KsymbolRecord, HasAddressLengthTypeFlagsName) {
    Parsed record{ksymbol_record({.address = 0xffffffffc0001000,
                                  .bytes = 120,
                                  .type = 1,
                                  .unregistered = false,
                                  .name = "bpf_prog_6deef7357e7b4530"})};
    EXPECT_EQ(record.type, 17u);
    EXPECT_EQ(record.word(), 0xffffffffc0001000u);
    EXPECT_EQ(record.half(), 120u);
    EXPECT_EQ(record.quarter(), 1);
    EXPECT_EQ(record.quarter(), 0);
    EXPECT_EQ(record.name(), "bpf_prog_6deef7357e7b4530");
    record.ends();
}

TEST(KsymbolRecord, OfAnUnregisteredSymbolHasTheFlag) {
    Parsed record{ksymbol_record({.type = 1, .unregistered = true, .name = "x"})};
    record.word();
    record.half();
    record.quarter();
    EXPECT_EQ(record.quarter(), 1);
}

TEST(BpfEventRecord, HasTypeFlagsIdTag) {
    Parsed record{bpf_event_record({.type = 1, .id = 42, .tag = {std::byte{0xaa}, std::byte{0xbb}}})};
    EXPECT_EQ(record.type, 18u);
    EXPECT_EQ(record.size, 24 + 16);
    EXPECT_EQ(record.quarter(), 1);
    EXPECT_EQ(record.quarter(), 0);
    EXPECT_EQ(record.half(), 42u);
    EXPECT_EQ(record.byte(), 0xaau);
    EXPECT_EQ(record.byte(), 0xbbu);
    record.padding();
    record.ends();
}

TEST(TextPokeRecord, HasAddressBothLengthsBothBytesPadded) {
    const std::byte before[] = {std::byte{0x0f}, std::byte{0x1f}, std::byte{0x44}, std::byte{0}, std::byte{0}};
    const std::byte after[] = {std::byte{0xe9}, std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    Parsed record{text_poke_record(0xffffffff81000000, before, after)};
    EXPECT_EQ(record.type, 20u);
    EXPECT_EQ(record.word(), 0xffffffff81000000u);
    EXPECT_EQ(record.quarter(), 5);
    EXPECT_EQ(record.quarter(), 5);
    for (const std::byte byte : before) EXPECT_EQ(record.byte(), std::to_integer<unsigned>(byte));
    for (const std::byte byte : after) EXPECT_EQ(record.byte(), std::to_integer<unsigned>(byte));
    record.padding();
    record.ends();
}

}  // namespace
}  // namespace anyperf::subsystem
