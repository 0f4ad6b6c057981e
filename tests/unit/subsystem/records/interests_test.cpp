// interests_test.cpp: which bits of attr request which side-band records, as on Linux 6.18.
#include "subsystem/records/record_interests.h"

#include <gtest/gtest.h>

namespace anyperf::subsystem {
namespace {

TEST(Interests, InTasksFollowFromEveryTaskOrMappingBit) {
    for (const std::uint64_t flag :
         {abi::flag("task"), abi::flag("comm"), abi::flag("mmap"), abi::flag("mmap2"), abi::flag("mmap_data")}) {
        EXPECT_TRUE(requests_record(flag, Interest::fork)) << flag;
        EXPECT_TRUE(requests_record(flag, Interest::exit)) << flag;
    }
    EXPECT_FALSE(requests_record(abi::flag("context_switch"), Interest::fork));
}

TEST(Interests, InMappingsDistinguishExecutableOnes) {
    EXPECT_TRUE(requests_record(abi::flag("mmap"), Interest::executable_mapping));
    EXPECT_FALSE(requests_record(abi::flag("mmap"), Interest::data_mapping));
    EXPECT_TRUE(requests_record(abi::flag("mmap_data"), Interest::data_mapping));
    EXPECT_FALSE(requests_record(abi::flag("mmap_data"), Interest::executable_mapping))
        << "mmap_data requests data mappings only";
}

TEST(Interests, InMappingsAreNotEnabledByMmap2Alone) {
    EXPECT_TRUE(requests_record(abi::flag("mmap2"), Interest::executable_mapping));
    EXPECT_FALSE(enables_mapping_records(abi::flag("mmap2")));
    EXPECT_TRUE(enables_mapping_records(abi::flag("mmap_data")));
}

TEST(Interests, InTaskNamesNeedComm) {
    EXPECT_TRUE(requests_record(abi::flag("comm"), Interest::comm));
    EXPECT_FALSE(requests_record(abi::flag("comm_exec"), Interest::comm));
    EXPECT_FALSE(requests_record(abi::flag("task"), Interest::comm));
}

TEST(Interests, NameRecordsOfTheInterface) {
    for (const InterestRow& row : kInterests) {
        const auto found = std::ranges::find(abi::kRecordTypes, row.record, &abi::Constant::name);
        EXPECT_NE(found, abi::kRecordTypes.end()) << row.record;
        EXPECT_TRUE(requests_record(row.any_of, row.interest)) << row.record;
        EXPECT_FALSE(requests_record(~row.any_of, row.interest)) << row.record;
    }
}

}  // namespace
}  // namespace anyperf::subsystem
