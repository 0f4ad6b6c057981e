// decode_test.cpp: instructions whose decoding a reader can check by eye. The other decode_*_test.cpp compare with
// Zydis.
#include "engine/x86_64/decode/decode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/x86_64/decode/classes.h"

namespace anyperf::engine::x86_64 {
namespace {

constexpr RegisterSet kRax = 1, kRcx = 2, kRdx = 4, kRsp = 0x10, kRsi = 0x40, kRdi = 0x80, kR8 = 0x100, kR11 = 0x800;
constexpr FlagSet kCf = 1, kZf = 0x40;

std::vector<std::uint8_t> bytes_of(const std::string& hex) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t at = 0; at < hex.size(); at += 3)
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(at, 2), nullptr, 16)));
    return bytes;
}

std::string classes_of(const Instruction& instruction) {
    std::string names;
    for (const ClassRow& row : kClasses)
        if (instruction.classes & bit(row.id)) names += (names.empty() ? "" : " ") + std::string{row.name};
    return names;
}

Instruction decoded(const std::string& hex) {
    const auto bytes = bytes_of(hex);
    Instruction instruction;
    EXPECT_EQ(decode(bytes.data(), bytes.size(), instruction), DecodeStatus::ok) << hex;
    EXPECT_EQ(instruction.length, bytes.size()) << hex;
    return instruction;
}

DecodeStatus status_of(const std::string& hex) {
    const auto bytes = bytes_of(hex);
    Instruction instruction;
    return decode(bytes.data(), bytes.size(), instruction);
}

TEST(DecodedInstruction, HasItsClasses) {
    struct Row {
        const char* bytes;
        const char* text;
        const char* classes;
    };
    for (const auto& [bytes, text, classes] : {
             Row{"c3", "ret", "instructions branches taken returns loads"},
             Row{"74 00", "je", "instructions branches conditional"},
             Row{"e8 00 00 00 00", "call", "instructions branches taken calls stores"},
             Row{"ff 13", "call [rbx]", "instructions branches taken calls indirect loads stores updates"},
             Row{"ff e0", "jmp rax", "instructions branches taken indirect"},
             Row{"e2 fe", "loop", "instructions branches conditional"},
             Row{"0f 05", "syscall", "instructions syscalls"},
             Row{"48 cf", "iretq", "instructions branches far loads"},
             Row{"f3 a4", "rep movsb", "instructions loads stores updates"},
             Row{"ff 33", "push [rbx]", "instructions loads stores updates"},
             Row{"48 8d 03", "lea rax, [rbx]", "instructions"},
             Row{"0f 1f 00", "nop [rax]", "instructions"},
             Row{"f2 0f 58 c1", "addsd", "instructions floating-point vector scalar-double"},
             Row{"0f 58 c1", "addps", "instructions floating-point vector packed-128-single"},
             Row{"c5 fd 58 c1", "vaddpd ymm", "instructions floating-point vector packed-256-double"},
             Row{"62 f1 fd 18 58 c1", "vaddpd zmm, {rn-sae}", "instructions floating-point vector packed-512-double"},
             Row{"62 f1 7e 08 58 c1", "vaddss evex", "instructions floating-point vector scalar-single"},
             Row{"66 0f 2f c1", "comisd", "instructions floating-point vector"},
             Row{"0f 28 00", "movaps xmm0, [rax]", "instructions loads vector"},
             Row{"d9 00", "fld [rax]", "instructions loads floating-point"},
             Row{"f3 48 a7", "repe cmpsq", "instructions loads"},
         })
        EXPECT_EQ(classes_of(decoded(bytes)), classes) << text;
}

// The table of docs/models.md, "Loads and stores".
TEST(DecodedInstruction, LoadsAndStoresOncePerInstruction) {
    struct Row {
        const char* bytes;
        const char* text;
        const char* classes;
    };
    for (const auto& [bytes, text, classes] : {
             Row{"48 8b 03", "mov rax, [rbx]", "instructions loads"},
             Row{"48 89 03", "mov [rbx], rax", "instructions stores"},
             Row{"50", "push rax", "instructions stores"},
             Row{"58", "pop rax", "instructions loads"},
             Row{"8f 03", "pop [rbx]", "instructions loads stores updates"},
             Row{"c9", "leave", "instructions loads"},
             Row{"9c", "pushf", "instructions stores"},
             Row{"48 01 03", "add [rbx], rax", "instructions loads stores updates"},
             Row{"48 3b 03", "cmp rax, [rbx]", "instructions loads"},
             Row{"48 87 03", "xchg [rbx], rax", "instructions loads stores updates"},
             Row{"48 0f b1 0b", "cmpxchg [rbx], rcx", "instructions loads stores updates"},
             Row{"f0 48 0f b1 0b", "lock cmpxchg [rbx], rcx", "instructions loads stores updates"},
             Row{"f0 48 ff 03", "lock inc [rbx]", "instructions loads stores updates"},
             Row{"f0 48 0f c7 0b", "lock cmpxchg16b [rbx]", "instructions loads stores updates"},
             Row{"f3 ab", "rep stosd", "instructions stores"},
             Row{"f3 ac", "rep lodsb", "instructions loads"},
             Row{"f2 ae", "repne scasb", "instructions loads"},
             Row{"48 a5", "movsq", "instructions loads stores updates"},
             Row{"0f 18 0b", "prefetcht0 [rbx]", "instructions"},
             Row{"0f 0d 0b", "prefetchw [rbx]", "instructions"},
             Row{"0f ae 3b", "clflush [rbx]", "instructions"},
             Row{"48 0f c3 03", "movnti [rbx], rax", "instructions stores"},
             Row{"c4 e2 f1 92 04 13", "vgatherdpd xmm0, [rbx + xmm2], xmm1", "instructions loads vector"},
             Row{"62 f2 fd 09 a2 04 13", "vscatterdpd [rbx + xmm2] {k1}, xmm0", "instructions stores vector"},
             Row{"62 f1 fd 49 11 03", "vmovupd [rbx] {k1}, zmm0", "instructions stores vector"},
             Row{"c4 e2 7d 2d 03", "vmaskmovpd ymm0, ymm0, [rbx]", "instructions loads vector"},
         })
        EXPECT_EQ(classes_of(decoded(bytes)), classes) << text;
}

TEST(DecodedInstruction, HasItsKindOfControlFlow) {
    struct Row {
        const char* bytes;
        const char* text;
        Control control;
    };
    for (const auto& [bytes, text, control] : {
             Row{"90", "nop", Control::none},
             Row{"0f 85 00 00 00 00", "jne", Control::conditional},
             Row{"e3 00", "jrcxz", Control::rcx_branch},
             Row{"67 e3 00", "jecxz", Control::rcx_branch},
             Row{"e0 00", "loopne", Control::rcx_branch},
             Row{"3e 75 00", "jne, with a hint", Control::conditional},
             Row{"e9 00 00 00 00", "jmp", Control::jump},
             Row{"3e ff e0", "notrack jmp rax", Control::jump_indirect},
             Row{"66 66 48 e8 00 00 00 00", "data16 call", Control::call},
             Row{"ff 15 00 00 00 00", "call [rip]", Control::call_indirect},
             Row{"f3 c3", "rep ret", Control::ret},
             Row{"c2 10 00", "ret 16", Control::ret},
             Row{"cb", "retf", Control::far},
             Row{"ff 18", "call far [rax]", Control::far},
             Row{"48 ff 28", "jmp far [rax]", Control::far},
             Row{"48 cf", "iretq", Control::far},
             Row{"0f 05", "syscall", Control::syscall},
             Row{"0f 34", "sysenter", Control::interrupt},
             Row{"cc", "int3", Control::interrupt},
             Row{"f1", "int1", Control::interrupt},
             Row{"cd 80", "int 0x80", Control::interrupt},
             Row{"0f 0b", "ud2", Control::interrupt},
             Row{"f4", "hlt", Control::interrupt},
             Row{"0f 22 c0", "mov cr0, rax", Control::interrupt},
             Row{"ec", "in al, dx", Control::interrupt},
             Row{"fa", "cli", Control::interrupt},
             Row{"c7 f8 00 00 00 00", "xbegin", Control::xbegin},
             Row{"c6 f8 00", "xabort: a nop outside of a transaction", Control::none},
             Row{"0f a2", "cpuid", Control::cpuid},
             Row{"0f 01 d0", "xgetbv", Control::xgetbv},
             Row{"0f 31", "rdtsc", Control::rdtsc},
             Row{"0f 01 f9", "rdtscp", Control::rdtsc},
             Row{"f3 0f c7 f8", "rdpid rax", Control::rdtsc},
             Row{"0f c7 f0", "rdrand eax", Control::random},
             Row{"66 41 0f c7 f1", "rdrand r9w", Control::random},
             Row{"48 0f c7 ff", "rdseed rdi", Control::random},
             Row{"0f 33", "rdpmc", Control::rdpmc},
             Row{"f3 48 0f ae c8", "rdgsbase rax", Control::segment_base},
             Row{"f3 48 0f ae d8", "wrgsbase rax", Control::segment_base},
             Row{"f3 48 0f ae d0", "wrfsbase rax", Control::none},
             Row{"8e e8", "mov gs, eax", Control::segment_base},
             Row{"8e e0", "mov fs, eax", Control::none},
             Row{"0f a9", "pop gs", Control::segment_base},
             Row{"d9 30", "fnstenv [rax]", Control::x87_state},
             Row{"dd 30", "fnsave [rax]", Control::x87_state},
             Row{"48 0f ae 00", "fxsave64 [rax]", Control::x87_state},
             Row{"0f c7 20", "xsavec [rax]", Control::x87_state},
             Row{"0f ae 08", "fxrstor [rax]", Control::none},
             Row{"f3 0f 1e fa", "endbr64", Control::none},
         })
        EXPECT_EQ(decoded(bytes).control, control) << text;
}

TEST(DecodedInstruction, HasTheOffsetsOfItsParts) {
    const Instruction i = decoded("66 66 48 c7 84 88 44 33 22 11 78 56 34 92");  // mov qword [rax+rcx*4+…], imm32
    EXPECT_TRUE(i.has_rex && i.operand16);
    EXPECT_EQ(i.rex_offset, 2);
    EXPECT_EQ(i.opcode_offset, 3);
    EXPECT_EQ(i.modrm_offset, 4);
    EXPECT_EQ(i.sib_offset, 5);
    EXPECT_EQ(i.displacement_offset, 6);
    EXPECT_EQ(i.displacement, 0x11223344);
    EXPECT_EQ(i.immediate_offset, 10);
    EXPECT_EQ(i.immediate, 0xffffffff92345678);
    EXPECT_EQ(i.read, kRax | kRcx);
    EXPECT_TRUE(i.writes_memory && !i.reads_memory);
}

TEST(DecodedInstruction, DistinguishesWholeFromPartialRegisterWrites) {
    EXPECT_EQ(decoded("89 c8").overwritten, kRax);  // mov eax, ecx
    EXPECT_EQ(decoded("89 c8").read, kRcx);
    EXPECT_EQ(decoded("66 89 c8").overwritten, 0);
    EXPECT_EQ(decoded("66 89 c8").read, kRax | kRcx);
    EXPECT_EQ(decoded("88 e0").touched, kRax);            // mov al, ah
    EXPECT_EQ(decoded("40 88 e0").touched, kRax | kRsp);  // mov al, spl
    EXPECT_EQ(decoded("0f 44 c1").read, kRax | kRcx);     // cmove eax, ecx
    EXPECT_EQ(decoded("31 c0").read, 0);                  // xor eax, eax
    EXPECT_EQ(decoded("19 c0").read, kRax);               // sbb eax, eax
    EXPECT_EQ(decoded("66 31 c0").read, kRax);            // xor ax, ax
    EXPECT_EQ(decoded("f3 48 0f 1e c8").overwritten, 0);  // rdsspq rax
    EXPECT_EQ(decoded("41 90").touched, kRax | kR8);      // xchg eax, r8d
    EXPECT_EQ(decoded("90").touched, 0);
    EXPECT_EQ(decoded("0f 05").overwritten, kRcx | kR11);
    EXPECT_EQ(decoded("f3 a4").read, kRcx | kRsi | kRdi);
    EXPECT_EQ(decoded("48 f7 e1").overwritten, kRax | kRdx);  // mul rcx
}

TEST(DecodedInstruction, OverwritesOnlyFlagsThatCertainlyChange) {
    EXPECT_EQ(decoded("31 c0").flags_overwritten, kStatusFlags);            // xor
    EXPECT_EQ(decoded("48 ff c0").flags_overwritten, kStatusFlags & ~kCf);  // inc
    EXPECT_EQ(decoded("d3 e0").flags_overwritten, 0);                       // shl eax, cl
    EXPECT_EQ(decoded("d3 e0").flags_read, kStatusFlags);
    EXPECT_TRUE(decoded("c1 e0 04").flags_overwritten & kCf);  // shl eax, 4
    EXPECT_EQ(decoded("c1 e0 20").flags_overwritten, 0);       // shl eax, 32: no flag changes
    EXPECT_EQ(decoded("48 0f a3 c8").flags_overwritten, kCf);  // bt
    EXPECT_EQ(decoded("74 00").flags_read, kZf);
    EXPECT_EQ(decoded("9c").flags_read, kStatusFlags);
}

TEST(Decode, DistinguishesInvalidTruncatedAndTooLong) {
    EXPECT_EQ(status_of("06"), DecodeStatus::invalid);
    EXPECT_EQ(status_of("0f 04"), DecodeStatus::invalid);
    EXPECT_EQ(status_of("f0 89 c8"), DecodeStatus::invalid);  // lock mov
    EXPECT_EQ(status_of("f0 01 c8"), DecodeStatus::invalid);  // lock add eax, ecx
    EXPECT_EQ(status_of("f0 01 08"), DecodeStatus::ok);
    EXPECT_EQ(status_of("e8 00 00 00"), DecodeStatus::truncated);
    EXPECT_EQ(status_of("48"), DecodeStatus::truncated);
    EXPECT_EQ(status_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 66"), DecodeStatus::too_long);
    EXPECT_EQ(status_of("2e 2e 2e 2e 2e 2e 2e 2e 2e 2e e8 00 00 00 00"), DecodeStatus::ok);
    EXPECT_EQ(status_of("2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e e8 00 00 00"), DecodeStatus::too_long);
}

TEST(RelativeOperand, IsResolvedFromTheInstructionsAddress) {
    EXPECT_EQ(branch_target(decoded("eb fe"), 0x1000), 0x1000u);
    EXPECT_EQ(branch_target(decoded("0f 84 00 01 00 00"), 0x1000), 0x1106u);
    const Instruction load = decoded("48 8b 05 10 00 00 00");
    EXPECT_TRUE(load.rip_relative);
    EXPECT_EQ(operand_address(load, 0x1000), 0x1017u);
    EXPECT_EQ(operand_address(load, 0x7'0000'1000), 0x7'0000'1017u);
    EXPECT_EQ(operand_address(decoded("67 48 8b 05 10 00 00 00"), 0x7'0000'1000), 0x1018u);
}

}  // namespace
}  // namespace anyperf::engine::x86_64
