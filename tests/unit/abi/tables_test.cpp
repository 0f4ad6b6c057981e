// tables_test.cpp: our copy of the interface matches the installed <linux/perf_event.h>, as far as that header goes.
// abi itself does without that header, so that it builds with old ones.
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cstddef>
#include <cstring>

#include "abi/attr_fields.h"
#include "abi/attr_flags.h"
#include "abi/branch_entry.h"
#include "abi/branch_types.h"
#include "abi/data_source.h"
#include "abi/event_ids.h"
#include "abi/ioctls.h"
#include "abi/mmap_page.h"
#include "abi/records.h"
#include "abi/sample_bits.h"
#include "anyperf/attr.h"

namespace anyperf::abi {
namespace {

#define SAME_OFFSET(ours, theirs) static_assert(offsetof(Attr, ours) == offsetof(perf_event_attr, theirs))
SAME_OFFSET(type, type);
SAME_OFFSET(size, size);
SAME_OFFSET(config, config);
SAME_OFFSET(sample_period, sample_freq);
SAME_OFFSET(sample_type, sample_type);
SAME_OFFSET(read_format, read_format);
SAME_OFFSET(wakeup_events, wakeup_watermark);
SAME_OFFSET(bp_type, bp_type);
SAME_OFFSET(config1, uprobe_path);
SAME_OFFSET(config2, probe_offset);
SAME_OFFSET(branch_sample_type, branch_sample_type);
SAME_OFFSET(sample_regs_user, sample_regs_user);
SAME_OFFSET(sample_stack_user, sample_stack_user);
SAME_OFFSET(clockid, clockid);
SAME_OFFSET(sample_regs_intr, sample_regs_intr);
SAME_OFFSET(aux_watermark, aux_watermark);
SAME_OFFSET(sample_max_stack, sample_max_stack);
SAME_OFFSET(aux_sample_size, aux_sample_size);
SAME_OFFSET(sig_data, sig_data);
static_assert(sizeof(perf_event_attr) <= sizeof(Attr));

#define SAME_PAGE_OFFSET(field) static_assert(offsetof(MmapPage, field) == offsetof(perf_event_mmap_page, field))
SAME_PAGE_OFFSET(lock);
SAME_PAGE_OFFSET(index);
SAME_PAGE_OFFSET(offset);
SAME_PAGE_OFFSET(time_running);
SAME_PAGE_OFFSET(capabilities);
SAME_PAGE_OFFSET(pmc_width);
SAME_PAGE_OFFSET(time_mult);
SAME_PAGE_OFFSET(time_zero);
SAME_PAGE_OFFSET(size);
SAME_PAGE_OFFSET(time_mask);
SAME_PAGE_OFFSET(data_head);
SAME_PAGE_OFFSET(data_size);
SAME_PAGE_OFFSET(aux_size);
static_assert(sizeof(MmapPage) == sizeof(perf_event_mmap_page));

#define CAPABILITY(field)                                                  \
    {                                                                      \
        perf_event_mmap_page theirs{};                                     \
        theirs.field = 1;                                                  \
        EXPECT_EQ(capability(#field), std::uint64_t{theirs.capabilities}); \
    }

TEST(MmapPage, CapabilitiesMatchTheKernelHeader) {
    CAPABILITY(cap_bit0);
    CAPABILITY(cap_bit0_is_deprecated);
    CAPABILITY(cap_user_rdpmc);
    CAPABILITY(cap_user_time);
    CAPABILITY(cap_user_time_zero);
    CAPABILITY(cap_user_time_short);
}

#define EXPECT_NAMED(list, constant) EXPECT_EQ(name_of(list, static_cast<std::uint64_t>(constant)), #constant)
#define EXPECT_BIT(list, constant) EXPECT_EQ(bit(list, #constant), static_cast<std::uint64_t>(constant))

TEST(EventIds, MatchTheKernelHeader) {
    EXPECT_EQ(kTypes.size(), PERF_TYPE_MAX);
    EXPECT_NAMED(kTypes, PERF_TYPE_BREAKPOINT);
    EXPECT_EQ(kHardware.size(), PERF_COUNT_HW_MAX);
    EXPECT_NAMED(kHardware, PERF_COUNT_HW_REF_CPU_CYCLES);
    EXPECT_EQ(kSoftware.size(), PERF_COUNT_SW_MAX);
    EXPECT_NAMED(kSoftware, PERF_COUNT_SW_CGROUP_SWITCHES);
    EXPECT_EQ(kCaches.size(), PERF_COUNT_HW_CACHE_MAX);
    EXPECT_EQ(kCacheOps.size(), PERF_COUNT_HW_CACHE_OP_MAX);
    EXPECT_EQ(kCacheResults.size(), PERF_COUNT_HW_CACHE_RESULT_MAX);
    EXPECT_NAMED(kCaches, PERF_COUNT_HW_CACHE_NODE);
    EXPECT_NAMED(kBreakpointTypes, HW_BREAKPOINT_RW);
    EXPECT_NAMED(kBreakpointTypes, HW_BREAKPOINT_X);
}

#define FLAG(field)                                                                                      \
    {                                                                                                    \
        perf_event_attr theirs{};                                                                        \
        theirs.field = 1;                                                                                \
        std::uint64_t ours = 0;                                                                          \
        std::memcpy(&ours, reinterpret_cast<const char*>(&theirs) + offsetof(Attr, flags), sizeof ours); \
        EXPECT_EQ(ours, flag(#field) & -flag(#field)) << "lowest bit of " #field;                        \
    }

TEST(AttrFlags, MatchTheKernelHeader){
    FLAG(disabled) FLAG(inherit) FLAG(pinned) FLAG(exclusive) FLAG(exclude_user) FLAG(exclude_kernel) FLAG(exclude_hv)
        FLAG(exclude_idle) FLAG(mmap) FLAG(comm) FLAG(freq) FLAG(inherit_stat) FLAG(enable_on_exec) FLAG(task)
            FLAG(watermark) FLAG(precise_ip) FLAG(mmap_data) FLAG(sample_id_all) FLAG(exclude_host) FLAG(exclude_guest)
                FLAG(exclude_callchain_kernel) FLAG(exclude_callchain_user) FLAG(mmap2) FLAG(comm_exec)
                    FLAG(use_clockid) FLAG(context_switch) FLAG(write_backward) FLAG(namespaces) FLAG(ksymbol)
                        FLAG(bpf_event) FLAG(aux_output) FLAG(cgroup) FLAG(text_poke) FLAG(build_id)
                            FLAG(inherit_thread) FLAG(remove_on_exec) FLAG(sigtrap)}

TEST(AttrSizes, MatchTheFieldsThatTheyAdded) {
    EXPECT_EQ(kAttrSizes[7].bytes, PERF_ATTR_SIZE_VER7);
    for (const auto& [field, version] :
         {std::pair{"config2", 1u}, std::pair{"sample_regs_intr", 4u}, std::pair{"config4", 9u}})
        EXPECT_EQ(&std::ranges::find(kAttrFields, field, &AttrField::name)->since(), &kAttrSizes[version]) << field;
}

TEST(SampleBits, MatchTheKernelHeader) {
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_IP);
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_RAW);
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_IDENTIFIER);
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_AUX);
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_CGROUP);
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_CODE_PAGE_SIZE);
    EXPECT_BIT(kSampleBits, PERF_SAMPLE_WEIGHT_STRUCT);
    EXPECT_EQ(~kReservedSampleBits & PERF_SAMPLE_MAX, 0);
    EXPECT_BIT(kReadFormatBits, PERF_FORMAT_GROUP);
    EXPECT_BIT(kReadFormatBits, PERF_FORMAT_LOST);
    EXPECT_BIT(kBranchBits, PERF_SAMPLE_BRANCH_CALL_STACK);
    EXPECT_BIT(kBranchBits, PERF_SAMPLE_BRANCH_PRIV_SAVE);
    EXPECT_BIT(kOpenFlags, PERF_FLAG_FD_CLOEXEC);
    EXPECT_BIT(kOpenFlags, PERF_FLAG_PID_CGROUP);
}

#define REQUEST(constant) EXPECT_EQ(ioctl_request(#constant), constant)

TEST(Ioctls, MatchTheKernelHeader) {
    REQUEST(PERF_EVENT_IOC_ENABLE);
    REQUEST(PERF_EVENT_IOC_DISABLE);
    REQUEST(PERF_EVENT_IOC_REFRESH);
    REQUEST(PERF_EVENT_IOC_RESET);
    REQUEST(PERF_EVENT_IOC_PERIOD);
    REQUEST(PERF_EVENT_IOC_SET_OUTPUT);
    REQUEST(PERF_EVENT_IOC_SET_FILTER);
    REQUEST(PERF_EVENT_IOC_ID);
    REQUEST(PERF_EVENT_IOC_SET_BPF);
    REQUEST(PERF_EVENT_IOC_PAUSE_OUTPUT);
    REQUEST(PERF_EVENT_IOC_QUERY_BPF);
    REQUEST(PERF_EVENT_IOC_MODIFY_ATTRIBUTES);
}

TEST(Ioctls, DirectionFitsTheKindOfArgument) {
    for (const Ioctl& row : kIoctls) {
        const bool reads = row.argument == ArgumentKind::in || row.argument == ArgumentKind::in_out ||
                           row.argument == ArgumentKind::text_in || row.argument == ArgumentKind::attr_in;
        const bool writes = row.argument == ArgumentKind::out || row.argument == ArgumentKind::in_out;
        EXPECT_EQ(row.bytes != 0, reads || writes) << row.name;
        if (row.bytes == 0) continue;  // by value: of these, some numbers have a direction, too
        EXPECT_EQ((_IOC_DIR(row.request) & _IOC_WRITE) != 0, reads) << row.name;
        EXPECT_EQ((_IOC_DIR(row.request) & _IOC_READ) != 0, writes) << row.name;
    }
    EXPECT_EQ(std::ranges::find(kIoctls, "PERF_EVENT_IOC_QUERY_BPF", &Ioctl::name)->bytes,
              sizeof(perf_event_query_bpf));
}

TEST(Records, MatchTheKernelHeader) {
    EXPECT_NAMED(kRecordTypes, PERF_RECORD_SAMPLE);
    EXPECT_NAMED(kRecordTypes, PERF_RECORD_AUX_OUTPUT_HW_ID);
    EXPECT_NAMED(kCpuModes, PERF_RECORD_MISC_GUEST_USER);
    EXPECT_BIT(kMiscBits, PERF_RECORD_MISC_COMM_EXEC);
    EXPECT_BIT(kMiscBits, PERF_RECORD_MISC_EXACT_IP);
    EXPECT_BIT(kMiscBits, PERF_RECORD_MISC_EXT_RESERVED);
    EXPECT_NAMED(kCallchainContexts, PERF_CONTEXT_USER);
    EXPECT_NAMED(kCallchainContexts, PERF_CONTEXT_GUEST_USER);
    EXPECT_BIT(kTransactionBits, PERF_TXN_CAPACITY_READ);
    EXPECT_BIT(kAuxFlags, PERF_AUX_FLAG_COLLISION);
}

#define DATA_SOURCE(field, list, constant)                                              \
    {                                                                                   \
        perf_mem_data_src theirs{};                                                     \
        theirs.field = constant;                                                        \
        const auto row = std::ranges::find(kDataSourceFields, #field, &BitField::name); \
        EXPECT_EQ(row->of(theirs.val), constant) << #field;                             \
        EXPECT_EQ(name_of(list, constant), #constant);                                  \
    }

TEST(DataSource, MatchesTheKernelHeader){
    DATA_SOURCE(mem_op, kMemOps, PERF_MEM_OP_EXEC) DATA_SOURCE(mem_lvl, kMemLevels, PERF_MEM_LVL_UNC)
        DATA_SOURCE(mem_snoop, kMemSnoops, PERF_MEM_SNOOP_HITM) DATA_SOURCE(mem_lock, kMemLocks, PERF_MEM_LOCK_LOCKED)
            DATA_SOURCE(mem_dtlb, kMemTlbs, PERF_MEM_TLB_OS)
                DATA_SOURCE(mem_lvl_num, kMemLevelNumbers, PERF_MEM_LVLNUM_PMEM)
                    DATA_SOURCE(mem_remote, kMemRemotes, PERF_MEM_REMOTE_REMOTE)
                        DATA_SOURCE(mem_snoopx, kMemSnoopExtras, PERF_MEM_SNOOPX_PEER)
                            DATA_SOURCE(mem_blk, kMemBlocks, PERF_MEM_BLK_ADDR)
                                DATA_SOURCE(mem_hops, kMemHops, PERF_MEM_HOPS_3)}

TEST(BranchEntry, MatchesTheKernelHeader) {
    perf_branch_entry theirs{};
    theirs.cycles = 0x1234;
    theirs.type = PERF_BR_ERET;
    theirs.spec = PERF_BR_SPEC_CORRECT_PATH;
    theirs.priv = PERF_BR_PRIV_HV;
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&theirs) + 16, sizeof word);
    const auto of = [&](std::string_view name) {
        return std::ranges::find(kBranchEntryFields, name, &BitField::name)->of(word);
    };
    EXPECT_EQ(of("cycles"), 0x1234);
    EXPECT_EQ(of("type"), PERF_BR_ERET);
    EXPECT_EQ(of("spec"), PERF_BR_SPEC_CORRECT_PATH);
    EXPECT_EQ(of("priv"), PERF_BR_PRIV_HV);
    EXPECT_NAMED(kBranchKinds, PERF_BR_EXTEND_ABI);
}

}  // namespace
}  // namespace anyperf::abi
