// constraints.cpp: finds which values of the fields outside the selector make a valid instruction.
//
// Problem. A cell of the table is one value of opcode and selector, but whether an encoding is an instruction depends
// on fields that the selector lacks: the high register bits, vvvv, SIB. There are thousands of combinations for each
// cell, and an EVEX opcode has 32,768 cells. But there are few kinds of restrictions: a field must be 1111, a number
// must exist (there are eight mask and eight tile registers), a SIB byte is needed, or two or three registers must
// differ.
//
// Solution. Several encodings of a selector value are tried until one is valid. From that one, each field is varied
// alone, with all others fixed. A field whose change makes the encoding invalid has a restriction of the kind that the
// variation tests. tests/unit/engine/decode_random_test.cpp compares the result with Zydis over random bytes, which
// would show a restriction of another kind.
#include "engine/x86_64/generate/constraints.h"

#include <algorithm>

#include "engine/x86_64/generate/describe.h"

namespace anyperf::engine::x86_64::generate {
namespace {

/// A register number from 1 to 3 that is neither `a` nor `b`.
constexpr std::uint8_t other_than(unsigned a, unsigned b) {
    for (std::uint8_t n = 1; n < 4; ++n)
        if (n != a && n != b) return n;
    return 0;
}

/// Finds the form of one selector value. `base_` becomes the first valid encoding, from which fields are varied.
class FormQuery {
  public:
    FormQuery(Space space, std::uint8_t opcode, std::uint16_t selector) {
        base_.space = space;
        base_.opcode = opcode;
        base_.selector = selector;
    }

    std::optional<Form> form() {
        auto answer = find_valid_encoding();
        if (!answer) return {};
        Form form = describe(*answer);
        if (!(form.attributes & attribute::kModrm)) {
            form.rm_high = form.reg_high = form.vvvv_high = 0xf;
            if (is_vex(base_.space) || is_evex(base_.space)) vvvv(form);
            return form;
        }
        high_bits(form);
        if (!is_legacy(base_.space)) vvvv(form);
        if (is_register())
            register_pairs(form);
        else if (names_register(*answer))
            form.constraints |= constraint::kAlwaysRegister;
        else
            memory(form);
        return form;
    }

  private:
    bool is_register() const { return bits(base_.selector, selector::kIsReg, 1); }
    unsigned reg() const { return bits(base_.selector, selector::kReg, 3); }
    unsigned rm() const { return bits(base_.selector, selector::kRm, 3); }

    /// Whether ModRM.rm is a register although ModRM.mod says memory.
    static bool names_register(const ZydisInstruction& answer) {
        const auto& o = answer.operands;
        return std::any_of(o.begin(), o.begin() + answer.instruction.operand_count, [](const auto& operand) {
            return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
        });
    }

    bool is_valid(const EncodingFields& fields) const { return decode_with_zydis(fields).has_value(); }

    // Each with_… returns a copy with one field changed, so that variations do not add up.
    static EncodingFields with_rm(EncodingFields fields, unsigned number) {
        fields.selector = static_cast<std::uint16_t>((fields.selector & ~7u) | number);
        return fields;
    }

    static EncodingFields with_vvvv(EncodingFields fields, unsigned number) {
        fields.vvvv = static_cast<std::uint8_t>(number);
        return fields;
    }

    /// Tries the plain encoding first. With memory it then tries another vvvv, and a SIB byte; with a register it tries
    /// other values of rm and vvvv. The new register numbers differ from reg, because some instructions need that.
    std::optional<ZydisInstruction> find_valid_encoding() {
        if (auto plain = decode_with_zydis(base_)) return plain;
        if (is_legacy(base_.space) && is_register()) return {};
        // Numbers from 1 to 3 exist in every register file, so a failure is never due to the number itself.
        const std::uint8_t apart = other_than(reg(), rm());
        if (!is_register()) {
            if (auto answer = decode_with_zydis(with_vvvv(base_, apart))) return keep(with_vvvv(base_, apart)), answer;
            EncodingFields sib = base_;
            sib.sib = true;
            // The index differs from reg, and is not 4, which would mean no index.
            sib.index = static_cast<std::uint8_t>((reg() + 5) & 7);
            if (sib.index == 4) sib.index = 6;
            for (const std::uint8_t v : {std::uint8_t{0}, apart})
                if (auto answer = decode_with_zydis(with_vvvv(sib, v))) return keep(with_vvvv(sib, v)), answer;
            return {};
        }
        if (is_legacy(base_.space)) return {};
        for (const unsigned m : {rm(), unsigned{other_than(reg(), apart)}}) {
            const EncodingFields fields = with_vvvv(with_rm(base_, m), other_than(reg(), m));
            if (auto answer = decode_with_zydis(fields)) return keep(fields), answer;
            if (auto answer = decode_with_zydis(with_vvvv(fields, 0))) return keep(with_vvvv(fields, 0)), answer;
        }
        return {};
    }

    void keep(const EncodingFields& fields) { base_ = fields; }

    /// Which values the high bits of reg and rm may have: bit N of a mask is for value N. Without EVEX there is only
    /// one high bit, so values 2 and 3 can't occur; their bits are set.
    void high_bits(Form& form) const {
        const std::uint8_t reg_values = is_evex(base_.space) ? 4 : 2;
        form.reg_high = is_evex(base_.space) ? 0 : 0xc;
        for (std::uint8_t n = 0; n < reg_values; ++n) {
            EncodingFields fields = base_;
            fields.reg_high = n;
            if (is_valid(fields)) form.reg_high |= static_cast<std::uint8_t>(1u << n);
        }
        if (!is_register()) return;
        const std::uint8_t rm_values = is_evex(base_.space) ? 4 : 2;
        form.rm_high = is_evex(base_.space) ? 0 : 0xc;
        for (std::uint8_t n = 0; n < rm_values; ++n) {
            EncodingFields fields = base_;
            fields.rm_high = n;
            if (is_valid(fields)) form.rm_high |= static_cast<std::uint8_t>(1u << n);
        }
    }

    /// Whether vvvv is an operand, and which values its high bits may have.
    void vvvv(Form& form) const {
        const bool used =
            is_valid(with_vvvv(base_, 1)) || is_valid(with_vvvv(base_, 2)) || is_valid(with_vvvv(base_, 3));
        if (!used) form.constraints |= constraint::kNoVvvv;
        // The low bits are those of a number that differs from the other registers, so that only the high bits decide.
        const unsigned low = used ? other_than(reg(), base_.sib ? base_.index : rm()) : 0;
        const unsigned values = is_evex(base_.space) ? 4 : 2;
        form.vvvv_high = is_evex(base_.space) ? 0 : 0xc;
        for (unsigned n = 0; n < values; ++n)
            if (is_valid(with_vvvv(base_, n << 3 | low))) form.vvvv_high |= static_cast<std::uint8_t>(1u << n);
    }

    /// Which of reg, rm and vvvv must differ.
    void register_pairs(Form& form) const {
        if (is_legacy(base_.space)) return;
        const bool free_vvvv = !(form.constraints & constraint::kNoVvvv);
        const unsigned v = free_vvvv ? other_than(reg(), rm()) : 0;
        const bool apart_is_valid = is_valid(with_vvvv(base_, v));
        if (apart_is_valid && rm() != reg() && !is_valid(with_vvvv(with_rm(base_, reg()), v)))
            form.constraints |= constraint::kRegNotRm;
        if (!free_vvvv) return;
        const unsigned m = other_than(reg(), v);
        const EncodingFields apart = with_vvvv(with_rm(base_, m), v);
        if (!is_valid(apart)) return;
        if (!is_valid(with_vvvv(with_rm(base_, reg()), v))) form.constraints |= constraint::kRegNotRm;
        if (!is_valid(with_vvvv(apart, reg()))) form.constraints |= constraint::kRegNotVvvv;
        if (!is_valid(with_vvvv(apart, m))) form.constraints |= constraint::kRmNotVvvv;
    }

    /// Whether a memory operand needs a SIB byte, and whether it may be rip-relative.
    void memory(Form& form) const {
        if (base_.sib) {
            form.attributes |= attribute::kNeedsSib;
        } else {
            EncodingFields rip = base_;
            rip.rip = true;
            if (!is_valid(rip)) form.attributes |= attribute::kNoRip;
        }
        if (!is_legacy(base_.space)) memory_pairs(form);
    }

    /// Which of reg, vvvv and a vector index must differ.
    void memory_pairs(Form& form) const {
        const bool free_vvvv = !(form.constraints & constraint::kNoVvvv);
        EncodingFields fields = base_;
        if (free_vvvv) fields.vvvv = other_than(reg(), base_.index);
        if (form.attributes & attribute::kVectorIndex) {
            EncodingFields same = fields;
            same.index = static_cast<std::uint8_t>(reg());
            if (!is_valid(same)) form.constraints |= constraint::kRegNotIndex;
            same.index = static_cast<std::uint8_t>(fields.vvvv);
            if (free_vvvv && !is_valid(same)) form.constraints |= constraint::kVvvvNotIndex;
        }
        if (free_vvvv && !is_valid(with_vvvv(fields, reg()))) form.constraints |= constraint::kRegNotVvvv;
    }

    EncodingFields base_;
};

/// Whether LOCK is allowed if the operand is in memory.
bool lockable(const Form& form, Space space, std::uint8_t opcode, std::uint16_t selector) {
    if (!is_legacy(space) || !(form.attributes & attribute::kModrm)) return false;
    EncodingFields fields;
    fields.space = space;
    fields.opcode = opcode;
    fields.selector = selector;
    fields.lock = true;
    return decode_with_zydis(fields).has_value();
}

/// Whether the decoder has anything to check; most instructions have no constraint.
bool is_constrained(const Form& form) {
    constexpr std::uint32_t shapes = attribute::kVectorIndex | attribute::kNeedsSib | attribute::kNoRip;
    return form.reg_high != 0xf || form.rm_high != 0xf || form.vvvv_high != 0xf || form.constraints ||
           form.attributes & shapes;
}

}  // namespace

std::optional<Form> form_of(Space space, std::uint8_t opcode, std::uint16_t selector) {
    auto form = FormQuery{space, opcode, selector}.form();
    if (!form) return {};
    if (lockable(*form, space, opcode, selector)) form->attributes |= attribute::kLockable;
    if (is_constrained(*form)) form->attributes |= attribute::kConstrained;
    return form;
}

// Most instructions take memory or a register in ModRM.rm. One form for both halves the tables, and saves the decoder
// a node and so a branch.
std::optional<Form> merged(const Form& with_memory, const Form& with_register) {
    Form form = with_memory;
    form.attributes = (with_memory.attributes & attribute::kOfMemory) | with_register.attributes;
    form.rm_role = with_register.rm_role;
    // What the model of cycles knows may differ a little (movss from memory clears the rest of its register): both then
    // have what holds for registers.
    form.vector_roles = with_register.vector_roles;
    form.timing = with_register.timing;
    Form memory_alone = form;
    memory_alone.rm_role = with_memory.rm_role;
    memory_alone.vector_roles = with_memory.vector_roles;
    memory_alone.timing = with_memory.timing;
    Form register_alone = form;
    register_alone.operand_bytes = with_register.operand_bytes;
    register_alone.attributes &= ~attribute::kOfMemory;
    if (memory_alone != with_memory || register_alone != with_register) return {};
    return form;
}

}  // namespace anyperf::engine::x86_64::generate
