// describe.cpp: translates Zydis's operands, flags and categories to roles, sets and Control. There are pitfalls: a
// memory operand is not always an access, a flag that Zydis lists as modified may keep its value, and a write of 16
// bits keeps the rest of the register. facts.h has what Zydis gets wrong for this purpose.
#include "engine/x86_64/generate/describe.h"

#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/generate/facts.h"
#include "engine/x86_64/generate/isa_sets.h"
#include "engine/x86_64/generate/timings.h"

namespace anyperf::engine::x86_64::generate {
namespace {

constexpr RegisterSet kAllRegisters = 0xffff;
constexpr RegisterSet kRcx = 1u << 1;
constexpr RegisterSet kRsi = 1u << 6;
constexpr RegisterSet kRdi = 1u << 7;
constexpr RegisterSet kR11 = 1u << 11;
constexpr FlagSet kAf = 0x10;
constexpr FlagSet kZf = 0x40;

constexpr auto kReadActions = ZYDIS_OPERAND_ACTION_MASK_READ;
constexpr auto kWriteActions = ZYDIS_OPERAND_ACTION_MASK_WRITE;

// The translator borrows registers and flags that an instruction does not need. So if there is doubt, a register counts
// as touched, read and not overwritten, and a flag as read and not overwritten. That costs a spill; the opposite would
// change the application's state.

/// The number of the general register that holds this one, or -1.
int general_register(ZydisRegister reg) {
    const auto whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

bool is_vector(ZydisRegister reg) {
    switch (ZydisRegisterGetClass(reg)) {
        case ZYDIS_REGCLASS_MMX:
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
        case ZYDIS_REGCLASS_MASK: return true;
        default: return false;
    }
}

/// Whether the instruction makes a vector register 0 if its sources are the same register.
bool zeroes_vectors(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_PXOR:
        case ZYDIS_MNEMONIC_XORPS:
        case ZYDIS_MNEMONIC_XORPD:
        case ZYDIS_MNEMONIC_VPXOR:
        case ZYDIS_MNEMONIC_VXORPS:
        case ZYDIS_MNEMONIC_VXORPD:
        case ZYDIS_MNEMONIC_VPXORD:
        case ZYDIS_MNEMONIC_VPXORQ: return true;
        default: return false;
    }
}

/// Describes one instruction; `form_` is filled step by step.
class Description {
  public:
    explicit Description(const ZydisInstruction& answer) : i_(answer.instruction), operands_(answer.operands) {}

    Form form() {
        layout();
        for (unsigned n = 0; n < i_.operand_count; ++n) operand(operands_[n]);
        flags();
        strings();
        control();
        classes();
        form_.timing = timing_number(i_, operands_.data());
        return form_;
    }

  private:
    bool is(ZydisMnemonic mnemonic) const { return i_.mnemonic == mnemonic; }
    bool fact(Fact which) const { return has(i_.mnemonic, which); }
    void set(std::uint32_t attribute, bool on = true) {
        if (on) form_.attributes |= attribute;
    }

    /// ModRM, the size of immediates, and what the decoder must know to read them.
    void layout() {
        set(attribute::kModrm, i_.attributes & ZYDIS_ATTRIB_HAS_MODRM);
        set(std::uint32_t{isa_of(i_)} << attribute::kIsaShift);
        for (const auto& immediate : i_.raw.imm)
            form_.immediate_bytes = static_cast<std::uint8_t>(form_.immediate_bytes + immediate.size / 8);
        if (i_.encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW) {  // the suffix
            form_.immediate_bytes = 1;
            set(attribute::k3dNow);
        }
        // Only widths of 32 bits and more replace the whole register.
        const bool zeroes = is(ZYDIS_MNEMONIC_XOR) || is(ZYDIS_MNEMONIC_SUB);
        set(attribute::kZeroes,
            (zeroes && form_.immediate_bytes == 0 && i_.operand_width >= 32) || zeroes_vectors(i_.mnemonic));
        set(attribute::kSigned, i_.raw.imm[0].is_signed && i_.raw.imm[1].size == 0);
    }

    void operand(const ZydisDecodedOperand& o) {
        if (o.type == ZYDIS_OPERAND_TYPE_MEMORY) return memory(o);
        if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
        if (is_vector(o.reg.value)) vector_ = true;
        vector_role(o);
        if (o.reg.value == ZYDIS_REGISTER_RFLAGS || o.reg.value == ZYDIS_REGISTER_EFLAGS ||
            o.reg.value == ZYDIS_REGISTER_FLAGS)
            flags_action_ = static_cast<ZydisOperandActions>(flags_action_ | o.actions);
        if (general_register(o.reg.value) >= 0) general(o);
    }

    /// What the instruction does to an operand in a vector register or on the x87 stack. Mask registers are left out:
    /// chains through them are rare.
    void vector_role(const ZydisDecodedOperand& o) {
        const ZydisRegisterClass kind = ZydisRegisterGetClass(o.reg.value);
        if (kind == ZYDIS_REGCLASS_X87) form_.vector_roles |= vector_role::kStack;
        if (kind != ZYDIS_REGCLASS_XMM && kind != ZYDIS_REGCLASS_YMM && kind != ZYDIS_REGCLASS_ZMM) return;
        const bool reads = o.actions & kReadActions;
        const bool writes = o.actions & kWriteActions;
        const auto add = [this](bool holds, unsigned role) {
            if (holds) form_.vector_roles = static_cast<std::uint8_t>(form_.vector_roles | role);
        };
        switch (o.encoding) {
            case ZYDIS_OPERAND_ENCODING_MODRM_REG:
                add(reads, vector_role::kReadsReg);
                return add(writes, vector_role::kWritesReg);
            case ZYDIS_OPERAND_ENCODING_MODRM_RM:
                add(reads, vector_role::kReadsRm);
                return add(writes, vector_role::kWritesRm);
            case ZYDIS_OPERAND_ENCODING_NDSNDD: return add(reads, vector_role::kReadsVvvv);
            default: return;
        }
    }

    /// The role of the instruction's field that encodes an operand; null for an implied operand.
    std::uint8_t* field(ZydisOperandEncoding encoding) {
        switch (encoding) {
            case ZYDIS_OPERAND_ENCODING_MODRM_REG: return &form_.reg_role;
            case ZYDIS_OPERAND_ENCODING_MODRM_RM: return &form_.rm_role;
            case ZYDIS_OPERAND_ENCODING_OPCODE: set(attribute::kRegisterInOpcode); return &form_.rm_role;
            case ZYDIS_OPERAND_ENCODING_NDSNDD: return &form_.vvvv_role;
            default: return nullptr;
        }
    }

    /// An operand in a general register. A conditional write, or one of less than 32 bits, also reads the register.
    void general(const ZydisDecodedOperand& o) {
        const bool certain = o.actions & ZYDIS_OPERAND_ACTION_WRITE && !fact(Fact::keeps_destination);
        const bool whole = certain && o.size >= 32;
        const bool partial = o.actions & kWriteActions && !whole;
        const bool read = o.actions & kReadActions || partial;
        const bool written = o.actions & kWriteActions;
        if (std::uint8_t* roles = field(o.encoding)) {
            // ah, ch, dh and bh exist in the legacy encoding only.
            const bool byte = o.size == 8 && i_.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
            *roles = static_cast<std::uint8_t>(*roles | role::kGeneral | (read ? role::kRead : 0) |
                                               (whole ? role::kOverwritten : 0) | (byte ? role::kByte : 0) |
                                               (written ? role::kWritten : 0));
            return;
        }
        const auto implied = static_cast<RegisterSet>(1u << (general_register(o.reg.value) & 15));
        imply(implied, read ? implied : 0, whole ? implied : 0);
        if (written) form_.written |= implied;
    }

    /// Adds implied registers.
    void imply(unsigned touched, unsigned read, unsigned overwritten) {
        form_.touched = static_cast<RegisterSet>(form_.touched | touched);
        form_.read = static_cast<RegisterSet>(form_.read | read);
        form_.overwritten = static_cast<RegisterSet>(form_.overwritten | overwritten);
    }

    void memory(const ZydisDecodedOperand& o) {
        const bool in_modrm = o.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
        if (o.encoding == ZYDIS_OPERAND_ENCODING_NONE && !through_register(o))
            // Implied memory (push, movs) has implied address registers, which no field of the instruction names.
            for (const ZydisRegister part : {o.mem.base, o.mem.index})
                if (const unsigned set = 1u << (general_register(part) & 31); set <= kAllRegisters)
                    imply(set, set, 0);  // no register: -1 & 31 gives bit 31
        const bool segment = i_.attributes & ZYDIS_ATTRIB_ACCEPTS_SEGMENT;
        set(in_modrm ? attribute::kSegmentOperand : attribute::kSegment, segment);
        set(attribute::kOffset, in_offset(o));
        set(attribute::kVectorIndex, o.mem.type == ZYDIS_MEMOP_TYPE_VSIB);
        if (o.mem.type == ZYDIS_MEMOP_TYPE_VSIB) vector_ = true;
        // lea computes an address and accesses nothing.
        if (o.mem.type == ZYDIS_MEMOP_TYPE_AGEN || fact(Fact::no_access)) return;
        size(o, in_modrm || in_offset(o));
        set(in_modrm ? attribute::kReadsOperand : attribute::kReads, o.actions & kReadActions);
        set(in_modrm ? attribute::kWritesOperand : attribute::kWrites, o.actions & kWriteActions);
    }

    /// The size of a memory operand. A gather has none: each element has its own address.
    void size(const ZydisDecodedOperand& o, bool named) {
        constexpr unsigned kWidest = 255;
        const unsigned bytes = o.mem.type == ZYDIS_MEMOP_TYPE_VSIB ? 0 : o.size / 8u;
        if (named)
            form_.operand_bytes = static_cast<std::uint16_t>(bytes);
        else
            form_.implied_bytes = static_cast<std::uint8_t>(bytes < kWidest ? bytes : kWidest);
    }

    /// movdir64b, enqcmd: the register in ModRM.reg holds the address of the destination.
    bool through_register(const ZydisDecodedOperand& o) const {
        return operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands_[0].encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG && operands_[0].reg.value == o.mem.base;
    }

    /// mov moffs: the address is in the instruction.
    static bool in_offset(const ZydisDecodedOperand& o) {
        return o.encoding >= ZYDIS_OPERAND_ENCODING_DISP8 && o.encoding <= ZYDIS_OPERAND_ENCODING_DISP16_32_32;
    }

    /// A flag that may keep its value or is undefined afterwards counts as read.
    void flags() {
        if (!i_.cpu_flags) return;
        const ZydisAccessedFlags& f = *i_.cpu_flags;
        if (f.tested & kStatusFlags) form_.vector_roles |= vector_role::kTestsFlags;
        if ((f.modified | f.set_0 | f.set_1) & kStatusFlags) form_.vector_roles |= vector_role::kSetsFlags;
        const unsigned written = (f.modified | f.set_0 | f.set_1) & kStatusFlags;
        const unsigned undefined = f.undefined & kStatusFlags;
        unsigned read = f.tested & kStatusFlags;
        if (set_immediate_shift() || (flags_action_ & ZYDIS_OPERAND_ACTION_WRITE && !is_double_shift()))
            form_.flags_overwritten = static_cast<FlagSet>(written & ~undefined);
        else
            read |= written | undefined;
        if (fact(Fact::zf_only)) form_.flags_overwritten &= kZf;
        if (fact(Fact::overwrites_af)) form_.flags_overwritten |= kAf;
        form_.flags_read = static_cast<FlagSet>(read);
    }

    /// shld, shrd: Zydis lists their flags as certainly written, even for a shift by CL.
    bool is_double_shift() const { return is(ZYDIS_MNEMONIC_SHLD) || is(ZYDIS_MNEMONIC_SHRD); }

    /// If this is a shift or rotate by an immediate, sets the attributes by which the decoder decides from the
    /// immediate's value whether the flags change. Returns whether it is one.
    bool set_immediate_shift() {
        switch (i_.mnemonic) {
            case ZYDIS_MNEMONIC_SHL:
            case ZYDIS_MNEMONIC_SHR:
            case ZYDIS_MNEMONIC_SAR:
            case ZYDIS_MNEMONIC_ROL:
            case ZYDIS_MNEMONIC_ROR: break;
            case ZYDIS_MNEMONIC_SHLD:
            case ZYDIS_MNEMONIC_SHRD:
                if (i_.operand_width == 16) return false;  // a count above 16 leaves everything undefined
                break;
            default: return false;
        }
        if (form_.immediate_bytes != 1 || i_.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return false;
        set(attribute::kImmediateShift);
        set(attribute::kNarrowShift, i_.operand_width < 32);
        return true;
    }

    /// REP uses rcx. With rcx 0 the instruction does nothing, so no register is certain to be overwritten.
    void strings() {
        constexpr auto repeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
        if (i_.meta.category == ZYDIS_CATEGORY_STRINGOP || i_.meta.category == ZYDIS_CATEGORY_IOSTRINGOP) advance();
        if (!(i_.attributes & repeats)) return;
        set(attribute::kRepeats);
        imply(kRcx, kRcx, 0);
        form_.written |= kRcx;
        form_.overwritten = 0;
        form_.read |= form_.touched;
    }

    /// A string instruction reads and writes its pointers; Zydis does not list those of repe cmps and scas as written.
    void advance() {
        const RegisterSet pointers = form_.touched & (kRsi | kRdi);
        form_.read |= pointers;
        form_.overwritten |= pointers;
        form_.written |= pointers;
    }

    void control() {
        form_.control = static_cast<std::uint8_t>(kind());
        switch (kind()) {
            case Control::far:
            case Control::interrupt: expose(0); break;
            case Control::syscall: expose(kRcx | kR11); break;
            default: break;
        }
    }

    /// Control goes to the kernel or to another code segment, which may read every register and flag.
    void expose(RegisterSet overwritten) {
        form_.touched = form_.read = kAllRegisters;
        form_.overwritten = overwritten;
        form_.written = kAllRegisters;
        form_.reg_role = form_.rm_role = form_.vvvv_role = 0;
        form_.flags_read = kStatusFlags;
        form_.flags_overwritten = 0;
    }

    Control kind() const {
        if (fact(Fact::x87_state)) return Control::x87_state;
        if (fact(Fact::interrupts) || i_.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) return special(Control::interrupt);
        if (const Control branch = branch_kind(); branch != Control::none) return branch;
        return special(names_gs() ? Control::segment_base : Control::none);
    }

    /// The instructions that Control names one by one.
    Control special(Control otherwise) const {
        switch (i_.mnemonic) {
            case ZYDIS_MNEMONIC_SYSCALL: return Control::syscall;
            case ZYDIS_MNEMONIC_XBEGIN: return Control::xbegin;
            case ZYDIS_MNEMONIC_CPUID: return Control::cpuid;
            case ZYDIS_MNEMONIC_XGETBV: return Control::xgetbv;
            case ZYDIS_MNEMONIC_RDTSC:
            case ZYDIS_MNEMONIC_RDTSCP:
            case ZYDIS_MNEMONIC_RDPID: return Control::rdtsc;
            case ZYDIS_MNEMONIC_RDRAND:
            case ZYDIS_MNEMONIC_RDSEED: return Control::random;
            case ZYDIS_MNEMONIC_RDPMC: return Control::rdpmc;
            case ZYDIS_MNEMONIC_RDGSBASE:
            case ZYDIS_MNEMONIC_WRGSBASE: return Control::segment_base;
            case ZYDIS_MNEMONIC_UIRET: return Control::far;
            default: return otherwise;
        }
    }

    /// Whether gs is an operand, as it may be of mov, push, pop and lgs.
    bool names_gs() const {
        for (unsigned n = 0; n < i_.operand_count; ++n)
            if (operands_[n].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[n].reg.value == ZYDIS_REGISTER_GS)
                return true;
        return false;
    }

    Control branch_kind() const {
        if (i_.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return Control::far;
        const bool direct = operands_[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        switch (i_.meta.category) {
            case ZYDIS_CATEGORY_COND_BR: return conditional_kind();
            case ZYDIS_CATEGORY_CALL: return direct ? Control::call : Control::call_indirect;
            case ZYDIS_CATEGORY_RET: return is(ZYDIS_MNEMONIC_RET) ? Control::ret : Control::far;
            case ZYDIS_CATEGORY_UNCOND_BR:
                if (!is(ZYDIS_MNEMONIC_JMP)) return Control::none;
                return direct ? Control::jump : Control::jump_indirect;
            default: return Control::none;
        }
    }

    Control conditional_kind() const {
        switch (i_.mnemonic) {
            case ZYDIS_MNEMONIC_XBEGIN: return Control::xbegin;
            case ZYDIS_MNEMONIC_XABORT: return Control::none;
            case ZYDIS_MNEMONIC_LOOP:
            case ZYDIS_MNEMONIC_LOOPE:
            case ZYDIS_MNEMONIC_LOOPNE:
            case ZYDIS_MNEMONIC_JCXZ:
            case ZYDIS_MNEMONIC_JECXZ:
            case ZYDIS_MNEMONIC_JRCXZ: return Control::rcx_branch;
            default: return Control::conditional;
        }
    }

    void classes() {
        unsigned of = bit(Class::instructions) | of_control();
        // Classes that depend on the operand (loads, stores) are added by the decoder.
        if (is_floating_point(i_)) of |= bit(Class::floating_point);
        if (vector_) of |= bit(Class::vector);
        form_.classes = static_cast<std::uint16_t>(of);
        if (const auto counted = counted_by_width(i_)) {
            form_.attributes |= (counted->width + 1) << attribute::kWidthShift;
            if (counted->twice) form_.attributes |= attribute::kCountsTwice;
        }
    }

    unsigned of_control() const {
        constexpr unsigned branch = bit(Class::branches);
        constexpr unsigned taken = branch | bit(Class::taken);
        switch (static_cast<Control>(form_.control)) {
            case Control::conditional:
            case Control::rcx_branch: return branch | bit(Class::conditional);
            case Control::jump: return taken;
            case Control::jump_indirect: return taken | bit(Class::indirect);
            case Control::call: return taken | bit(Class::calls);
            case Control::call_indirect: return taken | bit(Class::calls) | bit(Class::indirect);
            case Control::ret: return taken | bit(Class::returns);
            case Control::far: return branch | bit(Class::far);
            case Control::syscall: return bit(Class::syscalls);
            default: return 0;
        }
    }

    const ZydisDecodedInstruction& i_;
    const std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>& operands_;
    Form form_;
    ZydisOperandActions flags_action_ = 0;
    bool vector_ = false;
};

}  // namespace

Form describe(const ZydisInstruction& answer) {
    return Description{answer}.form();
}

}  // namespace anyperf::engine::x86_64::generate
