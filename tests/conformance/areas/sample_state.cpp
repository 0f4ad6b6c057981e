// sample_state.cpp: what a sample keeps of the program: call chains, registers, stack. The programs are chain.S.
#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/machine.h"
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

/// Samples of the page fault that `body` makes by its one store; `stack_pointer` is what body returns.
struct Taken {
    Sample sample;
    std::uint64_t stack_pointer = 0;
};

Taken take(const Attr& attr, std::uint64_t (*body)(char*)) {
    Faults faults;
    const Event event{attr};
    Ring ring{event, 32};
    Taken taken;
    for (int round = 0; round < 2; ++round) {  // the first touches what the second counts
        ring.drain();
        char* target = faults.next();
        faults.cause(1);
        target += Faults::kPage;
        event.enable();
        taken.stack_pointer = body(target);
        event.disable();
        faults.cause(1);
    }
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("samples", samples.size(), 1U);
    taken.sample = samples[0];
    want_equal("bytes behind the fields", taken.sample.left_over, 0U);
    return taken;
}

std::uint64_t chain(char* target) {
    conformance_chain(target);
    return 0;
}

Attr sampling(std::uint64_t type) {
    return changed(page_faults(1), [&](Attr& a) { a.sample_type = type | PERF_SAMPLE_IP; });
}

constexpr std::uint64_t kUserContext = PERF_CONTEXT_USER;

void callchain() {
    const Sample sample = take(sampling(PERF_SAMPLE_CALLCHAIN), chain).sample;
    want_at_least("entries", sample.callchain.size(), 5U);
    want_equal("context", sample.callchain[0], kUserContext);
    want_equal("ip", sample.callchain[1], at(conformance_chain_store));
    want_equal("return to the middle", sample.callchain[2], at(conformance_chain_inner));
    want_equal("return to the outer", sample.callchain[3], at(conformance_chain_outer));
}

void callchain_ip_is_ip() {
    const Sample sample = take(sampling(PERF_SAMPLE_CALLCHAIN), chain).sample;
    want_equal("the first address", sample.callchain.at(1), sample.ip);
}

void depth(std::uint16_t frames) {
    const Attr attr = changed(sampling(PERF_SAMPLE_CALLCHAIN), [&](Attr& a) { a.sample_max_stack = frames; });
    const Sample sample = take(attr, chain).sample;
    want_equal("entries: the context and the frames", sample.callchain.size(), 1U + frames);
}

void without_user_chain() {
    const Attr attr = changed(sampling(PERF_SAMPLE_CALLCHAIN), [](Attr& a) { a.exclude_callchain_user = 1; });
    want_equal("entries", take(attr, chain).sample.callchain.size(), 0U);
}

void without_kernel_chain() {
    const Attr attr = changed(sampling(PERF_SAMPLE_CALLCHAIN), [](Attr& a) { a.exclude_callchain_kernel = 1; });
    want_equal("the first address", take(attr, chain).sample.callchain.at(1), at(conformance_chain_store));
}

__attribute__((noinline)) std::uint64_t deep(char* target, int frames) {
    const std::uint64_t result = frames == 0 ? chain(target) : deep(target, frames - 1);
    asm volatile("" ::: "memory");  // no tail call
    return result;
}

void at_most_the_limit() {
    const Sample sample = take(sampling(PERF_SAMPLE_CALLCHAIN), [](char* target) { return deep(target, 300); }).sample;
    want_equal("entries: the context and kernel.perf_event_max_stack", static_cast<long>(sample.callchain.size()),
               1 + sysctl("perf_event_max_stack").value_or(127));
}

/// bx, cx, …: PERF_REG_X86_* number -> value at the store of conformance_registers().
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
    const Sample sample = take(with_registers(bit, bit), conformance_registers).sample;
    want_equal("abi", sample.user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
    want_equal("user", sample.user_registers.at(0), row.value);
    want_equal("interrupt's abi", sample.intr_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
    want_equal("interrupt's", sample.intr_registers.at(0), row.value);
}

void pointers() {
    const Taken taken = take(with_registers(1U << 7 | 1U << 8, 0), conformance_registers);
    want_equal("sp", taken.sample.user_registers.at(0), taken.stack_pointer);
    want_equal("ip", taken.sample.user_registers.at(1), at(conformance_registers_store));
}

void flags_register() {
    const Sample sample = take(with_registers(1U << 9, 0), conformance_registers).sample;
    want_equal("flags: bit 1 and IF are set", sample.user_registers.at(0) & 0x202U, 0x202U);
}

void in_order_of_bits() {
    const Sample sample =
        take(with_registers(1U << 0 | 1U << 3 | 1U << 16 | 1U << 23, 0), conformance_registers).sample;
    want_equal("ax, dx, r8, r15", sample.user_registers, std::vector<std::uint64_t>{0x100, 0x103, 0x110, 0x117});
}

Attr with_stack(std::uint32_t bytes) {
    return changed(sampling(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER), [&](Attr& a) {
        a.sample_stack_user = bytes;
        a.sample_regs_user = 1U << 7;
    });
}

void stack(std::uint32_t bytes) {
    const Sample sample = take(with_stack(bytes), conformance_registers).sample;
    want_equal("size", sample.stack_size, bytes);
    want_equal("valid size", sample.stack_dynamic, bytes);
    std::array<std::uint64_t, 2> top{};
    std::memcpy(top.data(), sample.stack.data(), sizeof top);
    want_equal("the word at the stack pointer", top[0], 0x201U);
    want_equal("the word above it", top[1], 0x202U);
}

void stack_0() {
    want_equal("size", take(with_stack(0), conformance_registers).sample.stack_size, 0U);
}

void stack_is_cut() {
    const Attr attr = changed(page_faults(1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_STACK_USER;
        a.sample_stack_user = 65528;
    });
    const Sample sample = take(attr, conformance_registers).sample;
    want_at_most("size, so that the record stays below 64 KiB", sample.stack_size, 65512U);
    want_at_least("size", sample.stack_size, 65000U);
    want_at_most("valid size", sample.stack_dynamic, sample.stack_size);
}

void ip_of_the_store() {
    want_equal("ip", take(sampling(0), chain).sample.ip, at(conformance_chain_store));
}

}  // namespace

std::vector<Case> sample_state_cases() {
    std::vector<Case> cases{
        {"ip", "IP of a page fault is the faulting instruction", kNothing, ip_of_the_store},
        {"callchain", "CALLCHAIN: context, ip, return addresses by frame pointers", kNothing, callchain},
        {"callchain_ip", "its first address is IP", kNothing, callchain_ip_is_ip},
        {"depth_1", "sample_max_stack 1: the ip alone", kNothing, [] { depth(1); }},
        {"depth_2", "sample_max_stack 2: one return address", kNothing, [] { depth(2); }},
        {"depth_3", "sample_max_stack 3: two", kNothing, [] { depth(3); }},
        {"depth_limit", "without sample_max_stack at most kernel.perf_event_max_stack frames", kNothing,
         at_most_the_limit},
        {"exclude_user", "exclude_callchain_user leaves an empty chain", kNothing, without_user_chain},
        {"exclude_kernel", "exclude_callchain_kernel leaves the user's", kNothing, without_kernel_chain},
        {"register.sp_ip", "REGS_USER: sp and ip", kNothing, pointers},
        {"register.flags", "REGS_USER: flags", kNothing, flags_register},
        {"register.order", "registers come in the order of their bits", kNothing, in_order_of_bits},
        {"stack_16", "STACK_USER: bytes from the stack pointer up", kNothing, [] { stack(16); }},
        {"stack_256", "STACK_USER of 256 bytes", kNothing, [] { stack(256); }},
        {"stack_1024", "STACK_USER of 1024 bytes", kNothing, [] { stack(1024); }},
        {"stack_0", "STACK_USER of 0 bytes: one word 0", kNothing, stack_0},
        {"stack_cut", "STACK_USER is cut so that the record stays below 64 KiB", kNothing, stack_is_cut},
    };
    for (const Register& row : kRegisters)
        cases.push_back({std::string{"register."} + row.name, "REGS_USER and REGS_INTR have the register's value",
                         kNothing, [&row] { check_register(row); }});
    return cases;
}

}  // namespace conformance
