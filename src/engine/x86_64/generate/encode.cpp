// encode.cpp: encodes instructions (SDM volume 2, chapter 2).
//
// Many encodings have the same selector value; this writes one of them. Bytes after the last one written are 0, so a
// displacement and an immediate are there whatever their size is, and Zydis reads as many as the instruction has.
#include "engine/x86_64/generate/encode.h"

namespace anyperf::engine::x86_64::generate {
namespace {

/// The bytes of an instruction. Displacement and immediates are not written, and remain 0.
class Writer {
  public:
    explicit Writer(const EncodingFields& fields) : f_(fields) { write(); }
    const std::array<std::uint8_t, 24>& bytes() const { return bytes_; }

  private:
    unsigned get(unsigned low, unsigned count) const { return bits(f_.selector, low, count); }
    void put(unsigned byte) { bytes_[count_++] = static_cast<std::uint8_t>(byte); }

    void write() {
        if (f_.lock) put(0xf0);
        if (is_legacy(f_.space))
            legacy();
        else if (is_evex(f_.space))
            evex();
        else
            vex(is_xop(f_.space) ? 0x8f : 0xc4);
        // 3DNow! has its opcode last, after ModRM and displacement (AMD64 manual, volume 3).
        if (f_.space == Space::now) {
            put(0x0f);
            modrm();
            if (f_.rip) count_ += 4;
            put(f_.opcode);
            return;
        }
        put(f_.opcode);
        modrm();
    }

    void legacy() {
        if (get(selector::kOperand16, 1)) put(0x66);
        if (get(selector::kRepeat, 2)) put(get(selector::kRepeat, 2) == 1 ? 0xf3 : 0xf2);
        // Without REX where no bit needs it: byte registers 4 to 7 then are ah to bh, which is what the decoder
        // assumes.
        const unsigned rex = get(selector::kW, 1) << 3 | (f_.reg_high & 1u) << 2 | (f_.rm_high & 1u);
        if (rex) put(0x40 | rex);
        if (f_.space != Space::one_byte) put(0x0f);
        if (f_.space == Space::map_0f38) put(0x38);
        if (f_.space == Space::map_0f3a) put(0x3a);
    }

    /// The number of the space's map, as VEX, EVEX and XOP have it.
    unsigned map() const {
        switch (f_.space) {
            case Space::vex_1:
            case Space::evex_1: return 1;
            case Space::vex_2:
            case Space::evex_2: return 2;
            case Space::vex_3:
            case Space::evex_3: return 3;
            case Space::evex_5: return 5;
            case Space::evex_6: return 6;
            case Space::xop_8: return 8;
            case Space::xop_9: return 9;
            default: return 10;
        }
    }

    /// R, X and B as the encodings store them: inverted, in the byte's upper bits.
    unsigned inverted_rxb() const {
        return (f_.reg_high & 1u ? 0u : 0x80u) | (f_.rm_high & 2u ? 0u : 0x40u) | (f_.rm_high & 1u ? 0u : 0x20u);
    }

    void vex(unsigned first) {
        put(first);
        put(inverted_rxb() | map());
        put(get(selector::kW, 1) << 7 | (~f_.vvvv & 15u) << 3 | get(selector::kL, 1) << 2 | get(selector::kVexPp, 2));
    }

    void evex() {
        put(0x62);
        put(inverted_rxb() | (f_.reg_high & 2u ? 0u : 0x10u) | map());
        put(get(selector::kW, 1) << 7 | (~f_.vvvv & 15u) << 3 | 4u | get(selector::kEvexPp, 2));
        put(get(selector::kZeroing, 1) << 7 | get(selector::kLength, 2) << 5 | get(selector::kBroadcast, 1) << 4 |
            (f_.vvvv & 16u ? 0u : 8u) | get(selector::kMasked, 1));
    }

    void modrm() {
        const unsigned reg = get(selector::kReg, 3) << 3;
        if (get(selector::kIsReg, 1)) return put(0xc0 | reg | get(selector::kRm, 3));
        if (f_.sib) {
            put(reg | 4);
            put(f_.index << 3u);
            return;
        }
        put(reg | (f_.rip ? 5 : 0));
    }

    const EncodingFields& f_;
    std::array<std::uint8_t, 24> bytes_{};
    unsigned count_ = 0;
};

const ZydisDecoder& decoder() {
    static const ZydisDecoder made = [] {
        ZydisDecoder fresh;
        ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return fresh;
    }();
    return made;
}

/// Instructions of the Knights Corner coprocessor: no supported CPU has their encodings.
bool is_knights_corner(const ZydisDecodedInstruction& instruction) {
    return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX || instruction.meta.isa_ext == ZYDIS_ISA_EXT_KNC ||
           instruction.meta.isa_ext == ZYDIS_ISA_EXT_KNCE || instruction.meta.isa_ext == ZYDIS_ISA_EXT_KNCV;
}

}  // namespace

std::optional<ZydisInstruction> decode_with_zydis(const EncodingFields& fields) {
    const Writer writer{fields};
    ZydisInstruction answer;
    const auto status = ZydisDecoderDecodeFull(&decoder(), writer.bytes().data(), ZYDIS_MAX_INSTRUCTION_LENGTH,
                                               &answer.instruction, answer.operands.data());
    if (!ZYAN_SUCCESS(status) || is_knights_corner(answer.instruction)) return {};
    return answer;
}

}  // namespace anyperf::engine::x86_64::generate
