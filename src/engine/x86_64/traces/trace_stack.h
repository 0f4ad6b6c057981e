// trace_stack.h: which returns in a trace certainly lead to where the trace's own call came from.
//
// A return pops what the call in the trace has pushed, unless an instruction between them has changed that word or
// rsp. Instructions that write to memory only by push, or relative to rsp or to an rbp that was set from it, can't have
// changed the word. All others can, as far as is known here.
//
// Other threads. Another thread may write to the word. A return that takes the call's own value all the same is one
// that the CPU allows, too: its load may be answered by the store that is still in its buffer (SDM volume 3, 8.2.3.5
// "Intra-Processor Forwarding Is Allowed"). Atomic instructions and fences empty that buffer, so none may be between
// the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

/// The stack of a trace, followed from instruction to instruction. Places are distances from where rsp was at first.
class TraceStack {
  public:
    /// Follows the next instruction, whose bytes are at `code`. True if it is a return that certainly leads to where
    /// its call in the trace came from.
    bool follow(const Instruction& instruction, const std::uint8_t* code);

  private:
    struct Call {
        std::int64_t place;  ///< of its return address
        bool unchanged;
    };

    void push();
    void call();
    bool return_from_call(std::int64_t popped);
    void store(std::int64_t place, std::int64_t bytes);
    void follow_operand_store(const Instruction& instruction, const std::uint8_t* code);
    bool pushes_or_pops(const Instruction& instruction, const std::uint8_t* code);
    bool sets_stack(const Instruction& instruction, const std::uint8_t* code);
    bool moves_stack(const Instruction& instruction, const std::uint8_t* code);
    void lose();

    std::int64_t rsp_ = 0;
    std::int64_t rbp_ = 0;
    bool knows_rbp_ = false;
    std::array<Call, 24> calls_;  ///< that have not returned; the first ones, if there are more
    std::size_t depth_ = 0;
};

}  // namespace anyperf::engine::x86_64
