// mappings_test.cpp: the layout of MMAP and MMAP2 records, as on Linux 6.18.
#include "subsystem/records/mappings.h"

#include <gtest/gtest.h>

#include "unit/subsystem/records/parsed_record.h"

namespace anyperf::subsystem {
namespace {

using testing::Parsed;

TaskMapping libc() {
    return {.task = {100, 101},
            .address = 0x7f0000000000,
            .bytes = 0x200000,
            .offset = 0x28000,
            .device_major = 8,
            .device_minor = 1,
            .inode = 4242,
            .generation = 77,
            .prot = 5,
            .flags = 2,
            .name = "/lib/libc.so.6",
            .build_id = {}};
}

void check_place(Parsed& record) {
    EXPECT_EQ(record.half(), 100u);
    EXPECT_EQ(record.half(), 101u);
    EXPECT_EQ(record.word(), 0x7f0000000000u);
    EXPECT_EQ(record.word(), 0x200000u);
    EXPECT_EQ(record.word(), 0x28000u);
}

TEST(MmapRecord, HasPidTidAddrLenPgoffName) {
    Parsed record{mmap_record(libc())};
    EXPECT_EQ(record.type, 1u);
    EXPECT_EQ(record.misc, 2) << "USER";
    check_place(record);
    EXPECT_EQ(record.name(), "/lib/libc.so.6");
    record.ends();
}

TEST(MmapRecord, OfDataHasItsMiscBit) {
    TaskMapping data = libc();
    data.prot = 3;
    EXPECT_EQ(Parsed(mmap_record(data)).misc, 0x2002);
    EXPECT_EQ(Parsed(mmap2_record(data, true)).misc, 0x2002);
}

TEST(Mmap2Record, HasDeviceInodeGenerationProtAndFlags) {
    Parsed record{mmap2_record(libc(), false)};
    EXPECT_EQ(record.type, 10u);
    EXPECT_EQ(record.misc, 2);
    check_place(record);
    EXPECT_EQ(record.half(), 8u);
    EXPECT_EQ(record.half(), 1u);
    EXPECT_EQ(record.word(), 4242u);
    EXPECT_EQ(record.word(), 77u);
    EXPECT_EQ(record.half(), 5u);
    EXPECT_EQ(record.half(), 2u);
    EXPECT_EQ(record.name(), "/lib/libc.so.6");
    record.ends();
}

TEST(Mmap2Record, HasABuildIdInThePlaceOfDeviceAndInode) {
    std::vector<std::byte> id(20);
    for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::byte>(i + 1);
    TaskMapping mapped = libc();
    mapped.build_id = id;
    Parsed record{mmap2_record(mapped, true)};
    EXPECT_EQ(record.misc, 0x4002);
    check_place(record);
    EXPECT_EQ(record.byte(), 20u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(record.byte(), 0u);
    for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(record.byte(), i + 1);
    EXPECT_EQ(record.half(), 5u);
    EXPECT_EQ(record.half(), 2u);
    EXPECT_EQ(record.name(), "/lib/libc.so.6");
    record.ends();
}

TEST(Mmap2Record, HasABuildIdOnlyIfTheFileHasOneAndTheEventAsks) {
    EXPECT_EQ(Parsed(mmap2_record(libc(), true)).misc, 2);
    const std::byte id[] = {std::byte{1}};
    TaskMapping mapped = libc();
    mapped.build_id = id;
    EXPECT_EQ(Parsed(mmap2_record(mapped, false)).misc, 2);
}

TEST(Mmap2Record, TruncatesABuildIdThatIsLongerThanItsField) {
    const std::vector<std::byte> id(64, std::byte{9});
    TaskMapping mapped = libc();
    mapped.build_id = id;
    Parsed record{mmap2_record(mapped, true)};
    check_place(record);
    EXPECT_EQ(record.byte(), 20u);
}

TEST(MappingRecords, ReplaceANameThatIsTooLong) {
    EXPECT_EQ(name_in_record(std::string(4087, 'x')), std::string(4087, 'x'));
    EXPECT_EQ(name_in_record(std::string(4088, 'x')), "//toolong");
}

}  // namespace
}  // namespace anyperf::subsystem
