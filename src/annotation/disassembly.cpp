// disassembly.cpp: x86 code as text, with the library Zydis. A function may contain data (jump tables), and a wrong
// byte must not end the listing. Where no instruction can be decoded, one byte is shown as `.byte`, and decoding goes
// on after it. x86 code has no marks between instructions, but decoding that began at a wrong byte meets the right
// boundaries again after a few instructions.
#include "annotation/disassembly.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

namespace anyperf::annotation {

namespace {

void init(ZydisDecoder& decoder, bool is_64) {
    ZydisDecoderInit(&decoder, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

/// The target of a branch, or the address of an operand that is relative to the instruction pointer. 0 if the
/// instruction has neither.
std::uint64_t referred_address(const ZydisDecodedInstruction& instruction,
                               const std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>& operands,
                               std::uint64_t address) {
    for (std::size_t i = 0; i < instruction.operand_count_visible; ++i) {
        const ZydisDecodedOperand& operand = operands[i];
        const bool branch = operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative;
        const bool relative = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
        ZyanU64 target = 0;
        if ((branch || relative) && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operand, address, &target)))
            return target;
    }
    return 0;
}

}  // namespace

std::vector<Instruction> disassemble(symbols::Bytes code, std::uint64_t address, bool is_64, Syntax syntax,
                                     const NameOf& name_of) {
    ZydisDecoder decoder;
    init(decoder, is_64);
    ZydisFormatter formatter;
    ZydisFormatterInit(&formatter, syntax == Syntax::att ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
    std::array<char, 256> text;
    std::vector<Instruction> found;
    while (!code.empty()) {
        ZydisDecodedInstruction instruction;
        const bool valid =
            ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands.data()));
        const std::uint8_t size = valid ? instruction.length : 1;
        Instruction& each = found.emplace_back(Instruction{.address = address, .size = size});
        std::memcpy(each.bytes.data(), code.data(), size);
        if (valid && ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands.data(),
                                                                  instruction.operand_count_visible, text.data(),
                                                                  text.size(), address, ZYAN_NULL))) {
            each.text = text.data();
            if (const std::uint64_t target = referred_address(instruction, operands, address); target != 0)
                if (const std::string name = name_of(target); !name.empty()) each.text += " <" + name + ">";
        } else {
            each.text = fmt::format(".byte 0x{:02x}", std::to_integer<unsigned>(code.front()));
        }
        code = code.subspan(size);
        address += size;
    }
    return found;
}

std::size_t instruction_length(symbols::Bytes code, bool is_64) {
    ZydisDecoder decoder;
    init(decoder, is_64);
    ZydisDecodedInstruction instruction;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, code.data(), code.size(), &instruction))
               ? instruction.length
               : 0;
}

}  // namespace anyperf::annotation
