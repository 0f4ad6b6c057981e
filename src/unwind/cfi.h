// cfi.h: the call frame information of an ELF file (.eh_frame, .debug_frame; DWARF 5, 6.4), compiled once into rows
// that are sorted by address. A row says how the caller of its addresses is found. Rows follow rsp, rbp and the return
// address only: compilers find frames by no other register, except by an expression.
//
// Unwinding without frame pointers
//
// The problem: optimised code uses rbp as any other register, so a stack is not a list of frames. Where the return
// address is depends on the instruction: after a push it is 8 bytes farther from rsp. Compilers write down this
// dependency for exceptions. For each function (an FDE, frame description entry) there is a small program whose
// instructions say "from this address on the CFA is rsp + 16" or "rbp is saved at CFA - 16". The CFA, canonical frame
// address, is rsp before the call; the return address is at CFA - 8 (System V ABI, AMD64 supplement, 3.7). What several
// functions have in common is in a CIE, common information entry.
//
// The simple way, to run the program of the function at each frame of each sample, was rejected: it takes a search for
// the FDE and up to a hundred instructions for each of up to 127 frames. Here every program is run once, and each
// address at which a rule changes becomes a row. A frame then costs a binary search.
//
// Details that follow:
// - A row ends where the next begins. So the end of each function is a row, too, with Cfa::none, unless the next
//   function begins there.
// - CFA rules with an expression keep a number into a list of expressions; expression.h evaluates them at each frame.
// - .eh_frame and .debug_frame differ in how an FDE refers to its CIE (a distance backwards, or an offset), in the id
//   that marks a CIE (0, or ~0), and in pointers relative to their own place, which only .eh_frame has (Linux Standard
//   Base 10.6).
//
// What it can't do: other machines than x86-64, compressed sections, rules by a register other than rsp and rbp. Frames
// with such a rule end the stack.
#pragma once

#include <cstdint>
#include <vector>

#include "symbols/elf_image.h"

namespace anyperf::unwind {

/// The rules from one address on, in 24 bytes: a large library has some hundred thousand rows.
struct UnwindRow {
    enum class Cfa : std::uint8_t {
        none,        ///< no information
        rsp,         ///< rsp + offset
        rbp,         ///< rbp + offset
        expression,  ///< the value of UnwindTable::expression(cfa_offset)
        outermost,   ///< the return address is undefined: no caller
        unknown,     ///< by a register that is not followed
    };
    enum class Rbp : std::uint8_t {
        same,        ///< the caller's rbp is rbp
        saved,       ///< it is in memory at CFA + rbp_offset,
        expression,  ///< or at the value of UnwindTable::expression(rbp_offset)
    };

    std::uint64_t address = 0;  ///< the first one; the row ends where the next begins
    std::int32_t cfa_offset = 0;
    std::int32_t rbp_offset = 0;
    Cfa cfa = Cfa::none;
    Rbp rbp = Rbp::same;
    bool signal = false;  ///< the frame of a signal: its caller was interrupted at the instruction itself
};

/// All rows of a file. Immutable once it is made.
class UnwindTable {
  public:
    UnwindTable() = default;

    /// Compiles the sections of `image`, which must live as long as the table. Empty if the file is not of x86-64.
    explicit UnwindTable(const symbols::ElfImage& image);

    /// The row of an address of the ELF file, or null.
    const UnwindRow* find(std::uint64_t address) const;

    /// A DWARF expression by the number that a row has. It is a view of the image.
    symbols::Bytes expression(std::int32_t number) const { return expressions_[static_cast<std::size_t>(number)]; }
    const std::vector<UnwindRow>& rows() const { return rows_; }

  private:
    friend class SectionCompiler;

    void sort_rows();

    std::vector<UnwindRow> rows_;
    std::vector<symbols::Bytes> expressions_;
};

}  // namespace anyperf::unwind
