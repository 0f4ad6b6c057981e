// Which attr bits want which records, as Linux 6.18 has it.
#include "subsystem/records/interests.h"

#include <gtest/gtest.h>

namespace anyperf::subsystem {
namespace {

TEST(Interests, OfTasksGoWithEveryBitThatTellsOfTasksOrTheirMemory) {
    for (const std::uint64_t flag :
         {abi::flag("task"), abi::flag("comm"), abi::flag("mmap"), abi::flag("mmap2"), abi::flag("mmap_data")}) {
        EXPECT_TRUE(wants(flag, Interest::fork)) << flag;
        EXPECT_TRUE(wants(flag, Interest::exit)) << flag;
    }
    EXPECT_FALSE(wants(abi::flag("context_switch"), Interest::fork));
}

TEST(Interests, OfMappingsTellExecutableOnesApart) {
    EXPECT_TRUE(wants(abi::flag("mmap"), Interest::executable_mapping));
    EXPECT_FALSE(wants(abi::flag("mmap"), Interest::data_mapping));
    EXPECT_TRUE(wants(abi::flag("mmap_data"), Interest::data_mapping));
    EXPECT_FALSE(wants(abi::flag("mmap_data"), Interest::executable_mapping)) << "mmap_data alone: only those";
}

TEST(Interests, Mmap2AloneDoesNotMakeAnybodyTellOfMappings) {
    EXPECT_TRUE(wants(abi::flag("mmap2"), Interest::executable_mapping));
    EXPECT_FALSE(any_maps(abi::flag("mmap2")));
    EXPECT_TRUE(any_maps(abi::flag("mmap_data")));
}

TEST(Interests, OfNamesNeedComm) {
    EXPECT_TRUE(wants(abi::flag("comm"), Interest::comm));
    EXPECT_FALSE(wants(abi::flag("comm_exec"), Interest::comm));
    EXPECT_FALSE(wants(abi::flag("task"), Interest::comm));
}

TEST(Interests, NameRecordsOfTheInterface) {
    for (const InterestRow& row : kInterests) {
        const auto found = std::ranges::find(abi::kRecordTypes, row.record, &abi::Constant::name);
        EXPECT_NE(found, abi::kRecordTypes.end()) << row.record;
        EXPECT_TRUE(wants(row.any_of, row.interest)) << row.record;
        EXPECT_FALSE(wants(~row.any_of, row.interest)) << row.record;
    }
}

}  // namespace
}  // namespace anyperf::subsystem
