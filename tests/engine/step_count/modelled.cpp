#include "step_count/modelled.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <ios>

#include "step_count/classify.h"

namespace anyperf::step_count {

namespace {

struct Decoded {
    ZydisDecodedInstruction instruction{};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
    bool valid = false;

    [[nodiscard]] std::span<const ZydisDecodedOperand> all() const {
        return {operands.data(), instruction.operand_count};
    }
};

Decoded decode(std::span<const std::uint8_t> bytes) {
    static const ZydisDecoder decoder = [] {
        ZydisDecoder fresh;
        ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return fresh;
    }();
    Decoded decoded;
    decoded.valid = ZYAN_SUCCESS(
        ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &decoded.instruction, decoded.operands.data()));
    return decoded;
}

std::uint64_t value_of(ZydisRegister name, const user_regs_struct& r) {
    switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name)) {
        case ZYDIS_REGISTER_RAX: return name == ZYDIS_REGISTER_AL ? r.rax & 0xff : r.rax;
        case ZYDIS_REGISTER_RCX: return r.rcx;
        case ZYDIS_REGISTER_RDX: return r.rdx;
        case ZYDIS_REGISTER_RBX: return r.rbx;
        case ZYDIS_REGISTER_RSP: return r.rsp;
        case ZYDIS_REGISTER_RBP: return r.rbp;
        case ZYDIS_REGISTER_RSI: return r.rsi;
        case ZYDIS_REGISTER_RDI: return r.rdi;
        case ZYDIS_REGISTER_R8: return r.r8;
        case ZYDIS_REGISTER_R9: return r.r9;
        case ZYDIS_REGISTER_R10: return r.r10;
        case ZYDIS_REGISTER_R11: return r.r11;
        case ZYDIS_REGISTER_R12: return r.r12;
        case ZYDIS_REGISTER_R13: return r.r13;
        case ZYDIS_REGISTER_R14: return r.r14;
        case ZYDIS_REGISTER_R15: return r.r15;
        default: return 0;
    }
}

/// The address of a memory operand. A push stores below rsp, and pop moves rsp before it computes the address of its
/// operand (SDM volume 2, PUSH and POP).
std::uint64_t address_of(const ZydisDecodedInstruction& i, const ZydisDecodedOperand& o, const user_regs_struct& r) {
    const bool hidden = o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    std::uint64_t address = static_cast<std::uint64_t>(o.mem.disp.value);
    if (o.mem.base == ZYDIS_REGISTER_RIP || o.mem.base == ZYDIS_REGISTER_EIP)
        address += r.rip + i.length;
    else
        address += value_of(o.mem.base, r);
    address += value_of(o.mem.index, r) * std::max<std::uint64_t>(o.mem.scale, 1);
    const bool stores = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (hidden && o.mem.base == ZYDIS_REGISTER_RSP && stores) address = r.rsp - o.size / 8;
    if (i.mnemonic == ZYDIS_MNEMONIC_LEAVE) address = r.rbp;
    if (i.mnemonic == ZYDIS_MNEMONIC_POP && !hidden && o.mem.base == ZYDIS_REGISTER_RSP) address += i.operand_width / 8;
    if (i.address_width == 32) address &= 0xffffffff;
    if (o.mem.segment == ZYDIS_REGISTER_FS) address += r.fs_base;
    if (o.mem.segment == ZYDIS_REGISTER_GS) address += r.gs_base;
    return address;
}

}  // namespace

Modelled::One::One(const models::Preset& preset)
    : name(preset.name),
      caches(std::make_unique<models::testing::PlainMachine>(preset.machine, 1)),
      memory(models::Branches::words(preset.machine.branches)),
      branch_counts(std::make_unique<models::Counts>()),
      branches(std::make_unique<models::Branches>(preset.machine.branches, *branch_counts, memory.data())) {}

Modelled::Modelled() {
    for (const models::Preset& preset : models::presets()) machines_.emplace_back(preset);
}

std::vector<Modelled::Access> Modelled::accesses_of(const Step& step) {
    constexpr unsigned kSmallestSaveArea = 576;
    const Decoded decoded = decode(step.bytes);
    std::vector<Access> accesses;
    if (!decoded.valid || !step.accesses) return accesses;
    for (const ZydisDecodedOperand& o : decoded.all()) {
        if (o.type != ZYDIS_OPERAND_TYPE_MEMORY || is_address_only(decoded.instruction, o)) continue;
        if (o.mem.type == ZYDIS_MEMOP_TYPE_VSIB) continue;  // gathers and scatters are not modelled
        const bool reads = (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        const bool writes = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        const auto kind = !writes ? models::Access::load : reads ? models::Access::modify : models::Access::store;
        accesses.push_back(
            {address_of(decoded.instruction, o, step.before), o.size != 0 ? o.size / 8u : kSmallestSaveArea, kind});
    }
    // What is only written comes after what is read.
    std::ranges::stable_partition(accesses, [](const Access& one) { return one.kind != models::Access::store; });
    return accesses;
}

/// Whether the instruction may be repeated by REP.
bool Modelled::is_string(const Step& step) {
    const Decoded decoded = decode(step.bytes);
    return decoded.valid && decoded.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/// Feeds the predictors with the branch that the step may be. Whether it was mispredicted.
bool Modelled::branch(const Step& step, models::Branches& branches) {
    const Decoded decoded = decode(step.bytes);
    if (!decoded.valid || decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return false;
    const std::uint64_t end = step.before.rip + decoded.instruction.length;
    const bool direct = decoded.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (decoded.instruction.meta.category) {
        case ZYDIS_CATEGORY_COND_BR:
            // One that leads to the next instruction counts as not taken.
            return branches.conditional(step.before.rip, step.next, step.taken && step.next != end);
        case ZYDIS_CATEGORY_CALL:
            if (!direct) return branches.indirect_call(step.before.rip, step.next, end);
            branches.call(end);
            return false;
        case ZYDIS_CATEGORY_RET:  // also far ones and iret
            return decoded.instruction.mnemonic == ZYDIS_MNEMONIC_RET && branches.ret(step.next);
        case ZYDIS_CATEGORY_UNCOND_BR:
            return decoded.instruction.mnemonic == ZYDIS_MNEMONIC_JMP && !direct &&
                   branches.indirect_jump(step.before.rip, step.next);
        default: return false;
    }
}

bool Modelled::is_taken(const Step& step) {
    const Decoded decoded = decode(step.bytes);
    if (!decoded.valid || decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return false;
    if (step.next == step.before.rip + decoded.instruction.length) return false;
    switch (decoded.instruction.meta.category) {
        case ZYDIS_CATEGORY_COND_BR:
        case ZYDIS_CATEGORY_CALL:
        case ZYDIS_CATEGORY_UNCOND_BR: return true;
        case ZYDIS_CATEGORY_RET: return decoded.instruction.mnemonic == ZYDIS_MNEMONIC_RET;
        default: return false;
    }
}

void Modelled::retire(const Step& step) {
    const std::vector<Access> accesses = accesses_of(step);
    const auto length = static_cast<unsigned>(step.bytes.size());
    constexpr auto kPage = models::PageSize::small;
    for (One& one : machines_) {
        if (step.is_first) one.caches->fetch(0, step.before.rip, length, kPage);
        for (const Access& access : accesses) {
            const models::AccessFacts facts =
                one.caches->access(0, step.before.rip, access.address, access.bytes, access.kind, kPage);
            if (list_ == nullptr || one.name != listed_ || is_string(step)) continue;
            *list_ << std::hex << step.before.rip << ' ' << access.address << std::dec
                   << (access.kind == models::Access::store ? " s " : " l ") << static_cast<unsigned>(facts.source)
                   << ' ' << unsigned{facts.tlb_misses} << ' ' << unsigned{facts.page_walks} << '\n';
        }
        const bool mispredicted = branch(step, *one.branches);
        if (branch_list_ == nullptr || one.name != branches_listed_ || !is_taken(step)) continue;
        *branch_list_ << std::hex << step.before.rip << ' ' << step.next << ' ' << mispredicted << '\n';
    }
}

std::vector<Modelled::Total> Modelled::totals() const {
    std::vector<Total> totals;
    for (const One& one : machines_) {
        Total total{one.name, one.caches->counts(0)};
        for (std::size_t i = 0; i < models::kQuantities; ++i) total.counts.values[i] += one.branch_counts->values[i];
        totals.push_back(std::move(total));
    }
    return totals;
}

}  // namespace anyperf::step_count
