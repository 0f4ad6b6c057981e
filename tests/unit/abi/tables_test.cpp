// tables_test.cpp: our copy of the interface against the installed <linux/perf_event.h>, for what that header knows.
// The only file that includes it.
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

#define SAME_PLACE(ours, theirs) static_assert(offsetof(Attr, ours) == offsetof(perf_event_attr, theirs))
SAME_PLACE(type, type);
SAME_PLACE(size, size);
SAME_PLACE(config, config);
SAME_PLACE(sample_period, sample_freq);
SAME_PLACE(sample_type, sample_type);
SAME_PLACE(read_format, read_format);
SAME_PLACE(wakeup_events, wakeup_watermark);
SAME_PLACE(bp_type, bp_type);
SAME_PLACE(config1, uprobe_path);
SAME_PLACE(config2, probe_offset);
SAME_PLACE(branch_sample_type, branch_sample_type);
SAME_PLACE(sample_regs_user, sample_regs_user);
SAME_PLACE(sample_stack_user, sample_stack_user);
SAME_PLACE(clockid, clockid);
SAME_PLACE(sample_regs_intr, sample_regs_intr);
SAME_PLACE(aux_watermark, aux_watermark);
SAME_PLACE(sample_max_stack, sample_max_stack);
SAME_PLACE(aux_sample_size, aux_sample_size);
SAME_PLACE(sig_data, sig_data);
static_assert(sizeof(perf_event_attr) <= sizeof(Attr));

#define SAME_PAGE_PLACE(field) static_assert(offsetof(MmapPage, field) == offsetof(perf_event_mmap_page, field))
SAME_PAGE_PLACE(lock);
SAME_PAGE_PLACE(index);
SAME_PAGE_PLACE(offset);
SAME_PAGE_PLACE(time_running);
SAME_PAGE_PLACE(capabilities);
SAME_PAGE_PLACE(pmc_width);
SAME_PAGE_PLACE(time_mult);
SAME_PAGE_PLACE(time_zero);
SAME_PAGE_PLACE(size);
SAME_PAGE_PLACE(time_mask);
SAME_PAGE_PLACE(data_head);
SAME_PAGE_PLACE(data_size);
SAME_PAGE_PLACE(aux_size);
static_assert(sizeof(MmapPage) == sizeof(perf_event_mmap_page));

#define NAMED(list, constant) EXPECT_EQ(name_of(list, static_cast<std::uint64_t>(constant)), #constant)
#define BIT(list, constant) EXPECT_EQ(bit(list, #constant), static_cast<std::uint64_t>(constant))

TEST(EventIds, AreTheHeaders) {
    EXPECT_EQ(kTypes.size(), PERF_TYPE_MAX);
    NAMED(kTypes, PERF_TYPE_BREAKPOINT);
    EXPECT_EQ(kHardware.size(), PERF_COUNT_HW_MAX);
    NAMED(kHardware, PERF_COUNT_HW_REF_CPU_CYCLES);
    EXPECT_EQ(kSoftware.size(), PERF_COUNT_SW_MAX);
    NAMED(kSoftware, PERF_COUNT_SW_CGROUP_SWITCHES);
    EXPECT_EQ(kCaches.size(), PERF_COUNT_HW_CACHE_MAX);
    EXPECT_EQ(kCacheOps.size(), PERF_COUNT_HW_CACHE_OP_MAX);
    EXPECT_EQ(kCacheResults.size(), PERF_COUNT_HW_CACHE_RESULT_MAX);
    NAMED(kCaches, PERF_COUNT_HW_CACHE_NODE);
    NAMED(kBreakpointTypes, HW_BREAKPOINT_RW);
    NAMED(kBreakpointTypes, HW_BREAKPOINT_X);
}

#define FLAG(field)                                                                                      \
    {                                                                                                    \
        perf_event_attr theirs{};                                                                        \
        theirs.field = 1;                                                                                \
        std::uint64_t ours = 0;                                                                          \
        std::memcpy(&ours, reinterpret_cast<const char*>(&theirs) + offsetof(Attr, flags), sizeof ours); \
        EXPECT_EQ(ours, flag(#field) & -flag(#field)) << "lowest bit of " #field;                        \
    }

TEST(AttrFlags, AreTheHeaders){
    FLAG(disabled) FLAG(inherit) FLAG(pinned) FLAG(exclusive) FLAG(exclude_user) FLAG(exclude_kernel) FLAG(exclude_hv)
        FLAG(exclude_idle) FLAG(mmap) FLAG(comm) FLAG(freq) FLAG(inherit_stat) FLAG(enable_on_exec) FLAG(task)
            FLAG(watermark) FLAG(precise_ip) FLAG(mmap_data) FLAG(sample_id_all) FLAG(exclude_host) FLAG(exclude_guest)
                FLAG(exclude_callchain_kernel) FLAG(exclude_callchain_user) FLAG(mmap2) FLAG(comm_exec)
                    FLAG(use_clockid) FLAG(context_switch) FLAG(write_backward) FLAG(namespaces) FLAG(ksymbol)
                        FLAG(bpf_event) FLAG(aux_output) FLAG(cgroup) FLAG(text_poke) FLAG(build_id)
                            FLAG(inherit_thread) FLAG(remove_on_exec) FLAG(sigtrap)}

TEST(AttrSizes, AreThoseOfTheFields) {
    EXPECT_EQ(kAttrSizes[7].bytes, PERF_ATTR_SIZE_VER7);
    for (const auto& [field, version] :
         {std::pair{"config2", 1u}, std::pair{"sample_regs_intr", 4u}, std::pair{"config4", 9u}})
        EXPECT_EQ(&std::ranges::find(kAttrFields, field, &AttrField::name)->since(), &kAttrSizes[version]) << field;
}

TEST(SampleBits, AreTheHeaders) {
    BIT(kSampleBits, PERF_SAMPLE_IP);
    BIT(kSampleBits, PERF_SAMPLE_RAW);
    BIT(kSampleBits, PERF_SAMPLE_IDENTIFIER);
    BIT(kSampleBits, PERF_SAMPLE_AUX);
    BIT(kSampleBits, PERF_SAMPLE_CGROUP);
    BIT(kSampleBits, PERF_SAMPLE_CODE_PAGE_SIZE);
    BIT(kSampleBits, PERF_SAMPLE_WEIGHT_STRUCT);
    EXPECT_EQ(~kReservedSampleBits & PERF_SAMPLE_MAX, 0);
    BIT(kReadFormatBits, PERF_FORMAT_GROUP);
    BIT(kReadFormatBits, PERF_FORMAT_LOST);
    BIT(kBranchBits, PERF_SAMPLE_BRANCH_CALL_STACK);
    BIT(kBranchBits, PERF_SAMPLE_BRANCH_PRIV_SAVE);
    BIT(kOpenFlags, PERF_FLAG_FD_CLOEXEC);
    BIT(kOpenFlags, PERF_FLAG_PID_CGROUP);
}

#define REQUEST(constant) EXPECT_EQ(std::ranges::find(kIoctls, #constant, &Ioctl::name)->request, constant)

TEST(Ioctls, AreTheHeaders) {
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

TEST(Records, AreTheHeaders) {
    NAMED(kRecordTypes, PERF_RECORD_SAMPLE);
    NAMED(kRecordTypes, PERF_RECORD_AUX_OUTPUT_HW_ID);
    NAMED(kCpuModes, PERF_RECORD_MISC_GUEST_USER);
    BIT(kMiscBits, PERF_RECORD_MISC_COMM_EXEC);
    BIT(kMiscBits, PERF_RECORD_MISC_EXACT_IP);
    BIT(kMiscBits, PERF_RECORD_MISC_EXT_RESERVED);
    NAMED(kCallchainContexts, PERF_CONTEXT_USER);
    NAMED(kCallchainContexts, PERF_CONTEXT_GUEST_USER);
    BIT(kTransactionBits, PERF_TXN_CAPACITY_READ);
    BIT(kAuxFlags, PERF_AUX_FLAG_COLLISION);
}

#define DATA_SOURCE(field, list, constant)                                              \
    {                                                                                   \
        perf_mem_data_src theirs{};                                                     \
        theirs.field = constant;                                                        \
        const auto row = std::ranges::find(kDataSourceFields, #field, &BitField::name); \
        EXPECT_EQ(row->of(theirs.val), constant) << #field;                             \
        EXPECT_EQ(name_of(list, constant), #constant);                                  \
    }

TEST(DataSource, IsTheHeaders){
    DATA_SOURCE(mem_op, kMemOps, PERF_MEM_OP_EXEC) DATA_SOURCE(mem_lvl, kMemLevels, PERF_MEM_LVL_UNC)
        DATA_SOURCE(mem_snoop, kMemSnoops, PERF_MEM_SNOOP_HITM) DATA_SOURCE(mem_lock, kMemLocks, PERF_MEM_LOCK_LOCKED)
            DATA_SOURCE(mem_dtlb, kMemTlbs, PERF_MEM_TLB_OS)
                DATA_SOURCE(mem_lvl_num, kMemLevelNumbers, PERF_MEM_LVLNUM_PMEM)
                    DATA_SOURCE(mem_remote, kMemRemotes, PERF_MEM_REMOTE_REMOTE)
                        DATA_SOURCE(mem_snoopx, kMemSnoopExtras, PERF_MEM_SNOOPX_PEER)
                            DATA_SOURCE(mem_blk, kMemBlocks, PERF_MEM_BLK_ADDR)
                                DATA_SOURCE(mem_hops, kMemHops, PERF_MEM_HOPS_3)}

TEST(BranchEntry, IsTheHeaders) {
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
    NAMED(kBranchKinds, PERF_BR_EXTEND_ABI);
}

}  // namespace
}  // namespace anyperf::abi
