// expression.h: a C expression of a tracepoint's "print fmt", as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace anyperf::perfdata {

struct Expression {
    enum class Kind : std::uint8_t {
        number,        ///< `number`; an enumerator that nobody defines is 0
        text,          ///< a literal: `text`
        field,         ///< REC->NAME: `field`
        cast,          ///< (`text`) parts[0]
        unary,         ///< `op` parts[0]
        binary,        ///< parts[0] `op` parts[1]
        conditional,   ///< parts[0] ? parts[1] : parts[2]
        index,         ///< parts[0][parts[1]]
        flags,         ///< __print_flags(parts[0], `text`, `names`)
        symbols,       ///< __print_symbolic(parts[0], `names`)
        hex,           ///< __print_hex(parts[0], parts[1])
        hex_text,      ///< __print_hex_str: the same without blanks
        numbers,       ///< __print_array(parts[0], count parts[1], bytes parts[2])
        string,        ///< __get_str: the text of `field`
        array,         ///< __get_dynamic_array: the bytes of `field`
        array_length,  ///< __get_dynamic_array_len
        bits,          ///< __get_bitmask, __get_cpumask
    };
    struct Named {
        std::int64_t value = 0;
        std::string name;
    };

    Kind kind = Kind::number;
    char op[3] = {};
    std::uint64_t number = 0;
    std::string text{};
    std::size_t field = 0;  ///< index of EventFormat::fields
    std::vector<Named> names{};
    std::vector<Expression> parts{};
};

}  // namespace anyperf::perfdata
