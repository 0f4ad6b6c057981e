// formula.cpp: the order of operators and the meaning of each are those of expr.y of Linux 6.1.
//
// Nodes are in one vector and refer to their parts by index; a part always comes before the node that uses it. A
// formula is read once and evaluated for each place and interval. What cannot be computed is NaN, which spreads through
// arithmetic to the result: a metric whose event was not counted must not look like 0.
#include "events/vendor/formula.h"

#include "try.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace anyperf::vendor {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Of nested calls of read_choice() and read_unary(), two for each parenthesis. Formulas of the lists have a dozen
// parentheses.
constexpr int kDeepest = 200;

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// '=' belongs to terms of a name ("msr@tsc\,cpu=cpu_core@"); no operator has it.
bool is_name_letter(char letter) {
    return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           std::string_view{"_.:@?="}.find(letter) != std::string_view::npos;
}

std::string lower(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

/// Reads by recursive descent. The levels of binary operators share one function; `if … else` is weaker than all of
/// them. The depth is bounded, since a formula may come from a file and each parenthesis takes a frame of the stack.
class FormulaReader {
  public:
    explicit FormulaReader(std::string_view text) : text_(text) {}

    Result<Formula> read() {
        formula_.root_ = TRY(read_choice());
        if (skip_blanks(); at_ != text_.size()) return wrong("an operator");
        return std::move(formula_);
    }

  private:
    using Op = Formula::Op;
    using Index = std::uint32_t;

    /// The binary operators, from the weakest level on: the levels are those of C.
    struct Operator {
        char letter;
        Op op;
        int level;
    };
    static constexpr std::array kOperators{
        Operator{'|', Op::bit_or, 0},   Operator{'^', Op::bit_xor, 1},  Operator{'&', Op::bit_and, 2},
        Operator{'<', Op::less, 3},     Operator{'>', Op::greater, 3},  Operator{'+', Op::add, 4},
        Operator{'-', Op::subtract, 4}, Operator{'*', Op::multiply, 5}, Operator{'/', Op::divide, 5},
        Operator{'%', Op::modulo, 5},
    };
    static constexpr int kLevels = 6;

    struct Function {
        std::string_view name;
        Op op;
        bool takes_event;
    };
    /// Compares the machine's CPU with an identifier: strcmp_cpuid_str(0x410fd493). Its value is that of a literal.
    static constexpr std::string_view kIsCpu = "strcmp_cpuid_str";
    static constexpr std::array kFunctions{
        Function{"min", Op::min, false},
        Function{"max", Op::max, false},
        Function{"d_ratio", Op::d_ratio, false},
        Function{"has_event", Op::has_event, true},
        Function{"source_count", Op::source_count, true},
    };

    /// The error "EXPECTED is expected before 'the rest'".
    std::unexpected<Error> wrong(std::string_view expected) const {
        return std::unexpected(Error{"not a formula: " + std::string{text_},
                                     std::string{expected} + " is expected before '" +
                                         std::string{text_.substr(std::min(at_, text_.size()), 20)} + "'",
                                     ""});
    }
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    }
    bool take(char letter) {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }
    /// A whole word: "if" is not the beginning of a name.
    bool take_word(std::string_view word) {
        skip_blanks();
        if (!text_.substr(at_).starts_with(word)) return false;
        const std::size_t end = at_ + word.size();
        if (end < text_.size() && (is_name_letter(text_[end]) || text_[end] == '\\')) return false;
        at_ = end;
        return true;
    }
    Index add(Op op, std::vector<Index> parts, std::string text = {}, double number = 0) {
        formula_.nodes_.push_back({op, number, std::move(text), std::move(parts)});
        return static_cast<Index>(formula_.nodes_.size() - 1);
    }

    /// VALUE [if CONDITION else VALUE]. The value comes before the condition, as in Python.
    Result<Index> read_choice() {
        if (++depth_ > kDeepest) return wrong("a formula with fewer parentheses");
        const Index chosen = TRY(read_binary(0));
        Index whole = chosen;
        if (take_word("if")) {
            const Index condition = TRY(read_binary(0));
            if (!take_word("else")) return wrong("'else'");
            whole = add(Op::choose, { condition, chosen, TRY(read_choice()) });
        }
        --depth_;
        return whole;
    }

    /// Operands of the next level, joined by operators of this level from left to right.
    Result<Index> read_binary(int level) {
        if (level == kLevels) return read_unary();
        Index left = TRY(read_binary(level + 1));
        for (;;) {
            skip_blanks();
            const auto found = std::ranges::find_if(kOperators, [&](const Operator& each) {
                return each.level == level && at_ < text_.size() && text_[at_] == each.letter;
            });
            if (found == kOperators.end()) return left;
            ++at_;
            left = add(found->op, { left, TRY(read_binary(level + 1)) });
        }
    }

    Result<Index> read_unary() {
        if (++depth_ > kDeepest) return wrong("a formula with fewer signs");
        const bool negative = take('-');
        const Index value = negative ? TRY(read_unary()) : TRY(read_primary());
        --depth_;
        return negative ? add(Op::negate, {value}) : value;
    }

    /// A parenthesis, "#literal", number, call, or name of an event or of another metric.
    Result<Index> read_primary() {
        if (take('(')) {
            const Index inner = TRY(read_choice());
            if (!take(')')) return wrong("')'");
            return inner;
        }
        skip_blanks();
        if (at_ == text_.size()) return wrong("a value");
        if (text_[at_] == '#') return read_literal();
        if (const auto number = read_number()) return add(Op::number, {}, {}, *number);
        const std::string name = read_name();
        if (name.empty()) return wrong("a value");
        if (name == kIsCpu && take('(')) return read_cpu_test();
        for (const Function& function : kFunctions)
            if (function.name == name && take('(')) return read_call(function);
        return add(Op::name, {}, name);
    }

    /// A fact about the machine, such as "#num_cpus" or "#smt_on". Not case-sensitive.
    Result<Index> read_literal() {
        const std::size_t first = at_++;
        while (at_ < text_.size() && (is_name_letter(text_[at_]))) ++at_;
        return add(Op::literal, {}, lower(std::string{text_.substr(first, at_ - first)}));
    }

    /// A number, unless it begins a name ("1ns").
    std::optional<double> read_number() {
        std::size_t end = at_;
        while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
        if (end == at_) return std::nullopt;
        if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            std::size_t exponent = end + 1;
            if (exponent < text_.size() && (text_[exponent] == '-' || text_[exponent] == '+')) ++exponent;
            if (exponent < text_.size() && is_digit(text_[exponent]))
                for (end = exponent; end < text_.size() && is_digit(text_[end]);) ++end;
        }
        if (end < text_.size() && is_name_letter(text_[end])) return std::nullopt;
        const double value = std::strtod(std::string{text_.substr(at_, end - at_)}.c_str(), nullptr);
        at_ = end;
        return value;
    }

    /// A name. The lists write '@' for '/', which is division here: "cpu@event\=0x3c@" is cpu/event=0x3c/. A backslash
    /// takes the next character as it is.
    std::string read_name() {
        std::string name;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size())
                name += text_[++at_];
            else if (is_name_letter(text_[at_]))
                name += text_[at_] == '@' ? '/' : text_[at_];
            else
                break;
        }
        return name;
    }

    /// The literal "#strcmp_cpuid_str(0x410fd493)".
    Result<Index> read_cpu_test() {
        skip_blanks();
        const std::string id = read_name();
        if (id.empty() || !take(')')) return wrong("the identifier of a CPU and ')'");
        return add(Op::literal, {}, "#" + std::string{kIsCpu} + "(" + lower(id) + ")");
    }

    Result<Index> read_call(const Function& function) {
        if (function.takes_event) {
            skip_blanks();
            const std::string name = read_name();
            if (name.empty() || !take(')')) return wrong("the name of an event and ')'");
            return add(function.op, {}, name);
        }
        const Index left = TRY(read_choice());
        if (!take(',')) return wrong("','");
        const Index right = TRY(read_choice());
        if (!take(')')) return wrong("')'");
        return add(function.op, {left, right});
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    Formula formula_;
};

Result<Formula> Formula::parse(std::string_view text) {
    return FormulaReader{text}.read();
}

double Formula::combine(Op op, double left, double right) const {
    const auto whole = [](double value) {
        constexpr double kEnd = 9223372036854775808.0;  // 2^63; a conversion of a larger value is undefined
        return value >= kEnd ? INT64_MAX : value <= -kEnd ? -INT64_MAX : static_cast<std::int64_t>(value);
    };
    const bool numbers = std::isfinite(left) && std::isfinite(right);
    switch (op) {
        case Op::add: return left + right;
        case Op::subtract: return left - right;
        case Op::multiply: return left * right;
        case Op::divide: return right == 0 ? kNaN : left / right;
        case Op::modulo: return !numbers || whole(right) == 0 ? kNaN : static_cast<double>(whole(left) % whole(right));
        case Op::bit_and: return numbers ? static_cast<double>(whole(left) & whole(right)) : kNaN;
        case Op::bit_or: return numbers ? static_cast<double>(whole(left) | whole(right)) : kNaN;
        case Op::bit_xor: return numbers ? static_cast<double>(whole(left) ^ whole(right)) : kNaN;
        case Op::less: return left < right;
        case Op::greater: return left > right;
        case Op::min: return left < right ? left : right;
        case Op::max: return left > right ? left : right;
        case Op::d_ratio: return right == 0 ? 0 : left / right;
        default: return kNaN;
    }
}

double Formula::evaluate(const Node& node, const FormulaValues& values) const {
    const auto value = [&](std::size_t index) { return evaluate(part(node, index), values); };
    switch (node.op) {
        case Op::number: return node.number;
        case Op::name: return values.count(node.text);
        case Op::literal: return values.literal(node.text);
        case Op::has_event: return values.has_event(node.text) ? 1 : 0;
        case Op::source_count: return values.sources(node.text);
        case Op::negate: return -value(0);
        case Op::choose: return value(0) != 0 ? value(1) : value(2);
        default: return combine(node.op, value(0), value(1));
    }
}

double Formula::evaluate(const FormulaValues& values) const {
    return evaluate(nodes_[root_], values);
}

// A node is constant if it needs no counts: literals and has_event() do not change while events are counted, so they
// can be evaluated before that.
bool Formula::is_constant(const Node& node) const {
    if (node.op == Op::name || node.op == Op::source_count) return false;
    return std::ranges::all_of(node.parts, [&](std::uint32_t index) { return is_constant(nodes_[index]); });
}

// Of a choice whose condition is constant only the chosen side is counted: the other may name events that the CPU does
// not have.
void Formula::add_names(const Node& node, const FormulaValues& values, std::vector<std::string>& names) const {
    if (node.op == Op::name || node.op == Op::source_count) add_once(names, node.text);
    if (node.op == Op::choose && is_constant(part(node, 0)))
        return add_names(part(node, evaluate(part(node, 0), values) != 0 ? 1 : 2), values, names);
    for (const std::uint32_t index : node.parts) add_names(nodes_[index], values, names);
}

std::vector<std::string> Formula::names(const FormulaValues& values) const {
    std::vector<std::string> names;
    add_names(nodes_[root_], values, names);
    return names;
}

std::vector<std::string> Formula::literals() const {
    std::vector<std::string> found;
    for (const Node& node : nodes_)
        if (node.op == Op::literal) add_once(found, node.text);
    return found;
}

}  // namespace anyperf::vendor
