// attr_fields.cpp: which values of the fields and bits of perf_event_attr are accepted and which are refused, by
// perf_event_open(2), and by Linux 6.18 where the manual is silent.
#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"

namespace conformance {

namespace {

constexpr std::size_t kAuxWord = 116;  ///< aux_start_paused, aux_pause, aux_resume: after the header's __reserved_3
constexpr std::size_t kFlags = 40;     ///< the bit-fields from `disabled` on

void set_bit(Attr& attr, std::size_t offset, unsigned bit) {
    auto* bytes = reinterpret_cast<unsigned char*>(&attr);
    bytes[offset + bit / 8] |= static_cast<unsigned char>(1U << bit % 8);
}

constexpr std::array kRows{
    OpenRow{"reserved_flag_38", "flag bit 38 is reserved", EINVAL, [](Call& c) { set_bit(c.attr, kFlags, 38); }},
    OpenRow{"reserved_flag_63", "flag bit 63 is reserved", EINVAL, [](Call& c) { set_bit(c.attr, kFlags, 63); }},
    OpenRow{"reserved_2", "__reserved_2 must be 0", EINVAL, [](Call& c) { c.attr.__reserved_2 = 1; }},
    OpenRow{"aux_word_reserved", "bits 3 and up of the word at 116 are reserved", EINVAL,
            [](Call& c) { set_bit(c.attr, kAuxWord, 3); }},
    OpenRow{"aux_word_bit_31", "bit 31 of the word at 116 is reserved", EINVAL,
            [](Call& c) { set_bit(c.attr, kAuxWord, 31); }},
    OpenRow{"aux_start_paused", "aux_start_paused needs a PMU with AUX", EOPNOTSUPP,
            [](Call& c) { set_bit(c.attr, kAuxWord, 0); }},
    OpenRow{"aux_pause", "aux_pause needs an AUX group", EINVAL, [](Call& c) { set_bit(c.attr, kAuxWord, 1); }},
    OpenRow{"aux_resume", "aux_resume needs an AUX group", EINVAL, [](Call& c) { set_bit(c.attr, kAuxWord, 2); }},
    OpenRow{"aux_output", "aux_output needs a PMU with AUX", EOPNOTSUPP, [](Call& c) { c.attr.aux_output = 1; }},
    OpenRow{"aux_sample_size", "AUX sampling needs a PMU with AUX", EINVAL,
            [](Call& c) {
                c.attr.sample_type = PERF_SAMPLE_AUX;
                c.attr.aux_sample_size = 64;
            }},
    OpenRow{"aux_sample_size_0", "sample_type AUX with aux_sample_size 0 is accepted: it requests no AUX data", 0,
            [](Call& c) { c.attr.sample_type = PERF_SAMPLE_AUX; }},
    OpenRow{"aux_watermark", "aux_watermark is ignored without AUX", 0, [](Call& c) { c.attr.aux_watermark = 4096; }},
    OpenRow{"read_format_all", "read_format: bits 0 to 4 are known", 0, [](Call& c) { c.attr.read_format = 31; }},
    OpenRow{"read_format_5", "read_format: bit 5 is unknown", EINVAL, [](Call& c) { c.attr.read_format = 32; }},
    OpenRow{"read_format_63", "read_format: bit 63 is unknown", EINVAL,
            [](Call& c) { c.attr.read_format = 1ULL << 63; }},
    OpenRow{"sample_type_25", "sample_type: bit 25 is unknown", EINVAL,
            [](Call& c) { c.attr.sample_type = 1ULL << 25; }},
    OpenRow{"sample_type_63", "sample_type: bit 63 is unknown", EINVAL,
            [](Call& c) { c.attr.sample_type = 1ULL << 63; }},
    OpenRow{"both_weights", "WEIGHT and WEIGHT_STRUCT exclude each other", EINVAL,
            [](Call& c) { c.attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT; }},
    OpenRow{"period_63_bits", "sample_period 2^63-1 is accepted", 0,
            [](Call& c) { c.attr.sample_period = (1ULL << 63) - 1; }},
    OpenRow{"period_bit_63", "sample_period with bit 63 is refused", EINVAL,
            [](Call& c) { c.attr.sample_period = 1ULL << 63; }},
    OpenRow{"freq_0", "freq with sample_freq 0 is accepted", 0, [](Call& c) { c.attr.freq = 1; }},
    OpenRow{"freq_at_the_limit", "sample_freq may be kernel.perf_event_max_sample_rate", 0,
            [](Call& c) {
                c.attr.freq = 1;
                c.attr.sample_freq = static_cast<std::uint64_t>(sysctl("perf_event_max_sample_rate").value_or(1));
            }},
    OpenRow{"freq_above_the_limit", "sample_freq above kernel.perf_event_max_sample_rate is EINVAL", EINVAL,
            [](Call& c) {
                c.attr.freq = 1;
                c.attr.sample_freq = static_cast<std::uint64_t>(sysctl("perf_event_max_sample_rate").value_or(1)) + 1;
            }},
    OpenRow{"precise_1", "precise_ip 1 on a software event has no effect", 0, [](Call& c) { c.attr.precise_ip = 1; }},
    OpenRow{"precise_3", "precise_ip 3 on a software event has no effect", 0, [](Call& c) { c.attr.precise_ip = 3; }},
    OpenRow{"sigtrap_alone", "sigtrap without remove_on_exec is refused", EINVAL, [](Call& c) { c.attr.sigtrap = 1; }},
    OpenRow{"sigtrap", "sigtrap with remove_on_exec is accepted", 0,
            [](Call& c) { c.attr.sigtrap = c.attr.remove_on_exec = 1; }},
    OpenRow{"sigtrap_inherit", "sigtrap with inherit is accepted", 0,
            [](Call& c) { c.attr.sigtrap = c.attr.remove_on_exec = c.attr.inherit = 1; }},
    OpenRow{"sigtrap_inherit_thread", "sigtrap with inherit_thread is accepted", 0,
            [](Call& c) { c.attr.sigtrap = c.attr.remove_on_exec = c.attr.inherit = c.attr.inherit_thread = 1; }},
    OpenRow{"sig_data_alone", "sig_data without sigtrap is ignored", 0, [](Call& c) { c.attr.sig_data = ~0ULL; }},
    OpenRow{"remove_and_enable", "remove_on_exec with enable_on_exec is refused", EINVAL,
            [](Call& c) { c.attr.remove_on_exec = c.attr.enable_on_exec = 1; }},
    OpenRow{"remove_on_exec", "remove_on_exec alone is accepted", 0, [](Call& c) { c.attr.remove_on_exec = 1; }},
    OpenRow{"inherit_thread_alone", "inherit_thread without inherit is refused", EINVAL,
            [](Call& c) { c.attr.inherit_thread = 1; }},
    OpenRow{"inherit_thread", "inherit_thread with inherit is accepted", 0,
            [](Call& c) { c.attr.inherit = c.attr.inherit_thread = 1; }},
    OpenRow{"inherit_group_format", "inherit with FORMAT_GROUP is accepted", 0,
            [](Call& c) {
                c.attr.inherit = 1;
                c.attr.read_format = PERF_FORMAT_GROUP;
            }},
    OpenRow{"inherit_sample_read", "inherit with SAMPLE_READ but without TID is refused", EINVAL,
            [](Call& c) {
                c.attr.inherit = 1;
                c.attr.sample_type = PERF_SAMPLE_READ;
            }},
    OpenRow{"inherit_sample_read_tid", "inherit with SAMPLE_READ and TID is accepted", 0,
            [](Call& c) {
                c.attr.inherit = 1;
                c.attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
            }},
    OpenRow{"inherit_sample_read_group", "inherit with SAMPLE_READ, TID and FORMAT_GROUP is accepted", 0,
            [](Call& c) {
                c.attr.inherit = 1;
                c.attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
                c.attr.read_format = PERF_FORMAT_GROUP;
            }},
    OpenRow{"namespaces", "namespaces needs privileges", 0, [](Call& c) { c.attr.namespaces = 1; }, kRoot},
    OpenRow{"pinned", "a leader may be pinned", 0, [](Call& c) { c.attr.pinned = 1; }},
    OpenRow{"exclusive", "a leader may be exclusive", 0, [](Call& c) { c.attr.exclusive = 1; }},
    OpenRow{"pinned_and_exclusive", "a leader may be pinned and exclusive", 0,
            [](Call& c) { c.attr.pinned = c.attr.exclusive = 1; }},
    OpenRow{"bp_fields_of_software", "breakpoint fields of other types are ignored", 0,
            [](Call& c) {
                c.attr.bp_type = 7;
                c.attr.bp_addr = c.attr.bp_len = ~0ULL;
            }},
    OpenRow{"config3", "config3 of a software event is ignored", 0, [](Call& c) { c.attr.config3 = ~0ULL; }},
    OpenRow{"type_unknown", "an unknown type is ENOENT", ENOENT, [](Call& c) { c.attr.type = 0x7fffffff; }},
    OpenRow{"type_all_ones", "a type of 32 ones is ENOENT", ENOENT, [](Call& c) { c.attr.type = 0xffffffff; }},
    OpenRow{"wakeup_events", "wakeup_events may have any value", 0, [](Call& c) { c.attr.wakeup_events = 0xffffffff; }},
    OpenRow{"watermark", "wakeup_watermark may have any value", 0,
            [](Call& c) {
                c.attr.watermark = 1;
                c.attr.wakeup_watermark = 0xffffffff;
            }},
};

/// Bits that request records or restrict what is counted: each is accepted for any event.
struct Bit {
    const char* name;
    void (*set)(Attr&);
    unsigned value = 1;
};

constexpr std::array kBits{
    Bit{"disabled", [](Attr& a) { a.disabled = 1; }},
    Bit{"disabled", [](Attr& a) { a.disabled = 0; }, 0},
    Bit{"inherit", [](Attr& a) { a.inherit = 1; }},
    Bit{"inherit_stat", [](Attr& a) { a.inherit_stat = 1; }},
    Bit{"exclude_user", [](Attr& a) { a.exclude_user = 1; }},
    Bit{"exclude_hv", [](Attr& a) { a.exclude_hv = 0; }, 0},
    Bit{"exclude_idle", [](Attr& a) { a.exclude_idle = 1; }},
    Bit{"exclude_host", [](Attr& a) { a.exclude_host = 1; }},
    Bit{"exclude_guest", [](Attr& a) { a.exclude_guest = 1; }},
    Bit{"exclude_callchain_kernel", [](Attr& a) { a.exclude_callchain_kernel = 1; }},
    Bit{"exclude_callchain_user", [](Attr& a) { a.exclude_callchain_user = 1; }},
    Bit{"mmap", [](Attr& a) { a.mmap = 1; }},
    Bit{"comm", [](Attr& a) { a.comm = 1; }},
    Bit{"task", [](Attr& a) { a.task = 1; }},
    Bit{"mmap_data", [](Attr& a) { a.mmap_data = 1; }},
    Bit{"mmap2", [](Attr& a) { a.mmap2 = 1; }},
    Bit{"comm_exec", [](Attr& a) { a.comm_exec = 1; }},
    Bit{"enable_on_exec", [](Attr& a) { a.enable_on_exec = 1; }},
    Bit{"sample_id_all", [](Attr& a) { a.sample_id_all = 1; }},
    Bit{"context_switch", [](Attr& a) { a.context_switch = 1; }},
    Bit{"write_backward", [](Attr& a) { a.write_backward = 1; }},
    Bit{"ksymbol", [](Attr& a) { a.ksymbol = 1; }},
    Bit{"bpf_event", [](Attr& a) { a.bpf_event = 1; }},
    Bit{"cgroup", [](Attr& a) { a.cgroup = 1; }},
    Bit{"text_poke", [](Attr& a) { a.text_poke = 1; }},
    Bit{"build_id", [](Attr& a) { a.build_id = 1; }},
};

}  // namespace

std::vector<Case> attr_field_cases() {
    std::vector<Case> cases = open_cases(kRows, dummy());
    for (const Bit& bit : kBits)
        cases.push_back({std::string{"bit."} + bit.name + (bit.value == 0 ? "_clear" : ""),
                         std::string{"attr."} + bit.name + " = " + std::to_string(bit.value) + " is accepted", kNothing,
                         [bit] { want_result("perf_event_open", result_of(changed(dummy(), bit.set)), 0); }});
    for (unsigned bit = 0; bit < 25; ++bit)
        cases.push_back({"sample_bit." + std::to_string(bit),
                         "sample_type: bit " + std::to_string(bit) +
                             (bit == 11 ? " is known, but EOPNOTSUPP for a software event" : " is accepted"),
                         bit == 19 ? kRoot : kNothing, [bit] {
                             Attr attr = page_faults(1);
                             attr.sample_type = 1ULL << bit;
                             attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
                             attr.sample_regs_user = attr.sample_regs_intr = 1;
                             const int expected = bit == 11 ? EOPNOTSUPP : 0;  // BRANCH_STACK on a software event
                             want_result("perf_event_open", result_of(attr), expected);
                         }});
    return cases;
}

}  // namespace conformance
