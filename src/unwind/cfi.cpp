// cfi.cpp: the compiler from call frame information to rows. cfi.h explains why it exists; this is how it reads a
// section.
//
// A section is a list of entries, each either a CIE or an FDE. An FDE names its CIE by place, so CIEs are read when the
// first FDE asks for them and kept by their offset. A CIE's own instructions leave the rules that hold at the first
// address of each of its functions; the FDE's instructions change a copy of them.
//
// The instructions are an encoding with two parts. In the three frequent ones the two high bits are the opcode and the
// low six bits an operand (advance_loc, offset, restore). In all others the high bits are 0 and the operands follow.
// There is no length field, so an unknown instruction ends the entry: nothing after it can be found. The rows before it
// are valid.
//
// Everything is bounded by the section: CfiCursor reads zeros after its end, lengths of entries are compared with what
// is left, and each instruction takes at least one byte.
#include "unwind/cfi.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "unwind/cfi_cursor.h"

namespace anyperf::unwind {

namespace {

using Cfa = UnwindRow::Cfa;
using Rbp = UnwindRow::Rbp;

// A CIE has some 20 bytes. The bound keeps a hostile file, in which each FDE has a CIE of its own, from taking hours.
constexpr std::size_t kLongestCie = 1024;
// How deep remember_state may nest; the tables of libc, libstdc++ and cc1plus need one level. A deeper one is not
// remembered, and its restore_state then restores the level before.
constexpr std::size_t kMostRemembered = 16;

// Pointer encodings (Linux Standard Base, 10.5.1).
enum Encoding : std::uint8_t {
    kAbsolute = 0x00,
    kUdata2 = 0x02,
    kUdata4 = 0x03,
    kUdata8 = 0x04,
    kSdata2 = 0x0a,
    kSdata4 = 0x0b,
    kSdata8 = 0x0c,
    kFormatMask = 0x0f,
    kPcRelative = 0x10,
    kBaseMask = 0x70,
};

// Call frame instructions (DWARF 5, table 7.29).
enum Instruction : std::uint8_t {
    kNop = 0x00,
    kSetLoc = 0x01,
    kAdvanceLoc1 = 0x02,
    kAdvanceLoc2 = 0x03,
    kAdvanceLoc4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefined = 0x07,
    kSameValue = 0x08,
    kRegister = 0x09,
    kRememberState = 0x0a,
    kRestoreState = 0x0b,
    kDefCfa = 0x0c,
    kDefCfaRegister = 0x0d,
    kDefCfaOffset = 0x0e,
    kDefCfaExpression = 0x0f,
    kExpression = 0x10,
    kOffsetExtendedSf = 0x11,
    kDefCfaSf = 0x12,
    kDefCfaOffsetSf = 0x13,
    kValOffset = 0x14,
    kValOffsetSf = 0x15,
    kValExpression = 0x16,
    kGnuArgsSize = 0x2e,
    // With an operand in the low six bits:
    kAdvanceLoc = 0x40,
    kOffset = 0x80,
    kRestore = 0xc0,
};

constexpr std::uint64_t kDwarfRbp = 6, kDwarfRsp = 7;

/// The rules of a row while instructions change them.
struct Rules {
    Cfa cfa = Cfa::rsp;
    std::int32_t cfa_offset = 8;
    Rbp rbp = Rbp::same;
    std::int32_t rbp_offset = 0;
    bool outermost = false;
};

/// A common information entry, and the rules that its instructions leave.
struct Cie {
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint64_t return_register = 16;
    std::uint8_t encoding = kAbsolute;
    bool signal = false;
    bool augmented = false;  // an FDE has augmentation data, too
    Rules rules;
};

/// Offsets of a frame are small. One beyond 32 bits is damage; it becomes some other number, and the frame it leads to
/// is not in the copied stack.
std::int32_t narrow(std::uint64_t value) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

}  // namespace

/// Compiles one section.
class SectionCompiler {
  public:
    SectionCompiler(symbols::Bytes bytes, std::uint64_t address, bool eh_frame, UnwindTable& table)
        : bytes_(bytes), address_(address), eh_frame_(eh_frame), table_(table) {}

    /// Adds the rows of all FDEs. Entries are {u32 length, u32 id, …}. An impossible length ends the section, since the
    /// next entry cannot be found; damage inside of an entry costs that entry only.
    void compile() {
        CfiCursor cursor{bytes_};
        while (!cursor.at_end()) {
            const auto length = cursor.read<std::uint32_t>();
            // 0 ends .eh_frame; the 64-bit format is not used for x86-64.
            if (length < 4 || length >= 0xffff'fff0) return;
            const std::size_t begin = cursor.position();
            if (cursor.take(length).empty()) return;
            CfiCursor entry{bytes_.first(begin + length), begin};
            const auto id = entry.read<std::uint32_t>();
            // The entry is a CIE. It is read when an FDE refers to it.
            if (id == (eh_frame_ ? 0 : 0xffff'ffff)) continue;
            // In .eh_frame the id of an FDE is the distance back from the id field to the CIE; in .debug_frame it is
            // the CIE's offset in the section. A distance that leads before the section wraps around, and read_cie()
            // refuses it.
            const std::uint64_t cie = eh_frame_ ? begin - id : id;
            if (const Cie* known = cie_at(cie)) compile_fde(entry, *known);
        }
    }

  private:
    /// The CIE at an offset of the section; null if it is damaged or of a kind that x86-64 does not have.
    const Cie* cie_at(std::uint64_t offset) {
        const auto [at, fresh] = cies_.try_emplace(offset);
        if (fresh) at->second = read_cie(offset);
        return at->second ? &*at->second : nullptr;
    }

    /// DWARF 5, 6.4.1. The augmentation is a text of letters, each of which announces data; in .eh_frame "zR" is usual,
    /// where 'z' gives the length of the data. Without 'z' the letters are ignored; in .debug_frame there are none.
    std::optional<Cie> read_cie(std::uint64_t offset) {
        if (offset >= bytes_.size()) return {};
        CfiCursor length_cursor{bytes_, offset};
        const auto length = length_cursor.read<std::uint32_t>();
        const std::size_t begin = length_cursor.position();
        if (length > kLongestCie || length > bytes_.size() - begin) return {};
        CfiCursor cursor{bytes_.first(begin + length), begin};
        cursor.read<std::uint32_t>();  // the id
        const auto version = cursor.read<std::uint8_t>();
        std::string augmentation;
        while (const auto letter = cursor.read<std::uint8_t>()) augmentation += static_cast<char>(letter);
        if (version >= 4) cursor.take(2);  // sizes of addresses and segments
        Cie cie;
        cie.code_factor = cursor.unsigned_leb();
        cie.data_factor = cursor.signed_leb();
        cie.return_register = version == 1 ? cursor.read<std::uint8_t>() : cursor.unsigned_leb();
        if (augmentation.starts_with('z') && !read_augmentation(cursor, augmentation.substr(1), cie)) return {};
        if (cursor.failed()) return {};
        // A CIE has no address of its own, so `emit` is false. Rules that its instructions leave include the usual "CFA
        // is rsp + 8".
        std::uint64_t unused = 0;
        run(cursor, cie, cie.rules, unused, false);
        return cie;
    }

    /// 'R': the encoding of addresses in FDEs. 'P' and 'L': the personality and where its data are, for exceptions;
    /// they are read to be skipped. 'S': the frame of a signal (Linux Standard Base 10.6.1.1.1; 'S' is GCC's).
    bool read_augmentation(CfiCursor& cursor, std::string_view letters, Cie& cie) const {
        cie.augmented = true;
        const std::uint64_t size = cursor.unsigned_leb();
        const std::size_t begin = cursor.position();
        if (cursor.take(size).empty() && size > 0) return false;
        CfiCursor data{bytes_.first(begin + size), begin};
        for (const char letter : letters) {
            if (letter == 'R') cie.encoding = data.read<std::uint8_t>();
            if (letter == 'P') pointer(data, data.read<std::uint8_t>());
            if (letter == 'L') data.read<std::uint8_t>();
            if (letter == 'S') cie.signal = true;
        }
        return !data.failed();
    }

    /// A pointer in one of the encodings of the Linux Standard Base, 10.5.1: a format, and what it is relative to. Of
    /// the bases only pc-relative occurs in tables of x86-64.
    std::uint64_t pointer(CfiCursor& cursor, std::uint8_t encoding) const {
        const std::uint64_t place = address_ + cursor.position();
        const auto extended = [](auto number) { return static_cast<std::uint64_t>(std::int64_t{number}); };
        std::uint64_t value = 0;
        switch (encoding & kFormatMask) {
            case kUdata2: value = cursor.read<std::uint16_t>(); break;
            case kUdata4: value = cursor.read<std::uint32_t>(); break;
            case kSdata2: value = extended(cursor.read<std::int16_t>()); break;
            case kSdata4: value = extended(cursor.read<std::int32_t>()); break;
            case kAbsolute:
            case kUdata8:
            case kSdata8: value = cursor.read<std::uint64_t>(); break;
            default: value = cursor.unsigned_leb();
        }
        return (encoding & kBaseMask) == kPcRelative ? value + place : value;
    }

    /// An FDE: the range of addresses, then instructions that start from the CIE's rules.
    void compile_fde(CfiCursor& cursor, const Cie& cie) {
        const std::uint64_t begin = pointer(cursor, cie.encoding);
        // The size has the format of the address, but is not relative to anything.
        const std::uint64_t size = pointer(cursor, cie.encoding & kFormatMask);
        if (cie.augmented) cursor.take(cursor.unsigned_leb());
        // Address 0: the linker has dropped the function.
        if (cursor.failed() || begin == 0 || size == 0 || size > ~begin) return;
        Rules rules = cie.rules;
        std::uint64_t address = begin;
        begin_ = begin;
        end_ = begin + size;
        run(cursor, cie, rules, address, true);
        add_row(address, rules, cie.signal);
        // The end of the function: a row without rules (Cfa::none), which sort_rows() drops if the next function begins
        // there.
        table_.rows_.push_back({.address = begin + size});
    }

    /// Rows outside of the FDE's range are of damaged entries, and would hide those of other functions.
    void add_row(std::uint64_t address, const Rules& rules, bool signal) {
        if (address < begin_ || address >= end_) return;
        table_.rows_.push_back({.address = address,
                                .cfa_offset = rules.cfa_offset,
                                .rbp_offset = rules.rbp_offset,
                                .cfa = rules.outermost ? Cfa::outermost : rules.cfa,
                                .rbp = rules.rbp,
                                .signal = signal});
    }

    std::int32_t add_expression(symbols::Bytes expression) {
        table_.expressions_.push_back(expression);
        return static_cast<std::int32_t>(table_.expressions_.size() - 1);
    }

    /// Runs instructions to the end of the entry, or to one that is unknown. With `emit` each change of the address
    /// ends a row; a CIE has no addresses.
    void run(CfiCursor& cursor, const Cie& cie, Rules& rules, std::uint64_t& address, bool emit) {
        std::vector<Rules> remembered;
        // The rules before an advance hold up to the new address, so the row is added with the old one. GCC's code
        // factor on x86-64 is 1, since instructions have any length.
        const auto advance = [&](std::uint64_t steps) {
            if (emit) add_row(address, rules, cie.signal);
            address += steps * cie.code_factor;
        };
        while (!cursor.at_end() && !cursor.failed()) {
            const auto code = cursor.read<std::uint8_t>();
            const std::uint64_t low = code & 0x3f;
            switch (code & 0xc0) {
                case kAdvanceLoc: advance(low); continue;
                case kOffset: save(rules, low, offset(cursor, cie)); continue;
                case kRestore: restore(rules, cie, low); continue;
                default: break;
            }
            switch (code) {
                case kSetLoc: {
                    if (emit) add_row(address, rules, cie.signal);
                    address = pointer(cursor, cie.encoding);
                    break;
                }
                case kAdvanceLoc1: advance(cursor.read<std::uint8_t>()); break;
                case kAdvanceLoc2: advance(cursor.read<std::uint16_t>()); break;
                case kAdvanceLoc4: advance(cursor.read<std::uint32_t>()); break;
                case kRememberState:
                    if (remembered.size() < kMostRemembered) remembered.push_back(rules);
                    break;
                // A restore without a remembered state is damage. The rules stay as they are, which is the best guess.
                case kRestoreState:
                    if (remembered.empty()) break;
                    rules = remembered.back();
                    remembered.pop_back();
                    break;
                default:
                    if (!change_register(cursor, cie, rules, code) && !change_cfa(cursor, cie, rules, code)) return;
            }
        }
    }

    // Offsets of saved registers are in units of the data factor. GCC's is -8 on x86-64, so an operand of 2 means 16
    // bytes below the CFA.
    static std::int32_t offset(CfiCursor& cursor, const Cie& cie) {
        return narrow(cursor.unsigned_leb() * static_cast<std::uint64_t>(cie.data_factor));
    }
    static std::int32_t signed_offset(CfiCursor& cursor, const Cie& cie) {
        return narrow(static_cast<std::uint64_t>(cursor.signed_leb()) * static_cast<std::uint64_t>(cie.data_factor));
    }

    // Of the registers that instructions save only rbp matters: the caller's CFA may need it. The return address is at
    // CFA - 8 in every function of x86-64 but a signal frame (unwinder.cpp), so its rule is not kept.
    static void save(Rules& rules, std::uint64_t number, std::int32_t place) {
        if (number != kDwarfRbp) return;
        rules.rbp = Rbp::saved;
        rules.rbp_offset = place;
    }
    static void restore(Rules& rules, const Cie& cie, std::uint64_t number) {
        if (number != kDwarfRbp) return;
        rules.rbp = cie.rules.rbp;
        rules.rbp_offset = cie.rules.rbp_offset;
    }
    static Cfa base(std::uint64_t number) {
        return number == kDwarfRsp ? Cfa::rsp : number == kDwarfRbp ? Cfa::rbp : Cfa::unknown;
    }

    /// Instructions about one register. True if `code` is one; its operands are then read, also for registers that do
    /// not matter, so that the next instruction is found.
    bool change_register(CfiCursor& cursor, const Cie& cie, Rules& rules, std::uint8_t code) {
        switch (code) {
            case kNop: return true;
            case kGnuArgsSize: cursor.unsigned_leb(); return true;
            default: break;
        }
        if (code < kOffsetExtended || (code > kRegister && code != kExpression && code != kOffsetExtendedSf &&
                                       code != kValOffset && code != kValOffsetSf && code != kValExpression))
            return false;
        const std::uint64_t number = cursor.unsigned_leb();
        switch (code) {
            case kOffsetExtended: save(rules, number, offset(cursor, cie)); break;
            case kOffsetExtendedSf: save(rules, number, signed_offset(cursor, cie)); break;
            case kRestoreExtended: restore(rules, cie, number); break;
            // An undefined return address is how `_start` and `clone` mark the outermost frame. Other undefined
            // registers do not matter.
            case kUndefined: rules.outermost |= number == cie.return_register; break;
            case kSameValue:
                if (number == kDwarfRbp) rules.rbp = Rbp::same;
                break;
            case kExpression: {
                const symbols::Bytes expression = cursor.take(cursor.unsigned_leb());
                if (number != kDwarfRbp) break;
                rules.rbp = Rbp::expression;
                rules.rbp_offset = add_expression(expression);
                break;
            }
            case kValExpression: cursor.take(cursor.unsigned_leb()); break;
            default: cursor.unsigned_leb();  // an operand of a rule that is not followed
        }
        return true;
    }

    // While the CFA is an expression, `cfa_offset` is the number of that expression. So the instructions that change
    // only the register or only the offset are invalid there (DWARF 5, 6.4.2.2): the CFA is then unknown.
    static void change_base(Rules& rules, Cfa base) { rules.cfa = rules.cfa == Cfa::expression ? Cfa::unknown : base; }
    static void change_offset(Rules& rules, std::int32_t offset) {
        if (rules.cfa == Cfa::expression) rules.cfa = Cfa::unknown;
        rules.cfa_offset = offset;
    }

    /// Instructions about the CFA. False: `code` is unknown, so the rest of the entry cannot be read.
    bool change_cfa(CfiCursor& cursor, const Cie& cie, Rules& rules, std::uint8_t code) {
        switch (code) {
            case kDefCfa:
                rules.cfa = base(cursor.unsigned_leb());
                rules.cfa_offset = narrow(cursor.unsigned_leb());
                return true;
            case kDefCfaSf:
                rules.cfa = base(cursor.unsigned_leb());
                rules.cfa_offset = signed_offset(cursor, cie);
                return true;
            case kDefCfaRegister: change_base(rules, base(cursor.unsigned_leb())); return true;
            case kDefCfaOffset: change_offset(rules, narrow(cursor.unsigned_leb())); return true;
            case kDefCfaOffsetSf: change_offset(rules, signed_offset(cursor, cie)); return true;
            case kDefCfaExpression:
                rules.cfa = Cfa::expression;
                rules.cfa_offset = add_expression(cursor.take(cursor.unsigned_leb()));
                return true;
            default: return false;
        }
    }

    symbols::Bytes bytes_;
    std::uint64_t address_;
    bool eh_frame_;
    std::uint64_t begin_ = 0;  ///< of the FDE that is compiled
    std::uint64_t end_ = 0;
    UnwindTable& table_;
    std::map<std::uint64_t, std::optional<Cie>> cies_;  // by offset
};

UnwindTable::UnwindTable(const symbols::ElfImage& image) {
    if (!image.is_64() || !image.is_little_endian() || image.machine() != EM_X86_64) return;
    for (const std::string_view name : {".eh_frame", ".debug_frame"}) {
        const symbols::Section* section = image.section(name);
        if (!section || (section->flags & SHF_COMPRESSED) != 0) continue;
        SectionCompiler{image.contents(*section), section->address, name == ".eh_frame", *this}.compile();
    }
    sort_rows();
}

/// Of the rows with one address the first that has rules stays: the end of a function must not hide the next one's
/// start.
void UnwindTable::sort_rows() {
    std::ranges::stable_sort(rows_, [](const UnwindRow& a, const UnwindRow& b) {
        if (a.address != b.address) return a.address < b.address;
        return a.cfa != Cfa::none && b.cfa == Cfa::none;
    });
    const auto rest = std::ranges::unique(rows_, {}, &UnwindRow::address);
    rows_.erase(rest.begin(), rest.end());
}

const UnwindRow* UnwindTable::find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(rows_, address, {}, &UnwindRow::address);
    if (after == rows_.begin()) return nullptr;
    const UnwindRow& row = *std::prev(after);
    return row.cfa == Cfa::none ? nullptr : &row;
}

}  // namespace anyperf::unwind
