// layout.h: the layout of libpfm's structures and the values of its constants, as one header defines them. It is
// compiled once with Debian's header and once with anyperf's; abi_test.cpp compares the results. The function is
// static, so that the linker does not merge the two.
#include <cstddef>
#include <map>
#include <string>

// NOLINTBEGIN(bugprone-macro-parentheses,bugprone-sizeof-expression): types can't be parenthesized, sizes of pointers
// are meant
#define ANYPERF_NUMBER(name) {#name, static_cast<long>(name)}
#define ANYPERF_SIZE(type) {"sizeof " #type, static_cast<long>(sizeof(type))}
#define ANYPERF_FIELD(type, field) \
    {#type "." #field, static_cast<long>(offsetof(type, field) * 1000 + sizeof(type{}.field))}

/// Maps a name to a size, a constant, or offset * 1000 + size of a field.
static std::map<std::string, long> layout_of_this_header() {
    return {
        ANYPERF_SIZE(pfm_pmu_info_t),
        ANYPERF_FIELD(pfm_pmu_info_t, name),
        ANYPERF_FIELD(pfm_pmu_info_t, desc),
        ANYPERF_FIELD(pfm_pmu_info_t, size),
        ANYPERF_FIELD(pfm_pmu_info_t, pmu),
        ANYPERF_FIELD(pfm_pmu_info_t, type),
        ANYPERF_FIELD(pfm_pmu_info_t, nevents),
        ANYPERF_FIELD(pfm_pmu_info_t, first_event),
        ANYPERF_FIELD(pfm_pmu_info_t, max_encoding),
        ANYPERF_FIELD(pfm_pmu_info_t, num_cntrs),
        ANYPERF_FIELD(pfm_pmu_info_t, num_fixed_cntrs),
        ANYPERF_SIZE(pfm_event_info_t),
        ANYPERF_FIELD(pfm_event_info_t, name),
        ANYPERF_FIELD(pfm_event_info_t, desc),
        ANYPERF_FIELD(pfm_event_info_t, equiv),
        ANYPERF_FIELD(pfm_event_info_t, size),
        ANYPERF_FIELD(pfm_event_info_t, code),
        ANYPERF_FIELD(pfm_event_info_t, pmu),
        ANYPERF_FIELD(pfm_event_info_t, dtype),
        ANYPERF_FIELD(pfm_event_info_t, idx),
        ANYPERF_FIELD(pfm_event_info_t, nattrs),
        ANYPERF_FIELD(pfm_event_info_t, reserved),
        ANYPERF_SIZE(pfm_event_attr_info_t),
        ANYPERF_FIELD(pfm_event_attr_info_t, name),
        ANYPERF_FIELD(pfm_event_attr_info_t, desc),
        ANYPERF_FIELD(pfm_event_attr_info_t, equiv),
        ANYPERF_FIELD(pfm_event_attr_info_t, size),
        ANYPERF_FIELD(pfm_event_attr_info_t, code),
        ANYPERF_FIELD(pfm_event_attr_info_t, type),
        ANYPERF_FIELD(pfm_event_attr_info_t, idx),
        ANYPERF_FIELD(pfm_event_attr_info_t, ctrl),
        ANYPERF_FIELD(pfm_event_attr_info_t, dfl_val64),
        ANYPERF_SIZE(pfm_pmu_encode_arg_t),
        ANYPERF_FIELD(pfm_pmu_encode_arg_t, codes),
        ANYPERF_FIELD(pfm_pmu_encode_arg_t, fstr),
        ANYPERF_FIELD(pfm_pmu_encode_arg_t, size),
        ANYPERF_FIELD(pfm_pmu_encode_arg_t, count),
        ANYPERF_FIELD(pfm_pmu_encode_arg_t, idx),
        ANYPERF_SIZE(pfm_perf_encode_arg_t),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, attr),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, fstr),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, size),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, idx),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, cpu),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, flags),
        ANYPERF_FIELD(pfm_perf_encode_arg_t, pad0),
        ANYPERF_NUMBER(LIBPFM_VERSION),
        ANYPERF_NUMBER(LIBPFM_ABI_VERSION),
        ANYPERF_NUMBER(PFM_MAJ_VERSION(LIBPFM_VERSION)),
        ANYPERF_NUMBER(PFM_PLM0),
        ANYPERF_NUMBER(PFM_PLM3),
        ANYPERF_NUMBER(PFM_PLMH),
        ANYPERF_NUMBER(PFM_PMU_TYPE_CORE),
        ANYPERF_NUMBER(PFM_PMU_TYPE_UNCORE),
        ANYPERF_NUMBER(PFM_PMU_TYPE_OS_GENERIC),
        ANYPERF_NUMBER(PFM_PMU_TYPE_MAX),
        ANYPERF_NUMBER(PFM_ATTR_UMASK),
        ANYPERF_NUMBER(PFM_ATTR_MOD_BOOL),
        ANYPERF_NUMBER(PFM_ATTR_MOD_INTEGER),
        ANYPERF_NUMBER(PFM_ATTR_RAW_UMASK),
        ANYPERF_NUMBER(PFM_ATTR_MAX),
        ANYPERF_NUMBER(PFM_DTYPE_UINT64),
        ANYPERF_NUMBER(PFM_DTYPE_CHAR8),
        ANYPERF_NUMBER(PFM_DTYPE_MAX),
        ANYPERF_NUMBER(PFM_ATTR_CTRL_PMU),
        ANYPERF_NUMBER(PFM_ATTR_CTRL_PERF_EVENT),
        ANYPERF_NUMBER(PFM_ATTR_CTRL_MAX),
        ANYPERF_NUMBER(PFM_OS_NONE),
        ANYPERF_NUMBER(PFM_OS_PERF_EVENT),
        ANYPERF_NUMBER(PFM_OS_PERF_EVENT_EXT),
        ANYPERF_NUMBER(PFM_OS_MAX),
        ANYPERF_NUMBER(PFM_EVENT_INFO_SPEC_TRUE),
        ANYPERF_NUMBER(PFM_EVENT_INFO_SPEC_FALSE),
        ANYPERF_NUMBER(PFM_ERR_NOTSUPP),
        ANYPERF_NUMBER(PFM_ERR_TOOSMALL),
        ANYPERF_NUMBER(PFM_EVENT_INFO_ABI0),
        ANYPERF_NUMBER(PFM_ATTR_INFO_ABI0),
        ANYPERF_NUMBER(PFM_RAW_ENCODE_ABI0),
        ANYPERF_NUMBER(PFM_PERF_ENCODE_ABI0),
        ANYPERF_NUMBER(PFM_PMU_NONE),
        ANYPERF_NUMBER(PFM_PMU_INTEL_SKL),
        ANYPERF_NUMBER(PFM_PMU_PERF_EVENT),
        ANYPERF_NUMBER(PFM_PMU_AMD64_FAM19H_ZEN4),
        ANYPERF_NUMBER(PFM_PMU_ARM_V2),
    };
}
// NOLINTEND(bugprone-macro-parentheses,bugprone-sizeof-expression)
