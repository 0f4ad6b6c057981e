// decode.cpp: walks the tables of form.h. Freestanding: nothing is called, no vector register is used.
#include "engine/x86_64/decode.h"

#include "engine/x86_64/classes.h"
#include "engine/x86_64/form.h"

namespace anyperf::engine::x86_64 {
namespace {

#include "decode_tables.inc"

constexpr std::size_t kLongest = 15;

enum class Byte : std::uint8_t {
    opcode,
    rex,
    operand16,
    address32,
    lock,
    repe,
    repne,
    fs,
    gs,
    other_segment,
    escape,
    vex2,
    vex3,
    evex,
    xop,
};

constexpr auto kBytes = [] {
    struct {
        Byte of[256] = {};
    } kinds;
    for (unsigned n = 0x40; n < 0x50; ++n) kinds.of[n] = Byte::rex;
    for (const unsigned n : {0x26, 0x2e, 0x36, 0x3e}) kinds.of[n] = Byte::other_segment;
    kinds.of[0x0f] = Byte::escape;
    kinds.of[0x62] = Byte::evex;
    kinds.of[0x64] = Byte::fs;
    kinds.of[0x65] = Byte::gs;
    kinds.of[0x66] = Byte::operand16;
    kinds.of[0x67] = Byte::address32;
    kinds.of[0x8f] = Byte::xop;
    kinds.of[0xc4] = Byte::vex3;
    kinds.of[0xc5] = Byte::vex2;
    kinds.of[0xf0] = Byte::lock;
    kinds.of[0xf2] = Byte::repne;
    kinds.of[0xf3] = Byte::repe;
    return kinds;
}();

using Unaligned16 [[gnu::aligned(1), gnu::may_alias]] = std::uint16_t;
using Unaligned32 [[gnu::aligned(1), gnu::may_alias]] = std::uint32_t;
using Unaligned64 [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

template <typename Word>
std::uint64_t load(const std::uint8_t* at) {
    return *reinterpret_cast<const Word*>(at);
}

std::uint64_t load_bytes(const std::uint8_t* at, unsigned bytes) {
    switch (bytes) {
        case 1: return *at;
        case 2: return load<Unaligned16>(at);
        case 3: return load<Unaligned16>(at) | std::uint64_t{at[2]} << 16;
        case 4: return load<Unaligned32>(at);
        default: return load<Unaligned64>(at);
    }
}

std::uint64_t sign_extend(std::uint64_t value, unsigned bytes) {
    const unsigned shift = 64 - 8 * bytes;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

constexpr RegisterSet one(unsigned number) {
    return static_cast<RegisterSet>(1u << number);
}

/// One decoding. The steps stand in the order of the bytes; each may end it.
class Decoder {
  public:
    Decoder(const std::uint8_t* bytes, std::size_t size, Instruction& out)
        : bytes_(bytes), size_(size < kLongest ? size : kLongest), out_(out) {}

    DecodeStatus run() {
        out_ = Instruction{};
        if (const auto status = prefixes(); status != DecodeStatus::ok) return status;
        if (const auto status = find_form(); status != DecodeStatus::ok) return status;
        if (const auto status = form_->attributes & attribute::kModrm ? modrm_operand() : no_modrm();
            status != DecodeStatus::ok)
            return status;
        if (const auto status = immediate(); status != DecodeStatus::ok) return status;
        facts();
        return DecodeStatus::ok;
    }

  private:
    bool has(std::size_t more) const { return at_ + more <= size_; }
    bool with(std::uint16_t which) const { return form_->attributes & which; }
    DecodeStatus cut_off() const { return size_ < kLongest ? DecodeStatus::truncated : DecodeStatus::too_long; }
    bool is_register() const { return selector_ >> selector::kIsReg & 1; }

    DecodeStatus prefixes() {
        for (;; ++at_) {
            if (!has(1)) return cut_off();
            const std::uint8_t byte = bytes_[at_];
            const Byte kind = kBytes.of[byte];
            if (kind == Byte::opcode) return legacy(Space::one_byte, byte);
            if (kind == Byte::rex) {
                rex_ = byte;
                out_.rex_offset = static_cast<std::uint8_t>(at_);
                continue;
            }
            if (kind >= Byte::escape) return escape(kind);
            rex_ = 0;  // REX counts only where it is the last prefix
            prefix(kind);
        }
    }

    void prefix(Byte kind) {
        switch (kind) {
            case Byte::operand16: out_.operand16 = true; break;
            case Byte::address32: out_.address32 = true; break;
            case Byte::lock: out_.lock = true; break;
            case Byte::repe: repeat_ = 1; break;
            case Byte::repne: repeat_ = 2; break;
            case Byte::fs: segment_ = Segment::fs; break;
            case Byte::gs: segment_ = Segment::gs; break;
            default: break;
        }
    }

    DecodeStatus escape(Byte kind) {
        switch (kind) {
            case Byte::escape: return escape_0f();
            case Byte::vex2: return vex2();
            case Byte::vex3: return vex3();
            case Byte::evex: return evex();
            default: break;
        }
        if (!has(2)) return cut_off();
        return (bytes_[at_ + 1] & 0x1f) < 8 ? legacy(Space::one_byte, 0x8f) : xop();
    }

    DecodeStatus escape_0f() {
        if (!has(2)) return cut_off();
        const std::uint8_t second = bytes_[++at_];
        if (second != 0x38 && second != 0x3a) return legacy(Space::map_0f, second);
        if (!has(2)) return cut_off();
        ++at_;
        return legacy(second == 0x38 ? Space::map_0f38 : Space::map_0f3a, bytes_[at_]);
    }

    DecodeStatus legacy(Space space, std::uint8_t opcode) {
        if (rex_) {
            out_.has_rex = true;
            selector_ = (rex_ & 8u) << (selector::kW - 3);
            reg_high_ = rex_ >> 2 & 1;
            rm_high_ = rex_ & 3;
        } else {
            out_.rex_offset = 0;
        }
        selector_ |= unsigned{out_.operand16} << selector::kOperand16 | repeat_ << selector::kRepeat;
        out_.map = static_cast<std::uint8_t>(space);
        // 90 is nop only without REX.B; 91 has the form that xchg has there
        const bool exchange = space == Space::one_byte && opcode == 0x90 && rex_ & 1;
        return opcode_byte(space, opcode, exchange ? 0x91 : opcode);
    }

    DecodeStatus opcode_byte(Space space, std::uint8_t opcode, std::uint8_t row) {
        space_ = space;
        out_.opcode = opcode;
        out_.opcode_offset = static_cast<std::uint8_t>(at_++);
        reference_ = kRoots[static_cast<unsigned>(space)][row];
        return reference_ ? DecodeStatus::ok : DecodeStatus::invalid;
    }

    /// VEX, EVEX and XOP: SDM volume 2, 2.3.2: after 66, F2, F3, LOCK or REX they are #UD.
    DecodeStatus begin_vex() {
        if (rex_ || out_.operand16 || repeat_ || out_.lock) return DecodeStatus::invalid;
        out_.has_vex = true;
        out_.rex_offset = 0;
        out_.vex_offset = static_cast<std::uint8_t>(at_);
        return DecodeStatus::ok;
    }

    DecodeStatus vex2() {
        if (begin_vex() != DecodeStatus::ok) return DecodeStatus::invalid;
        if (!has(3)) return cut_off();
        const unsigned p = bytes_[at_ + 1];
        reg_high_ = ~p >> 7 & 1;
        at_ += 2;
        return vex_opcode(Space::vex_1, 1, p & 0x7f);
    }

    DecodeStatus vex3() {
        if (begin_vex() != DecodeStatus::ok) return DecodeStatus::invalid;
        if (!has(2)) return cut_off();
        const unsigned map = bytes_[at_ + 1] & 0x1f;
        if (map < 1 || map > 3) return DecodeStatus::invalid;
        return vex_bytes(static_cast<Space>(static_cast<unsigned>(Space::vex_1) + map - 1), map);
    }

    DecodeStatus xop() {
        if (begin_vex() != DecodeStatus::ok) return DecodeStatus::invalid;
        const unsigned map = bytes_[at_ + 1] & 0x1f;
        if (map > 10) return DecodeStatus::invalid;
        return vex_bytes(static_cast<Space>(static_cast<unsigned>(Space::xop_8) + map - 8), map);
    }

    DecodeStatus vex_bytes(Space space, unsigned map) {
        if (!has(4)) return cut_off();
        const unsigned rxb = ~unsigned{bytes_[at_ + 1]} >> 5;
        reg_high_ = rxb >> 2 & 1;
        rm_high_ = rxb & 3;
        const unsigned p = bytes_[at_ + 2];
        at_ += 3;
        return vex_opcode(space, map, p);
    }

    DecodeStatus vex_opcode(Space space, unsigned map, unsigned p) {
        vvvv_ = ~p >> 3 & 15;
        selector_ = (p >> 7) << selector::kW | (p >> 2 & 1) << selector::kL | (p & 3) << selector::kVexPp;
        out_.map = static_cast<std::uint8_t>(map);
        return opcode_byte(space, bytes_[at_], bytes_[at_]);
    }

    DecodeStatus evex() {
        if (begin_vex() != DecodeStatus::ok) return DecodeStatus::invalid;
        if (!has(2)) return cut_off();
        const unsigned p0 = bytes_[at_ + 1];
        const unsigned map = p0 & 15;
        constexpr Space spaces[8] = {Space::none, Space::evex_1, Space::evex_2, Space::evex_3,
                                     Space::none, Space::evex_5, Space::evex_6, Space::none};
        if (map > 7 || spaces[map] == Space::none) return DecodeStatus::invalid;
        if (!has(3)) return cut_off();
        const unsigned p1 = bytes_[at_ + 2];
        if (!(p1 & 4)) return DecodeStatus::invalid;  // Knights Corner's MVEX, and APX's: no CPU that we run on
        if (!has(5)) return cut_off();
        const unsigned p2 = bytes_[at_ + 3];
        reg_high_ = (~p0 >> 7 & 1) | (~p0 >> 3 & 2);
        rm_high_ = ~p0 >> 5 & 3;
        vvvv_ = (~p1 >> 3 & 15) | (~p2 << 1 & 16);
        selector_ = (p1 >> 7) << selector::kW | (p1 & 3) << selector::kEvexPp | (p2 >> 5 & 3) << selector::kLength |
                    (p2 >> 4 & 1) << selector::kBroadcast | unsigned{(p2 & 7) != 0} << selector::kMasked |
                    (p2 >> 7) << selector::kZeroing;
        out_.map = static_cast<std::uint8_t>(map);
        at_ += 4;
        return opcode_byte(spaces[map], bytes_[at_], bytes_[at_]);
    }

    std::uint16_t step(std::uint16_t header_at) const {
        const unsigned header = kNodes[header_at];
        return kNodes[header_at + 1 + (selector_ >> (header & 15) & ((1u << (header >> 4)) - 1))];
    }

    /// Prefix bits first; at the first node that asks for ModRM, ModRM is read.
    DecodeStatus find_form() {
        std::uint16_t r = reference_;
        while (r & kNodeBit && (kNodes[r & ~kNodeBit] & 15) >= selector::kW) r = step(r & 0x7fff);
        if (r & kNodeBit || kForms[r].attributes & attribute::kModrm) {
            if (!has(1)) return cut_off();
            modrm_ = bytes_[at_];
            selector_ |= (modrm_ & 0x3fu) | unsigned{modrm_ >= 0xc0} << selector::kIsReg;
            while (r & kNodeBit) r = step(r & 0x7fff);
        }
        form_ = &kForms[r];
        if (r == 0 || (out_.lock && (!with(attribute::kLockable) || is_register()))) return DecodeStatus::invalid;
        return DecodeStatus::ok;
    }

    DecodeStatus no_modrm() {
        if (with(attribute::kRegisterInOpcode)) add(form_->rm_role, (out_.opcode & 7u) | (rm_high_ & 1u) << 3);
        if (form_->constraints && vvvv_) return DecodeStatus::invalid;
        if (!with(attribute::kOffset)) return DecodeStatus::ok;
        out_.displacement_offset = static_cast<std::uint8_t>(at_);
        out_.displacement_bytes = out_.address32 ? 4 : 8;
        at_ += out_.displacement_bytes;
        return DecodeStatus::ok;
    }

    DecodeStatus modrm_operand() {
        out_.modrm_offset = static_cast<std::uint8_t>(at_++);
        const unsigned reg = (modrm_ >> 3 & 7u) | reg_high_ << 3;
        if (!(form_->reg_high >> reg_high_ & 1)) return DecodeStatus::invalid;
        add(form_->reg_role, reg);
        const bool in_register = is_register() || form_->constraints & constraint::kAlwaysRegister;
        const DecodeStatus status = in_register ? register_operand(reg) : memory_operand(reg);
        if (out_.has_vex && status == DecodeStatus::ok) return vex_operand(reg);
        return status;
    }

    DecodeStatus register_operand(unsigned reg) {
        const unsigned high = is_evex(space_) ? rm_high_ : rm_high_ & 1u;
        if (!(form_->rm_high >> high & 1)) return DecodeStatus::invalid;
        add(form_->rm_role, (modrm_ & 7u) | (rm_high_ & 1u) << 3);
        const unsigned rm = (modrm_ & 7u) | high << 3;
        if (!form_->constraints) return DecodeStatus::ok;
        if (form_->constraints & constraint::kRegNotRm && reg == rm) return DecodeStatus::invalid;
        if (form_->constraints & constraint::kRmNotVvvv && rm == vvvv_) return DecodeStatus::invalid;
        return DecodeStatus::ok;
    }

    DecodeStatus vex_operand(unsigned reg) {
        const unsigned low = vvvv_ & 15;
        const unsigned number = with(attribute::kVectorIndex) ? low : vvvv_;
        const unsigned constraints = form_->constraints;
        if (constraints & constraint::kNoVvvv && number) return DecodeStatus::invalid;
        if (!(form_->vvvv_high >> (number >> 3) & 1)) return DecodeStatus::invalid;
        if (constraints & constraint::kRegNotVvvv && reg == number) return DecodeStatus::invalid;
        add(form_->vvvv_role, low);
        return DecodeStatus::ok;
    }

    DecodeStatus memory_operand(unsigned reg) {
        const unsigned mod = modrm_ >> 6;
        unsigned base = modrm_ & 7u;
        unsigned displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;
        if (base == 4) {
            if (!has(1)) return cut_off();
            out_.sib_offset = static_cast<std::uint8_t>(at_);
            const unsigned sib = bytes_[at_++];
            base = sib & 7;
            if (!index(sib >> 3 & 7u, reg)) return DecodeStatus::invalid;
            if (base == 5 && mod == 0)
                displacement = 4;
            else
                address(base | (rm_high_ & 1u) << 3);
        } else if (with(attribute::kNeedsSib)) {
            return DecodeStatus::invalid;
        } else if (base == 5 && mod == 0) {
            if (with(attribute::kNoRip)) return DecodeStatus::invalid;
            displacement = 4;
            out_.rip_relative = true;
        } else {
            address(base | (rm_high_ & 1u) << 3);
        }
        if (displacement) out_.displacement_offset = static_cast<std::uint8_t>(at_);
        out_.displacement_bytes = static_cast<std::uint8_t>(displacement);
        at_ += displacement;
        out_.reads_memory = with(attribute::kReadsOperand);
        out_.writes_memory = with(attribute::kWritesOperand);
        return DecodeStatus::ok;
    }

    /// The SIB byte's index register; false where it may not be this one.
    bool index(unsigned low, unsigned reg) {
        const unsigned number = low | (rm_high_ & 2u) << 2;
        if (with(attribute::kVectorIndex)) {
            const unsigned vector = number | (vvvv_ & 16);
            if (form_->constraints & constraint::kRegNotIndex && vector == reg) return false;
            return !(form_->constraints & constraint::kVvvvNotIndex && vector == (vvvv_ & 15));
        }
        if (number != 4) address(number);
        return true;
    }

    void address(unsigned number) {
        out_.touched |= one(number);
        out_.read |= one(number);
    }

    /// A register field, by the role it has in this form.
    void add(unsigned roles, unsigned number) {
        if (!roles) return;
        number &= 15;
        if (roles & role::kByte && !rex_ && number >= 4) number -= 4;
        out_.touched |= one(number);
        if (roles & role::kRead) out_.read |= one(number);
        if (roles & role::kOverwritten) out_.overwritten |= one(number);
    }

    DecodeStatus immediate() {
        const unsigned bytes = form_->immediate_bytes;
        if (at_ + bytes > kLongest) return DecodeStatus::too_long;
        if (!has(bytes)) return DecodeStatus::truncated;
        out_.length = static_cast<std::uint8_t>(at_ + bytes);
        if (out_.displacement_bytes) {
            const std::uint64_t value = load_bytes(bytes_ + out_.displacement_offset, out_.displacement_bytes);
            const bool is_signed = !with(attribute::kOffset);
            out_.displacement =
                static_cast<std::int64_t>(is_signed ? sign_extend(value, out_.displacement_bytes) : value);
        }
        if (bytes == 0) return DecodeStatus::ok;
        if (space_ == Space::map_0f && out_.opcode == 0x0f) return now_suffix();
        out_.immediate_offset = static_cast<std::uint8_t>(at_);
        out_.immediate_bytes = static_cast<std::uint8_t>(bytes);
        const std::uint64_t value = load_bytes(bytes_ + at_, bytes);
        out_.immediate = with(attribute::kSigned) ? sign_extend(value, bytes) : value;
        return DecodeStatus::ok;
    }

    DecodeStatus now_suffix() {
        out_.opcode = bytes_[at_];
        out_.opcode_offset = static_cast<std::uint8_t>(at_);
        std::uint16_t r = kRoots[static_cast<unsigned>(Space::now)][out_.opcode];
        while (r & kNodeBit) r = step(r & 0x7fff);
        form_ = &kForms[r];
        return r ? DecodeStatus::ok : DecodeStatus::invalid;
    }

    void facts() {
        out_.control = static_cast<Control>(form_->control);
        out_.touched |= form_->touched;
        out_.read |= form_->read;
        out_.overwritten |= form_->overwritten;
        out_.flags_read = form_->flags_read;
        out_.flags_overwritten = form_->flags_overwritten;
        if (with(attribute::kCounted)) count();
        out_.reads_memory |= with(attribute::kReads);
        out_.writes_memory |= with(attribute::kWrites);
        out_.rep = with(attribute::kRepeats);
        if (with(attribute::kSegment)) out_.segment = segment_;
        out_.classes = static_cast<ClassSet>(form_->classes | (out_.reads_memory ? bit(Class::loads) : 0) |
                                             (out_.writes_memory ? bit(Class::stores) : 0));
    }

    /// A shift of 0 bits leaves the flags; 8- and 16-bit shifts by more than their width leave CF undefined.
    void count() {
        const unsigned bits = static_cast<unsigned>(out_.immediate) & (selector_ >> selector::kW & 1 ? 63u : 31u);
        if (bits != 0 && !(with(attribute::kCountShort) && bits >= 8)) return;
        out_.flags_read = kStatusFlags;
        out_.flags_overwritten = 0;
    }

    const std::uint8_t* bytes_;
    std::size_t size_;
    std::size_t at_ = 0;
    Instruction& out_;
    const Form* form_ = nullptr;
    unsigned selector_ = 0;
    unsigned repeat_ = 0;
    unsigned reg_high_ = 0;
    unsigned rm_high_ = 0;
    unsigned vvvv_ = 0;
    unsigned modrm_ = 0;
    std::uint16_t reference_ = 0;
    std::uint8_t rex_ = 0;
    Space space_ = Space::one_byte;
    Segment segment_ = Segment::none;
};

}  // namespace

DecodeStatus decode(const std::uint8_t* bytes, std::size_t size, Instruction& out) {
    return Decoder{bytes, size, out}.run();
}

}  // namespace anyperf::engine::x86_64
