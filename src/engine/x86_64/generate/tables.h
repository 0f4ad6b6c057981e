// tables.h: the tables as the generator builds them: forms and nodes without duplicates, a root for every opcode.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <vector>

#include "engine/x86_64/form.h"

namespace anyperf::engine::x86_64::generate {

class Tables {
  public:
    /// The reference of a form: its number, counted from 1; 0 is no form.
    std::uint16_t add(const Form& form);
    const Form& form(std::uint16_t reference) const { return forms_[reference]; }

    /// Gives an opcode its trees in the rows of its space. `cells` holds a reference for every value of the selector.
    void set(Space space, std::uint8_t opcode, std::span<const std::uint16_t> cells);

    void write(std::ostream& out) const;

  private:
    /// The reference of the tree that picks a cell.
    std::uint16_t tree(std::span<const std::uint16_t> cells, bool evex);
    std::uint16_t node(const std::vector<std::uint16_t>& words);

    std::vector<Form> forms_{Form{}};
    std::map<Form, std::uint16_t> form_numbers_;
    std::vector<std::uint16_t> nodes_;
    std::map<std::vector<std::uint16_t>, std::uint16_t> node_offsets_;
    std::array<std::array<std::uint16_t, 256>, kRows> rows_{};
};

}  // namespace anyperf::engine::x86_64::generate
