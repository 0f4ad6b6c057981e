// sample_state.cpp: the program state in a sample: callchain, registers and stack. The sampled code is suite/chain.S,
// whose addresses and register values are known.
#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

extern "C" {
void conformance_chain(char* target);
std::uint64_t conformance_registers(char* target);
extern const char conformance_chain_outer[];
extern const char conformance_chain_inner[];
extern const char conformance_chain_store[];
extern const char conformance_registers_store[];
}

namespace conformance {

namespace {

std::uint64_t at(const char* label) {
    return reinterpret_cast<std::uint64_t>(label);
}

/// The sample of the page fault that `body` causes by its only store.
struct Sampled {
    Sample sample;
    std::uint64_t stack_pointer = 0;  ///< the result of `body`
};

Sampled sample_fault(const Attr& attr, std::uint64_t (*body)(char*)) {
    Faults faults;
    const Event event{attr};
    Ring ring{event, 32};
    Sampled result;
    for (int round = 0; round < 2; ++round) {  // the first round touches the pages of the code of the second
        ring.drain();
        char* target = faults.next();
        faults.cause(1);
        target += Faults::kPage;
        event.enable();
        result.stack_pointer = body(target);
        event.disable();
        faults.cause(1);
    }
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("samples", samples.size(), 1U);
    result.sample = samples[0];
    want_equal("bytes after the fields", result.sample.left_over, 0U);
    return result;
}

std::uint64_t call_chain(char* target) {
    conformance_chain(target);
    return 0;
}

Attr sampling(std::uint64_t type) {
    return changed(page_faults(1), [&](Attr& a) { a.sample_type = type | PERF_SAMPLE_IP; });
}

constexpr std::uint64_t kUserContext = PERF_CONTEXT_USER;

void callchain() {
    const Sample sample = sample_fault(sampling(PERF_SAMPLE_CALLCHAIN), call_chain).sample;
    want_at_least("entries", sample.callchain.size(), 5U);
    want_equal("context", sample.callchain[0], kUserContext);
    want_equal("ip", sample.callchain[1], at(conformance_chain_store));
    want_equal("return address in the middle function", sample.callchain[2], at(conformance_chain_inner));
    want_equal("return address in the outer function", sample.callchain[3], at(conformance_chain_outer));
}

void callchain_starts_at_ip() {
    const Sample sample = sample_fault(sampling(PERF_SAMPLE_CALLCHAIN), call_chain).sample;
    want_equal("the first address", sample.callchain.at(1), sample.ip);
}

void depth(std::uint16_t frames) {
    const Attr attr = changed(sampling(PERF_SAMPLE_CALLCHAIN), [&](Attr& a) { a.sample_max_stack = frames; });
    const Sample sample = sample_fault(attr, call_chain).sample;
    want_equal("entries: the context and the frames", sample.callchain.size(), 1U + frames);
}

void exclude_user_frames() {
    const Attr attr = changed(sampling(PERF_SAMPLE_CALLCHAIN), [](Attr& a) { a.exclude_callchain_user = 1; });
    want_equal("entries", sample_fault(attr, call_chain).sample.callchain.size(), 0U);
}

void exclude_kernel_frames() {
    const Attr attr = changed(sampling(PERF_SAMPLE_CALLCHAIN), [](Attr& a) { a.exclude_callchain_kernel = 1; });
    want_equal("the first address", sample_fault(attr, call_chain).sample.callchain.at(1), at(conformance_chain_store));
}

__attribute__((noinline)) std::uint64_t call_deep(char* target, int frames) {
    const std::uint64_t result = frames == 0 ? call_chain(target) : call_deep(target, frames - 1);
    asm volatile("" ::: "memory");  // prevents a tail call
    return result;
}

void depth_limit() {
    const Sample sample =
        sample_fault(sampling(PERF_SAMPLE_CALLCHAIN), [](char* target) { return call_deep(target, 300); }).sample;
    want_equal("entries: the context and kernel.perf_event_max_stack", static_cast<long>(sample.callchain.size()),
               1 + sysctl("perf_event_max_stack").value_or(127));
}

/// The number of a register (PERF_REG_X86_*) and its value at the store of conformance_registers().
struct Register {
    const char* name;
    unsigned number;
    std::uint64_t value;
};

constexpr std::array kRegisters{
    Register{"ax", 0, 0x100},   Register{"bx", 1, 0x101},   Register{"cx", 2, 0x102},   Register{"dx", 3, 0x103},
    Register{"si", 4, 0x104},   Register{"bp", 6, 0x106},   Register{"cs", 10, 0x33},   Register{"ss", 11, 0x2b},
    Register{"r8", 16, 0x110},  Register{"r9", 17, 0x111},  Register{"r10", 18, 0x112}, Register{"r11", 19, 0x113},
    Register{"r12", 20, 0x114}, Register{"r13", 21, 0x115}, Register{"r14", 22, 0x116}, Register{"r15", 23, 0x117},
};

Attr with_registers(std::uint64_t user, std::uint64_t interrupt) {
    return changed(sampling((user != 0 ? PERF_SAMPLE_REGS_USER : 0) | (interrupt != 0 ? PERF_SAMPLE_REGS_INTR : 0)),
                   [&](Attr& a) {
                       a.sample_regs_user = user;
                       a.sample_regs_intr = interrupt;
                   });
}

void check_register(const Register& row) {
    const std::uint64_t bit = 1ULL << row.number;
    const Sample sample = sample_fault(with_registers(bit, bit), conformance_registers).sample;
    want_equal("REGS_USER abi", sample.user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
    want_equal("REGS_USER", sample.user_registers.at(0), row.value);
    want_equal("REGS_INTR abi", sample.intr_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
    want_equal("REGS_INTR", sample.intr_registers.at(0), row.value);
}

void stack_and_instruction_pointer() {
    const Sampled taken = sample_fault(with_registers(1U << 7 | 1U << 8, 0), conformance_registers);
    want_equal("sp", taken.sample.user_registers.at(0), taken.stack_pointer);
    want_equal("ip", taken.sample.user_registers.at(1), at(conformance_registers_store));
}

void flags_register() {
    const Sample sample = sample_fault(with_registers(1U << 9, 0), conformance_registers).sample;
    want_equal("flags: bit 1 and IF are set", sample.user_registers.at(0) & 0x202U, 0x202U);
}

void in_order_of_bits() {
    const Sample sample =
        sample_fault(with_registers(1U << 0 | 1U << 3 | 1U << 16 | 1U << 23, 0), conformance_registers).sample;
    want_equal("ax, dx, r8, r15", sample.user_registers, std::vector<std::uint64_t>{0x100, 0x103, 0x110, 0x117});
}

Attr with_stack(std::uint32_t bytes) {
    return changed(sampling(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER), [&](Attr& a) {
        a.sample_stack_user = bytes;
        a.sample_regs_user = 1U << 7;
    });
}

void stack(std::uint32_t bytes) {
    const Sample sample = sample_fault(with_stack(bytes), conformance_registers).sample;
    want_equal("size", sample.stack_size, bytes);
    want_equal("valid size", sample.stack_dynamic, bytes);
    std::array<std::uint64_t, 2> top{};
    std::memcpy(top.data(), sample.stack.data(), sizeof top);
    want_equal("the word at the stack pointer", top[0], 0x201U);
    want_equal("the word above it", top[1], 0x202U);
}

void stack_0() {
    want_equal("size", sample_fault(with_stack(0), conformance_registers).sample.stack_size, 0U);
}

void stack_is_truncated() {
    const Attr attr = changed(page_faults(1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_STACK_USER;
        a.sample_stack_user = 65528;
    });
    const Sample sample = sample_fault(attr, conformance_registers).sample;
    want_at_most("size, so that the record stays below 64 KiB", sample.stack_size, 65512U);
    want_at_least("size", sample.stack_size, 65000U);
    want_at_most("valid size", sample.stack_dynamic, sample.stack_size);
}

void ip_of_the_store() {
    want_equal("ip", sample_fault(sampling(0), call_chain).sample.ip, at(conformance_chain_store));
}

}  // namespace

std::vector<Case> sample_state_cases() {
    std::vector<Case> cases{
        {"ip", "IP of a page fault is the faulting instruction", kNothing, ip_of_the_store},
        {"callchain", "CALLCHAIN has the context, the ip, and the return addresses found by frame pointers", kNothing,
         callchain},
        {"callchain_ip", "the first address of CALLCHAIN is IP", kNothing, callchain_starts_at_ip},
        {"depth_1", "with sample_max_stack 1 CALLCHAIN has only the ip", kNothing, [] { depth(1); }},
        {"depth_2", "with sample_max_stack 2 CALLCHAIN has one return address", kNothing, [] { depth(2); }},
        {"depth_3", "with sample_max_stack 3 CALLCHAIN has two return addresses", kNothing, [] { depth(3); }},
        {"depth_limit", "without sample_max_stack CALLCHAIN has at most kernel.perf_event_max_stack frames", kNothing,
         depth_limit},
        {"exclude_user", "with exclude_callchain_user CALLCHAIN of a user event is empty", kNothing,
         exclude_user_frames},
        {"exclude_kernel", "with exclude_callchain_kernel CALLCHAIN still has user frames", kNothing,
         exclude_kernel_frames},
        {"register.sp_ip", "REGS_USER has sp and ip", kNothing, stack_and_instruction_pointer},
        {"register.flags", "REGS_USER has flags", kNothing, flags_register},
        {"register.order", "registers are in the order of their bits", kNothing, in_order_of_bits},
        {"stack_16", "STACK_USER of 16 bytes has the stack from the stack pointer up", kNothing, [] { stack(16); }},
        {"stack_256", "STACK_USER of 256 bytes has the stack from the stack pointer up", kNothing, [] { stack(256); }},
        {"stack_1024", "STACK_USER of 1024 bytes has the stack from the stack pointer up", kNothing,
         [] { stack(1024); }},
        {"stack_0", "STACK_USER of 0 bytes is one word 0", kNothing, stack_0},
        {"stack_cut", "STACK_USER is truncated so that the record stays below 64 KiB", kNothing, stack_is_truncated},
    };
    for (const Register& row : kRegisters)
        cases.push_back({std::string{"register."} + row.name,
                         std::string{"REGS_USER and REGS_INTR have the value of "} + row.name, kNothing,
                         [&row] { check_register(row); }});
    return cases;
}

}  // namespace conformance
