// decode.cpp: the decoder: it walks the tables of form.h. It is freestanding and uses no vector register, since the
// application's are live.
//
// Most of a decoder's time is lost in mispredicted branches. So whatever varies from one instruction to the next (REX,
// register numbers, sizes of displacement and immediate) is computed without branches, and rare cases are kept apart.
// The bytes are read without testing whether they are there: if fewer than kReadable can be read, a copy padded with
// zeros is decoded, and the length that results shows whether a missing byte was used.
//
// The steps of Decoder::run() follow the bytes: prefixes; the opcode, which selects a reference in a row of
// kReferences; nodes, which lead from the reference to a form by bits of the selector; ModRM, SIB and displacement; the
// immediate; and the facts of the form combined with the operand fields.
//
// Which of the three refusals: the answer decides which fault the application gets. Bytes that are not the beginning of
// an instruction are #UD (SIGILL), a 16th byte is #GP (SIGSEGV), and a byte that is not readable is a page fault at its
// address. So `at_` is exact on each path that refuses: it is after the byte that decided. If that byte is past the
// limit, it was padding, and the answer is truncated or too_long instead of invalid.
#include "engine/x86_64/decode/decode.h"

#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/decode/form.h"
#include "engine/x86_64/decode/timing.h"

namespace anyperf::engine::x86_64 {
namespace {

#include "decode_tables.inc"

constexpr unsigned kLongest = 15;
// The farthest read: 14 prefixes, EVEX and its opcode (5 bytes), ModRM, SIB, and the 8 bytes that load() reads for a
// displacement make 29. An immediate is read at offset 15 at most.
constexpr unsigned kReadable = 32;  // no decoding reads further, whatever the bytes are

/// What a byte before the opcode is. `escape` and the kinds after it end the prefixes.
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

struct ByteKinds {
    Byte of[256] = {};
};

constexpr ByteKinds kBytes = [] {
    ByteKinds kinds;
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

// Tables for ModRM: SDM volume 2, 2.1.5, table 2-2, with the changes of 64-bit mode (2.2.1.6): mod 0 with rm 5 is
// relative to rip. rm 4 means a SIB byte, whatever REX.B is, and a SIB byte decides its base itself.

/// The meaning of a ModRM byte, packed. Bits 0 to 2 are the number of displacement bytes.
namespace address {
constexpr std::uint8_t kDisplacement = 7;
constexpr std::uint8_t kSib = 0x08;
constexpr std::uint8_t kRip = 0x10;
constexpr std::uint8_t kBase = 0x20;  // rm is the base register
constexpr std::uint8_t kMemory = 0x40;
}  // namespace address

struct Addresses {
    std::uint8_t of[256] = {};
};

constexpr Addresses kAddresses = [] {
    Addresses all;
    for (unsigned modrm = 0; modrm < 0xc0; ++modrm) {
        const unsigned mod = modrm >> 6;
        const unsigned rm = modrm & 7;
        const bool rip = mod == 0 && rm == 5;
        const unsigned bytes = mod == 1 ? 1 : mod == 2 || rip ? 4 : 0;
        all.of[modrm] = static_cast<std::uint8_t>(address::kMemory | bytes | (rm == 4 ? address::kSib : 0) |
                                                  (rip ? address::kRip : 0) | (rm != 4 && !rip ? address::kBase : 0));
    }
    return all;
}();

constexpr std::uint64_t kMasks[9] = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff};

/// For reads and writes of eight bytes at any address. may_alias: the bytes are also accessed as other types.
using Unaligned [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

/// The first `bytes` (0 to 8) bytes at `at`. Eight must be readable.
std::uint64_t load(const std::uint8_t* at, unsigned bytes) {
    return *reinterpret_cast<const Unaligned*>(at) & kMasks[bytes];
}

/// Sign-extends a value of `bytes` bytes. 0 bytes give 0.
std::uint64_t sign_extend(std::uint64_t value, unsigned bytes) {
    const std::uint64_t sign = kMasks[bytes] ^ kMasks[bytes] >> 1;
    return (value ^ sign) - sign;
}

/// `out = Instruction{}` by 8-byte stores. Without vector registers gcc emits rep stos for it, which takes twenty
/// cycles.
template <std::size_t words>
void clear(Unaligned* at) {
    if constexpr (words > 0) {
        at[words - 1] = 0;
        clear<words - 1>(at);
    }
}

/// The reference that a node selects.
std::uint16_t next_reference(std::uint16_t reference, unsigned selector) {
    const std::uint16_t* node = kNodes + (reference & ~kNodeBit);
    return node[1 + (selector >> (*node & 15) & ((1u << (*node >> 4)) - 1))];
}

// A node is a header and one reference for each value of the bits that it tests: see kNodeBit (form.h).

/// Register numbers of the operand fields, with their extension bits: reg, rm and vvvv have five bits.
struct EncodedRegisters {
    unsigned reg;
    unsigned rm;  ///< if ModRM.rm is a register
    unsigned vvvv;
    unsigned index;  ///< of a SIB byte
    bool evex;
};

/// Whether the instruction satisfies the form's constraints; otherwise it is #UD. `operand`: bits of namespace address.
bool allowed(const Form& form, const EncodedRegisters& r, unsigned operand, bool sib) {
    const bool memory = operand & address::kMemory;
    if (form.attributes & attribute::kNeedsSib && !sib) return false;
    if (form.attributes & attribute::kNoRip && operand & address::kRip) return false;
    if (!(form.reg_high >> (r.reg >> 3) & 1)) return false;
    if (!memory && !(form.rm_high >> (r.rm >> 3) & 1)) return false;
    const bool vector_index = form.attributes & attribute::kVectorIndex;  // its highest bit is V'
    const unsigned vvvv = vector_index ? r.vvvv & 15 : r.vvvv;
    const unsigned index = r.index | (r.vvvv & 16);
    const unsigned constraints = form.constraints;
    if (constraints & constraint::kNoVvvv && vvvv) return false;
    if (!(form.vvvv_high >> (vvvv >> 3) & 1)) return false;
    if (constraints & constraint::kRegNotVvvv && r.reg == vvvv) return false;
    if (vector_index && constraints & constraint::kRegNotIndex && index == r.reg) return false;
    if (vector_index && constraints & constraint::kVvvvNotIndex && index == vvvv) return false;
    if (!memory && constraints & constraint::kRegNotRm && r.reg == r.rm) return false;
    return memory || !(constraints & constraint::kRmNotVvvv) || r.rm != vvvv;
}

/// Decodes one instruction. The member functions follow the order of its bytes. `limit`: bytes that are there, at
/// most 15.
class Decoder {
  public:
    Decoder(const std::uint8_t* bytes, unsigned limit, Instruction& out) : bytes_(bytes), limit_(limit), out_(out) {}

    DecodeStatus run() {
        static_assert(sizeof(Instruction) % 8 == 0);
        clear<sizeof(Instruction) / 8>(reinterpret_cast<Unaligned*>(&out_));
        // The frequent case without a loop: no prefix, or a REX alone. Everything else goes through prefixes(), which
        // starts anew from the first byte.
        const bool rex = (bytes_[0] & 0xf0) == 0x40;
        rex_ = rex ? bytes_[0] : 0;
        at_ = rex;
        Byte kind = kBytes.of[bytes_[at_]];
        if (kind != Byte::opcode && kind != Byte::escape) {
            if (!prefixes()) return cut_off();
            kind = kBytes.of[bytes_[at_]];
        }
        if (!opcode(kind)) return refuse();
        if (!find_form()) return refuse();
        if (!(has(attribute::kModrm) ? modrm_operand() : no_modrm())) return refuse();
        immediate();
        // too_long needs a length that can be trusted. If a byte that determines it lies past the limit, padding was
        // decoded, and the answer of cut_off() is right: a limit of 15 bytes makes it too_long as well.
        if (out_.length > limit_) return out_.length > kLongest && knows_length() ? DecodeStatus::too_long : cut_off();
        if (form_->attributes & (attribute::k3dNow | attribute::kImmediateShift) && !by_immediate())
            return DecodeStatus::invalid;
        set_facts();
        return DecodeStatus::ok;
    }

  private:
    bool has(std::uint32_t which) const { return form_->attributes & which; }
    DecodeStatus cut_off() const { return limit_ < kLongest ? DecodeStatus::truncated : DecodeStatus::too_long; }

    /// Whether all bytes that determine the length were there.
    bool knows_length() const {
        return out_.opcode_offset < limit_ && out_.modrm_offset < limit_ && out_.sib_offset < limit_;
    }

    /// The bytes before at_ are not the beginning of an instruction, unless some of them were missing.
    DecodeStatus refuse() const { return at_ > limit_ ? cut_off() : DecodeStatus::invalid; }

    /// Consumes prefixes; at_ is then the first byte that is not one. False if all bytes are prefixes.
    bool prefixes() {
        rex_ = 0;
        for (at_ = 0; at_ < limit_; ++at_) {
            const Byte kind = kBytes.of[bytes_[at_]];
            if (kind == Byte::opcode || kind >= Byte::escape) return true;
            rex_ = kind == Byte::rex ? bytes_[at_] : 0;  // effective only as the last prefix
            prefix(kind);
        }
        return false;
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

    /// Consumes the bytes up to the last opcode byte and looks that up. If it returns false, at_ is after the byte that
    /// decided so.
    bool opcode(Byte kind) {
        if (kind == Byte::opcode) return legacy(Space::one_byte);
        if (kind == Byte::escape) {
            const std::uint8_t second = bytes_[++at_];
            if (second != 0x38 && second != 0x3a) return legacy(Space::map_0f);
            ++at_;
            return legacy(second == 0x38 ? Space::map_0f38 : Space::map_0f3a);
        }
        if (kind == Byte::xop && (bytes_[at_ + 1] & 0x1f) < 8) return legacy(Space::one_byte);  // 8F /0: pop
        return vex(kind);
    }

    bool legacy(Space space) {
        const unsigned opcode = bytes_[at_];
        // W is bit 3 of REX and moves to its bit of the selector; F2 and F3 go there as the last one that was seen.
        const unsigned prefixes = (rex_ & 8u) << (selector::kW - 3) | unsigned{out_.operand16} << selector::kOperand16 |
                                  repeat_ << selector::kRepeat;
        selector_ = prefixes;
        out_.has_rex = rex_ != 0;
        // A REX that counts is the last byte before the escape bytes and the opcode.
        out_.rex_offset = static_cast<std::uint8_t>(rex_ ? at_ - 1 - escape_bytes(space) : 0);
        reg_high_ = rex_ >> 2 & 1;
        rm_high_ = rex_ & 3u;
        out_.map = static_cast<std::uint8_t>(space);
        const unsigned row = first_row(space) + (has_row_per_prefix(space) ? prefixes >> selector::kW : 0);
        // 90 is nop without REX.B and xchg r8, rax with it, which has the form of 91
        return look_up(row, opcode + (space == Space::one_byte && opcode == 0x90 && rex_ & 1));
    }

    /// How many escape bytes (0F, 38, 3A) a space has before the opcode byte.
    static unsigned escape_bytes(Space space) { return space == Space::one_byte ? 0 : space == Space::map_0f ? 1 : 2; }

    /// Sets reference_. False if there is no instruction with this opcode.
    bool look_up(unsigned row, unsigned opcode) {
        out_.opcode = bytes_[at_];
        out_.opcode_offset = static_cast<std::uint8_t>(at_++);
        reference_ = kReferences[row][opcode];
        return reference_ != 0;
    }

    /// VEX, EVEX and XOP. After 66, F2, F3, LOCK or REX they are #UD (SDM volume 2, 2.3.2).
    bool vex(Byte kind) {
        out_.has_vex = true;
        out_.vex_offset = static_cast<std::uint8_t>(at_);
        // The register bits R, X, B, R', V' and vvvv are stored inverted (SDM volume 2, 2.3.5), hence the complements
        // below.
        const std::uint8_t* p = bytes_ + at_;
        if (rex_ || out_.operand16 || repeat_ || out_.lock) {
            ++at_;
            return false;
        }
        if (kind == Byte::evex) return evex(p);
        // The two-byte form has no map, X, B or W: map 0F, and those bits are 0.
        if (kind == Byte::vex2) {
            at_ += 2;
            reg_high_ = ~unsigned{p[1]} >> 7 & 1;
            return vex_opcode(Space::vex_1, 1, p[1] & 0x7f);
        }
        // The map field has five bits: VEX uses 1 to 3, XOP 8 to 10 (AMD64 manual, volume 3). A value below 8 after 8F
        // is pop, which opcode() has excluded already.
        const unsigned map = p[1] & 0x1f;
        const unsigned lowest = kind == Byte::xop ? 8 : 1;
        if (map < lowest || map > lowest + 2) {
            at_ += 2;
            return false;
        }
        const unsigned rxb = ~unsigned{p[1]} >> 5;
        reg_high_ = rxb >> 2 & 1;
        rm_high_ = rxb & 3;
        at_ += 3;
        const Space first = kind == Byte::xop ? Space::xop_8 : Space::vex_1;
        return vex_opcode(static_cast<Space>(static_cast<unsigned>(first) + map - lowest), map, p[2]);
    }

    bool vex_opcode(Space space, unsigned map, unsigned p) {
        vvvv_ = ~p >> 3 & 15;
        selector_ = (p >> 7) << selector::kW | (p >> 2 & 1) << selector::kL | (p & 3) << selector::kVexPp;
        out_.map = static_cast<std::uint8_t>(map);
        return look_up(first_row(space), bytes_[at_]);
    }

    bool evex(const std::uint8_t* p) {
        constexpr Space spaces[16] = {Space::none, Space::evex_1, Space::evex_2, Space::evex_3,
                                      Space::none, Space::evex_5, Space::evex_6, Space::none,
                                      Space::none, Space::none,   Space::none,   Space::none,
                                      Space::none, Space::none,   Space::none,   Space::none};
        // Three bits of map, and a fourth that has to be 0.
        const unsigned map = p[1] & 15;
        if (spaces[map] == Space::none) {
            at_ += 2;
            return false;
        }
        if (!(p[2] & 4)) {  // MVEX of Knights Corner, and APX: not on the CPUs supported
            at_ += 3;
            return false;
        }
        const unsigned p0 = p[1];
        const unsigned p1 = p[2];
        const unsigned p2 = p[3];
        reg_high_ = (~p0 >> 7 & 1) | (~p0 >> 3 & 2);
        rm_high_ = ~p0 >> 5 & 3;
        vvvv_ = (~p1 >> 3 & 15) | (~p2 << 1 & 16);
        selector_ = (p1 >> 7) << selector::kW | (p1 & 3) << selector::kEvexPp | (p2 >> 5 & 3) << selector::kLength |
                    (p2 >> 4 & 1) << selector::kBroadcast | unsigned{(p2 & 7) != 0} << selector::kMasked |
                    (p2 >> 7) << selector::kZeroing;
        is_evex_ = true;
        out_.map = static_cast<std::uint8_t>(map);
        at_ += 4;
        return look_up(first_row(spaces[map]), bytes_[at_]);
    }

    /// Follows the nodes to a form. If a node tests ModRM, other values of it are instructions: ModRM then belongs to
    /// the bytes that decided. Also verifies LOCK, which needs a memory operand.
    bool find_form() {
        modrm_ = bytes_[at_];
        std::uint16_t r = reference_;
        if (r & kNodeBit) [[unlikely]] {
            const unsigned selector = selector_ | (modrm_ & 0x3f) | unsigned{modrm_ >= 0xc0} << selector::kIsReg;
            while (r & kNodeBit) {
                // The bits below W are those of ModRM (namespace selector).
                if ((kNodes[r & ~kNodeBit] & 15) < selector::kW) asked_modrm_ = true;
                r = next_reference(r, selector);
            }
        }
        form_ = &kForms[r];
        if (r == 0) {
            at_ += asked_modrm_;
            return false;
        }
        // LOCK is an error unless the instruction permits it and its operand is memory. ModRM then belongs to the
        // deciding bytes, unless the combination fits: modrm_operand() consumes it again.
        if (!out_.lock) [[likely]]
            return true;
        at_ += has(attribute::kModrm);
        const bool fits = has(attribute::kLockable) && modrm_ < 0xc0;
        at_ -= fits;
        return fits;
    }

    /// The operands of an instruction without ModRM: a register in the opcode, an absolute address.
    bool no_modrm() {
        if (has(attribute::kRegisterInOpcode)) add_register(form_->rm_role, (out_.opcode & 7u) | (rm_high_ & 1) << 3);
        if (has(attribute::kSegment)) out_.segment = segment_;
        if (form_->constraints & constraint::kNoVvvv && vvvv_) return false;
        if (!has(attribute::kOffset)) return true;
        out_.reads_operand = has(attribute::kReads);
        out_.writes_operand = has(attribute::kWrites);
        displacement_bytes_ = out_.address32 ? 4 : 8;
        out_.displacement_offset = static_cast<std::uint8_t>(at_);
        out_.displacement_bytes = static_cast<std::uint8_t>(displacement_bytes_);
        out_.displacement = static_cast<std::int64_t>(load(bytes_ + at_, displacement_bytes_));
        at_ += displacement_bytes_;
        return true;
    }

    /// The operands of ModRM, SIB and displacement.
    bool modrm_operand() {
        out_.modrm_offset = static_cast<std::uint8_t>(at_++);
        unsigned operand = kAddresses.of[modrm_];
        const std::uint32_t attributes = form_->attributes;
        if (form_->constraints & constraint::kAlwaysRegister) [[unlikely]]
            operand = 0;
        const bool sib = operand & address::kSib;
        const unsigned reg = (modrm_ >> 3 & 7) | reg_high_ << 3;
        // As a register, ModRM.rm has X as its fifth bit in EVEX (SDM volume 2, 2.7.2); as a base it has only B.
        const unsigned rm = (modrm_ & 7) | (rm_high_ & (is_evex_ ? 3u : 1u)) << 3;
        unsigned index = 0;
        if (sib) index = sib_byte(operand);
        if (attributes & attribute::kConstrained && !allowed(*form_, {reg, rm, vvvv_, index, is_evex_}, operand, sib))
            return false;
        const bool memory = operand & address::kMemory;
        // A field that names a vector register has the role 0, so its number is without effect.
        add_register(form_->reg_role, reg & 15);
        add_register(memory ? 0 : form_->rm_role, rm & 15);
        add_register(form_->vvvv_role, vvvv_ & 15);
        if (form_->vector_roles != 0) vector_registers(reg, rm, memory);
        // xor eax, eax: the value before does not matter, so the translator may borrow the register.
        if (attributes & attribute::kZeroes && !memory && reg == rm) read_ = 0;
        address_register(operand >> 5 & 1, (modrm_ & 7) | (rm_high_ & 1) << 3);
        out_.rip_relative = operand & address::kRip;
        // One form serves both kinds of operands; with a register the attributes about memory do not apply.
        const std::uint32_t of_memory = memory ? attributes : attributes & ~attribute::kOfMemory;
        out_.reads_memory = out_.reads_operand = of_memory & attribute::kReadsOperand;
        out_.writes_memory = out_.writes_operand = of_memory & attribute::kWritesOperand;
        if (segment_ != Segment::none && of_memory & (attribute::kSegmentOperand | attribute::kSegment))
            out_.segment = segment_;
        displacement_bytes_ = operand & address::kDisplacement;
        out_.displacement_bytes = static_cast<std::uint8_t>(displacement_bytes_);
        out_.displacement_offset = static_cast<std::uint8_t>(displacement_bytes_ ? at_ : 0);
        out_.displacement =
            static_cast<std::int64_t>(sign_extend(load(bytes_ + at_, displacement_bytes_), displacement_bytes_));
        at_ += displacement_bytes_;
        return true;
    }

    /// Consumes the SIB byte and returns the number of its index register. Base 5 with mod 0 means a displacement of 4
    /// bytes and no base.
    unsigned sib_byte(unsigned& operand) {
        out_.sib_offset = static_cast<std::uint8_t>(at_);
        const unsigned sib = bytes_[at_++];
        const bool no_base = (sib & 7) == 5 && modrm_ < 0x40;
        if (no_base) operand |= 4;
        address_register(!no_base, (sib & 7) | (rm_high_ & 1) << 3);
        const unsigned index = (sib >> 3 & 7) | (rm_high_ & 2) << 2;
        address_register(index != 4 && !has(attribute::kVectorIndex), index);
        return index;
    }

    /// A register that forms an address is touched and read.
    void address_register(bool is_one, unsigned number) {
        touched_ |= unsigned{is_one} << number;
        read_ |= unsigned{is_one} << number;
    }

    /// The vector registers in the operand fields. An xorps of a register with itself depends on nothing.
    void vector_registers(unsigned reg, unsigned rm, bool memory) {
        const std::uint64_t roles = form_->vector_roles;
        const bool zeroes = has(attribute::kZeroes) && !memory && rm == (out_.has_vex ? vvvv_ : reg);
        const std::uint64_t of_vvvv = zeroes ? 0 : roles >> 4 & 1;
        const std::uint64_t of_rm = memory || zeroes ? 0 : roles;
        const std::uint64_t of_reg = zeroes ? roles & vector_role::kWritesReg : roles;
        out_.vector_read = (of_reg & 1) << (reg & 31) | (of_rm >> 2 & 1) << (rm & 31) | of_vvvv << (vvvv_ & 31);
        out_.vector_written = (roles >> 1 & 1) << (reg & 31) | (of_rm >> 3 & 1) << (rm & 31);
    }

    /// Adds the general register in an operand field to the sets that its role names.
    void add_register(unsigned roles, unsigned number) {
        // Without any REX the byte registers 4 to 7 are ah, ch, dh, bh: parts of registers 0 to 3. The shifts below
        // turn each bit of the role into a bit of a set without a branch.
        const bool high_byte = roles & role::kByte && number >= 4 && rex_ == 0;
        number -= high_byte ? 4 : 0;
        touched_ |= (roles & 1) << number;
        read_ |= (roles >> 1 & 1) << number;
        overwritten_ |= (roles >> 2 & 1) << number;
        written_ |= (roles >> 4 & 1) << number;
    }

    void immediate() {
        const unsigned bytes = form_->immediate_bytes;
        out_.length = static_cast<std::uint8_t>(at_ + bytes);
        out_.immediate_bytes = static_cast<std::uint8_t>(bytes);
        out_.immediate_offset = static_cast<std::uint8_t>(bytes ? at_ : 0);
        // The address is clamped: with 15 bytes of prefixes and opcode at_ may be past what can be read.
        const std::uint64_t value = load(bytes_ + (at_ < kLongest ? at_ : kLongest), bytes);
        out_.immediate = has(attribute::kSigned) ? sign_extend(value, bytes) : value;
    }

    /// What depends on the value of the immediate. A shift by 0 leaves the flags unchanged; a shift of 8 or 16 bits by
    /// more than its width leaves CF undefined. The immediate of 3DNow! is its opcode. False: not an instruction.
    bool by_immediate() {
        if (has(attribute::k3dNow)) return suffix_3dnow();
        const unsigned count = static_cast<unsigned>(out_.immediate) & (selector_ >> selector::kW & 1 ? 63u : 31u);
        uncertain_flags_ = count == 0 || (has(attribute::kNarrowShift) && count >= 8);
        return true;
    }

    bool suffix_3dnow() {
        out_.opcode = static_cast<std::uint8_t>(out_.immediate);
        out_.opcode_offset = out_.immediate_offset;
        out_.immediate_offset = out_.immediate_bytes = 0;
        out_.immediate = 0;
        std::uint16_t r = kReferences[first_row(Space::now)][out_.opcode];
        while (r & kNodeBit) r = next_reference(r, (modrm_ & 0x3f) | unsigned{modrm_ >= 0xc0} << selector::kIsReg);
        form_ = &kForms[r];
        return r != 0;
    }

    /// Combines the form with what the operand fields have added.
    void set_facts() {
        out_.control = static_cast<Control>(form_->control);
        out_.isa = static_cast<std::uint8_t>((form_->attributes & attribute::kIsa) >> attribute::kIsaShift);
        out_.touched = static_cast<RegisterSet>(touched_ | form_->touched);
        out_.read = static_cast<RegisterSet>(read_ | form_->read);
        out_.overwritten = static_cast<RegisterSet>(overwritten_ | form_->overwritten);
        out_.written = static_cast<RegisterSet>(written_ | form_->written);
        // Flags that may stay as they are count as read, and as not overwritten: they are live before the instruction.
        out_.flags_read = uncertain_flags_ ? kStatusFlags : form_->flags_read;
        out_.flags_overwritten = uncertain_flags_ ? FlagSet{0} : form_->flags_overwritten;
        out_.reads_memory |= has(attribute::kReads);
        out_.writes_memory |= has(attribute::kWrites);
        out_.rep = has(attribute::kRepeats);
        out_.operand_bytes = form_->operand_bytes;
        out_.implied_bytes = form_->implied_bytes;
        out_.timing = form_->timing;
        out_.tests_flags = form_->vector_roles & vector_role::kTestsFlags;
        out_.sets_flags = form_->vector_roles & vector_role::kSetsFlags;
        const std::uint64_t stack = form_->vector_roles & vector_role::kStack ? kX87Stack : 0;
        out_.vector_read |= stack;
        out_.vector_written |= stack;
        // Loads, stores and updates depend on ModRM, so the form lacks them. The form decides all other classes.
        const auto held = [](bool holds, Class id) { return unsigned{holds} << static_cast<unsigned>(id); };
        out_.classes = ClassSet{form_->classes} | held(out_.reads_memory, Class::loads) |
                       held(out_.writes_memory, Class::stores) |
                       held(out_.reads_memory && out_.writes_memory, Class::updates) | width_classes();
    }

    /// The class by width of floating-point arithmetic, with kCountsTwice.
    ClassSet width_classes() const {
        const ClassSet width = (ClassSet{1} << (form_->attributes >> attribute::kWidthShift) >> 1) << kFirstWidth;
        return has(attribute::kCountsTwice) ? width | kCountsTwice : width;
    }

    const std::uint8_t* const bytes_;
    const unsigned limit_;
    Instruction& out_;
    const Form* form_ = nullptr;
    unsigned at_ = 0;
    unsigned selector_ = 0;
    unsigned repeat_ = 0;
    unsigned reg_high_ = 0;
    unsigned rm_high_ = 0;
    unsigned vvvv_ = 0;
    unsigned modrm_ = 0;
    unsigned displacement_bytes_ = 0;
    unsigned touched_ = 0;
    unsigned read_ = 0;
    unsigned overwritten_ = 0;
    unsigned written_ = 0;
    std::uint16_t reference_ = 0;
    std::uint8_t rex_ = 0;
    bool is_evex_ = false;
    bool asked_modrm_ = false;
    bool uncertain_flags_ = false;
    Segment segment_ = Segment::none;
};

}  // namespace

const Timing& timing_of(std::uint8_t number) {
    return kTimings[number];
}

// flatten inlines every step: a call would force the decoder's state from registers into memory.
[[gnu::flatten]] DecodeStatus decode(const std::uint8_t* bytes, std::size_t size, Instruction& out) {
    const auto limit = static_cast<unsigned>(size < kLongest ? size : kLongest);
    std::uint8_t copy[kReadable];
    if (size < kReadable) {
        for (unsigned n = 0; n < kReadable; ++n) copy[n] = n < limit ? bytes[n] : 0;
        bytes = copy;
    }
    return Decoder{bytes, limit, out}.run();
}

}  // namespace anyperf::engine::x86_64
