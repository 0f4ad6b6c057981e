// expression.cpp: a stack machine with 16 places. Three facts bound the work: there are no branches, so each byte is
// executed at most once; the stack has a fixed size, and a push beyond it makes the result invalid; memory is the
// copied stack. So an expression of a hostile file costs at most its own length.
//
// Arithmetic is modulo 2^64, as addresses are on the machine. The common expression is that of a PLT stub:
//     breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus
// It means rsp + 8, plus 8 more if rip is in the last 5 of the stub's 16 bytes, which is after its push instruction.
#include "unwind/expression.h"

#include <array>
#include <cstring>

#include "unwind/cfi_cursor.h"

namespace anyperf::unwind {

namespace {

// DWARF 5, table 7.9.
enum Operation : std::uint8_t {
    kDeref = 0x06,
    kConst1u = 0x08,
    kConst1s = 0x09,
    kConst2u = 0x0a,
    kConst2s = 0x0b,
    kConst4u = 0x0c,
    kConst4s = 0x0d,
    kConst8u = 0x0e,
    kConst8s = 0x0f,
    kConstu = 0x10,
    kConsts = 0x11,
    kDup = 0x12,
    kDrop = 0x13,
    kOver = 0x14,
    kSwap = 0x16,
    kAnd = 0x1a,
    kMinus = 0x1c,
    kOr = 0x21,
    kPlus = 0x22,
    kPlusUconst = 0x23,
    kShl = 0x24,
    kShr = 0x25,
    kEq = 0x29,
    kGe = 0x2a,
    kGt = 0x2b,
    kLe = 0x2c,
    kLt = 0x2d,
    kNe = 0x2e,
    kLit0 = 0x30,
    kBreg0 = 0x70,
};
constexpr std::uint8_t kSmallOperands = 32;  // of kLit0 and kBreg0

// System V ABI, AMD64 supplement, figure 3.36.
enum DwarfRegister : std::uint8_t { kRbp = 6, kRsp = 7, kRip = 16 };

/// One evaluation. After the first impossible step `valid_` is false, and what is computed no longer matters.
class Machine {
  public:
    Machine(symbols::Bytes expression, const Registers& registers, const StackCopy& stack)
        : cursor_(expression), registers_(registers), memory_(stack) {}

    void push(std::uint64_t value) {
        if (size_ == stack_.size())
            valid_ = false;
        else
            stack_[size_++] = value;
    }

    // The result is the top of the stack; what is left below it does not matter (DWARF 5, 2.5).
    std::optional<std::uint64_t> run() {
        while (valid_ && !cursor_.at_end()) step(cursor_.read<std::uint8_t>());
        if (!valid_ || cursor_.failed() || size_ == 0) return {};
        return stack_[size_ - 1];
    }

  private:
    // An empty stack gives 0 and makes the result invalid.
    std::uint64_t pop() {
        if (size_ == 0) {
            valid_ = false;
            return 0;
        }
        return stack_[--size_];
    }

    void step(std::uint8_t operation) {
        if (operation >= kLit0 && operation < kLit0 + kSmallOperands) return push(operation - kLit0);
        if (operation >= kBreg0 && operation < kBreg0 + kSmallOperands) return push_register(operation - kBreg0);
        if (push_constant(operation) || move(operation)) return;
        const std::uint64_t right = pop(), left = pop();
        push(combine(operation, left, right));
    }

    // The value of a register plus a signed offset. Other registers are in the sample but are not followed from frame
    // to frame, so their values would be those of the innermost frame.
    void push_register(unsigned number) {
        const auto offset = static_cast<std::uint64_t>(cursor_.signed_leb());
        switch (number) {
            case kRbp: return push(registers_.rbp + offset);
            case kRsp: return push(registers_.rsp + offset);
            case kRip: return push(registers_.rip + offset);
            default: valid_ = false;
        }
    }

    bool push_constant(std::uint8_t operation) {
        const auto extended = [](auto number) { return static_cast<std::uint64_t>(std::int64_t{number}); };
        switch (operation) {
            case kConst1u: push(cursor_.read<std::uint8_t>()); return true;
            case kConst1s: push(extended(cursor_.read<std::int8_t>())); return true;
            case kConst2u: push(cursor_.read<std::uint16_t>()); return true;
            case kConst2s: push(extended(cursor_.read<std::int16_t>())); return true;
            case kConst4u: push(cursor_.read<std::uint32_t>()); return true;
            case kConst4s: push(extended(cursor_.read<std::int32_t>())); return true;
            case kConst8u:
            case kConst8s: push(cursor_.read<std::uint64_t>()); return true;
            case kConstu: push(cursor_.unsigned_leb()); return true;
            case kConsts: push(extended(cursor_.signed_leb())); return true;
            default: return false;
        }
    }

    /// Operations of one operand, and those that rearrange the stack.
    bool move(std::uint8_t operation) {
        switch (operation) {
            case kDeref: dereference(); return true;
            case kPlusUconst: push(pop() + cursor_.unsigned_leb()); return true;
            case kDrop: pop(); return true;
            case kDup: {
                const std::uint64_t top = pop();
                push(top);
                push(top);
                return true;
            }
            case kSwap:
            case kOver: {
                const std::uint64_t top = pop(), below = pop();
                push(operation == kSwap ? top : below);
                push(operation == kSwap ? below : top);
                if (operation == kOver) push(below);
                return true;
            }
            default: return false;
        }
    }

    /// Reads a word of the copied stack. An address outside of it, such as a global variable's, is not in the sample.
    void dereference() {
        const auto word = memory_.word(pop());
        valid_ = valid_ && word.has_value();
        push(word.value_or(0));
    }

    /// Operations of two operands. Comparisons are signed (DWARF 5, 2.5.1.5). A shift by 64 or more would be undefined
    /// in C++; it is 0 here, as if bits were shifted out one after the other.
    std::uint64_t combine(std::uint8_t operation, std::uint64_t left, std::uint64_t right) {
        const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
        switch (operation) {
            case kAnd: return left & right;
            case kOr: return left | right;
            case kPlus: return left + right;
            case kMinus: return left - right;
            case kShl: return right < 64 ? left << right : 0;
            case kShr: return right < 64 ? left >> right : 0;
            case kEq: return a == b ? 1 : 0;
            case kNe: return a != b ? 1 : 0;
            case kGe: return a >= b ? 1 : 0;
            case kGt: return a > b ? 1 : 0;
            case kLe: return a <= b ? 1 : 0;
            case kLt: return a < b ? 1 : 0;
            default: valid_ = false; return 0;
        }
    }

    CfiCursor cursor_;
    const Registers& registers_;
    const StackCopy& memory_;
    std::array<std::uint64_t, 16> stack_{};
    std::size_t size_ = 0;
    bool valid_ = true;
};

}  // namespace

// An address below the copy gives an offset that wraps to a huge number, so one comparison checks both ends.
std::optional<std::uint64_t> StackCopy::word(std::uint64_t at) const {
    const std::uint64_t offset = at - address;
    if (offset > bytes.size() || bytes.size() - offset < sizeof(std::uint64_t)) return {};
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::optional<std::uint64_t> evaluate(symbols::Bytes expression, const Registers& registers, const StackCopy& stack,
                                      std::optional<std::uint64_t> first) {
    Machine machine{expression, registers, stack};
    if (first) machine.push(*first);
    return machine.run();
}

}  // namespace anyperf::unwind
