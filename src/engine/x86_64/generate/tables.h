// tables.h: builds the decoder's tables (form.h): forms and nodes without duplicates, and a tree for each opcode.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <vector>

#include "engine/x86_64/decode/form.h"

namespace anyperf::engine::x86_64::generate {

class Tables {
  public:
    /// The reference of a form: its number, from 1 on. 0 means no instruction.
    std::uint16_t add(const Form& form);
    const Form& form(std::uint16_t reference) const { return forms_[reference]; }

    /// Sets the tree of an opcode, in each row of its space. `cells`: a reference for every value of the selector.
    void set(Space space, std::uint8_t opcode, std::span<const std::uint16_t> cells);

    /// Writes the tables as C++ definitions, for decode.cpp to include.
    void write(std::ostream& out) const;

  private:
    /// The reference of a tree of nodes that selects the right cell.
    std::uint16_t tree(std::span<const std::uint16_t> cells, bool evex);
    std::uint16_t node(const std::vector<std::uint16_t>& words);

    std::vector<Form> forms_{Form{}};
    std::map<Form, std::uint16_t> form_numbers_;
    std::vector<std::uint16_t> nodes_;
    std::map<std::vector<std::uint16_t>, std::uint16_t> node_offsets_;
    std::array<std::array<std::uint16_t, 256>, kRows> rows_{};
};

}  // namespace anyperf::engine::x86_64::generate
