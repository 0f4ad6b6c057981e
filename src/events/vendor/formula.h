// formula.h: the formulas of metrics, in the language of perf 6.1 (tools/perf/util/expr.y):
//
//   numbers, names of events and metrics, literals (#smt_on), ( ), min(a, b), max(a, b), d_ratio(a, b), has_event(e),
//   source_count(e), strcmp_cpuid_str(id), and the operators, from the weakest:   a if condition else b   |   ^   &   <
//   >   + -   * / %   -a
//
// In a name, '@' means '/' (cpu@event=1@), and the letter after a '\' belongs to the name (c2\-residency).
// A division by 0 is not a number; d_ratio(a, 0) is 0. | ^ & % work on whole numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::vendor {

/// What a formula is computed from.
struct FormulaValues {
    /// The count of an event, or the value of a metric, by its name in the formula.
    std::function<double(const std::string& name)> count;
    /// "#num_cpus", "#strcmp_cpuid_str(0x410fd493)": lower case, with '#'. NaN: unknown.
    std::function<double(const std::string& name)> literal;
    /// Whether the machine has the event.
    std::function<bool(const std::string& name)> has_event;
    /// On how many PMUs the event is counted.
    std::function<double(const std::string& name)> sources;
};

class Formula {
  public:
    /// Error: the text is not a formula; the cause names the place and what was expected there.
    static Result<Formula> parse(std::string_view text);

    double evaluate(const FormulaValues& values) const;
    /// The names of events and metrics that evaluate() asks for, each once. Of "a if #smt_on else b" only those of the
    /// branch that `values` choose, since a condition of literals can't change.
    std::vector<std::string> names(const FormulaValues& values) const;
    /// The literals that it uses, each once.
    std::vector<std::string> literals() const;

  private:
    friend class FormulaReader;
    enum class Op : std::uint8_t {
        number,
        name,
        literal,
        negate,
        add,
        subtract,
        multiply,
        divide,
        modulo,
        bit_and,
        bit_or,
        bit_xor,
        less,
        greater,
        choose,
        min,
        max,
        d_ratio,
        has_event,
        source_count
    };
    struct Node {
        Op op = Op::number;
        double number = 0;
        std::string text{};
        std::vector<std::uint32_t> parts{};
    };

    double evaluate(const Node& node, const FormulaValues& values) const;
    double combine(Op op, double left, double right) const;
    bool is_constant(const Node& node) const;
    void add_names(const Node& node, const FormulaValues& values, std::vector<std::string>& names) const;
    const Node& part(const Node& node, std::size_t index) const { return nodes_[node.parts[index]]; }

    std::vector<Node> nodes_;
    std::uint32_t root_ = 0;
};

}  // namespace anyperf::vendor
