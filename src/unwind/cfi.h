// cfi.h: the call frame information of an ELF file (.eh_frame, .debug_frame; DWARF 5, 6.4), compiled once into rows
// that are sorted by address. A row says how the caller of its addresses is found. Rows follow rsp, rbp and the return
// address only: compilers find frames by no other register, except by an expression.
#pragma once

#include <cstdint>
#include <vector>

#include "symbols/elf_image.h"

namespace anyperf::unwind {

struct UnwindRow {
    enum class Cfa : std::uint8_t {
        none,        ///< no information
        rsp,         ///< rsp + offset
        rbp,         ///< rbp + offset
        expression,  ///< the value of UnwindTable::expression(cfa)
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

class UnwindTable {
  public:
    UnwindTable() = default;

    /// Compiles the sections of `image`, which must live as long as the table. Empty if the file is not of x86-64.
    explicit UnwindTable(const symbols::ElfImage& image);

    /// The row of an address of the ELF file, or null.
    const UnwindRow* find(std::uint64_t address) const;

    symbols::Bytes expression(std::int32_t number) const { return expressions_[static_cast<std::size_t>(number)]; }
    const std::vector<UnwindRow>& rows() const { return rows_; }

  private:
    friend class SectionCompiler;

    void sort_rows();

    std::vector<UnwindRow> rows_;
    std::vector<symbols::Bytes> expressions_;
};

}  // namespace anyperf::unwind
