// tables.cpp: builds decision trees that share equal nodes, and writes the tables.
//
// A cell is the reference for one value of the selector: 2^11 cells for an opcode, 2^15 under EVEX. Most opcodes depend
// on none of these bits or on few. So the tree tests ranges of adjacent bits, each cut to the bits that matter
// under the choices made so far, and equal subtrees are one node (node_offsets_). References have 16 bits, of which one
// distinguishes nodes from forms: add() and node() throw when there are too many, at build time.
#include "engine/x86_64/generate/tables.h"

#include <algorithm>
#include <stdexcept>

namespace anyperf::engine::x86_64::generate {
namespace {

/// Adjacent bits of the selector.
struct Range {
    unsigned low;
    unsigned count;
};

/// The bits that nodes test, in this order. Prefixes come first: the decoder has them before it reads ModRM, and must
/// not read ModRM of an opcode that has none.
constexpr std::array kRanges{Range{selector::kW, 4}, Range{selector::kReg, 4}, Range{selector::kRm, 3}};
constexpr std::array kEvexRanges{Range{selector::kW, 3}, Range{selector::kLength, 3}, Range{selector::kMasked, 2},
                                 Range{selector::kReg, 4}, Range{selector::kRm, 3}};

/// Builds the tree of one opcode. `asked`: index of the next range; `fixed`: bits tested so far; `chosen`: their
/// values.
template <typename MakeNode>
class Builder {
  public:
    Builder(std::span<const std::uint16_t> cells, std::span<const Range> ranges, MakeNode make_node)
        : cells_(cells), ranges_(ranges), make_node_(make_node) {}

    std::uint16_t build(unsigned asked = 0, unsigned fixed = 0, unsigned chosen = 0) {
        for (; asked < ranges_.size(); ++asked) {
            if (1u << ranges_[asked].low >= cells_.size()) continue;  // decided by the row
            const Range range = relevant(ranges_[asked], fixed, chosen);
            if (range.count == 0) continue;
            std::vector<std::uint16_t> words{static_cast<std::uint16_t>(range.low | range.count << 4)};
            const unsigned mask = ((1u << range.count) - 1) << range.low;
            for (unsigned value = 0; value < 1u << range.count; ++value)
                words.push_back(build(asked + 1, fixed | mask, chosen | value << range.low));
            return make_node_(words);
        }
        return cells_[chosen];
    }

  private:
    /// The part of a range from the lowest to the highest bit that matters.
    Range relevant(Range range, unsigned fixed, unsigned chosen) const {
        unsigned first = 0;
        unsigned last = 0;
        bool any = false;
        for (unsigned b = range.low; b < range.low + range.count; ++b)
            if (matters(1u << b, fixed, chosen)) {
                if (!any) first = b;
                last = b;
                any = true;
            }
        return any ? Range{first, last - first + 1} : Range{0, 0};
    }

    /// Whether the bit changes any cell with the chosen bits.
    bool matters(unsigned b, unsigned fixed, unsigned chosen) const {
        // By trying: 2^15 cells for each of 15 bits are fast enough for a build, and there is nothing to get wrong.
        for (unsigned s = 0; s < cells_.size(); ++s)
            if ((s & fixed) == chosen && !(s & b) && cells_[s] != cells_[s | b]) return true;
        return false;
    }

    std::span<const std::uint16_t> cells_;
    std::span<const Range> ranges_;
    MakeNode make_node_;
};

void write_form(std::ostream& out, const Form& f) {
    out << "    {";
    for (const unsigned value : {unsigned{f.touched},
                                 unsigned{f.read},
                                 unsigned{f.overwritten},
                                 unsigned{f.flags_read},
                                 unsigned{f.flags_overwritten},
                                 unsigned{f.classes},
                                 unsigned{f.operand_bytes},
                                 unsigned{f.written},
                                 std::uint32_t{f.attributes},
                                 unsigned{f.control},
                                 unsigned{f.immediate_bytes},
                                 unsigned{f.reg_role},
                                 unsigned{f.rm_role},
                                 unsigned{f.vvvv_role},
                                 unsigned{f.reg_high},
                                 unsigned{f.rm_high},
                                 unsigned{f.vvvv_high},
                                 unsigned{f.constraints},
                                 unsigned{f.implied_bytes},
                                 unsigned{f.vector_roles},
                                 unsigned{f.timing}})
        out << value << ", ";
    out << "},\n";
}

void write_words(std::ostream& out, std::span<const std::uint16_t> words) {
    for (std::size_t n = 0; n < words.size(); ++n) out << words[n] << (n % 16 == 15 ? ",\n" : ",");
    out << "\n";
}

}  // namespace

std::uint16_t Tables::add(const Form& form) {
    const auto [place, fresh] = form_numbers_.try_emplace(form, static_cast<std::uint16_t>(forms_.size()));
    if (fresh) forms_.push_back(form);
    if (forms_.size() > kNodeBit) throw std::length_error("more forms than a reference can number");
    return place->second;
}

std::uint16_t Tables::node(const std::vector<std::uint16_t>& words) {
    const auto [place, fresh] = node_offsets_.try_emplace(words, static_cast<std::uint16_t>(kNodeBit | nodes_.size()));
    if (fresh) nodes_.insert(nodes_.end(), words.begin(), words.end());
    if (nodes_.size() > kNodeBit) throw std::length_error("more nodes than a reference can address");
    return place->second;
}

std::uint16_t Tables::tree(std::span<const std::uint16_t> cells, bool evex) {
    if (std::ranges::count(cells, cells[0]) == std::ssize(cells)) return cells[0];
    const std::span<const Range> ranges = evex ? std::span<const Range>{kEvexRanges} : std::span<const Range>{kRanges};
    return Builder{cells, ranges, [this](const auto& words) { return node(words); }}.build();
}

void Tables::set(Space space, std::uint8_t opcode, std::span<const std::uint16_t> cells) {
    const unsigned row = first_row(space);
    if (!has_row_per_prefix(space)) {
        rows_[row][opcode] = tree(cells, is_evex(space));
        return;
    }
    constexpr std::size_t modrm_cells = 1u << selector::kW;
    for (std::size_t prefixes = 0; prefixes < kRowsPerPrefix; ++prefixes)
        rows_[row + prefixes][opcode] = tree(cells.subspan(prefixes * modrm_cells, modrm_cells), false);
}

void Tables::write(std::ostream& out) const {
    out << "// Made by the build from Zydis: src/engine/x86_64/generate.\n";
    out << "constexpr Form kForms[" << forms_.size() << "] = {\n";
    for (const Form& form : forms_) write_form(out, form);
    out << "};\nconstexpr std::uint16_t kNodes[" << nodes_.size() << "] = {\n";
    write_words(out, nodes_);
    out << "};\nconstexpr std::uint16_t kReferences[" << kRows << "][256] = {\n";
    for (const auto& row : rows_) {
        out << "{\n";
        write_words(out, row);
        out << "},\n";
    }
    out << "};\n";
}

}  // namespace anyperf::engine::x86_64::generate
