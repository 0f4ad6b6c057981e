// print_expression.cpp: a parser of C expressions by recursive descent, one function for each level of their grammar.
// The depth is bounded, because the text is part of a file from anywhere.
#include "perfdata/tracing/print_expression.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "perfdata/tracing/c_tokens.h"
#include "perfdata/tracing/constant.h"

namespace anyperf::perfdata {

namespace {

using Kind = Expression::Kind;
using Parsed = std::optional<Expression>;

/// What has more is no text of the kernel. A chain of operators is a tree as deep as it is long.
constexpr int kDeepest = 200, kMostOperators = 5000;

struct Operator {
    std::string_view sign;
    int level;  ///< higher binds closer
};
constexpr std::array kOperators{
    Operator{"||", 1}, Operator{"&&", 2}, Operator{"|", 3}, Operator{"^", 4},  Operator{"&", 5},  Operator{"==", 6},
    Operator{"!=", 6}, Operator{"<", 7},  Operator{">", 7}, Operator{"<=", 7}, Operator{">=", 7}, Operator{"<<", 8},
    Operator{">>", 8}, Operator{"+", 9},  Operator{"-", 9}, Operator{"*", 10}, Operator{"/", 10}, Operator{"%", 10},
};

/// The kernel's macros that the formats call, by the kind of expression that they are.
struct Macro {
    std::string_view name;
    Kind kind;
};
constexpr std::array kMacros{
    Macro{"__print_flags", Kind::flags},
    Macro{"__print_symbolic", Kind::symbols},
    Macro{"__print_hex", Kind::hex},
    Macro{"__print_hex_str", Kind::hex_text},
    Macro{"__print_array", Kind::numbers},
    Macro{"__get_str", Kind::string},
    Macro{"__get_rel_str", Kind::string},
    Macro{"__get_dynamic_array", Kind::array},
    Macro{"__get_rel_dynamic_array", Kind::array},
    Macro{"__get_dynamic_array_len", Kind::array_length},
    Macro{"__get_rel_dynamic_array_len", Kind::array_length},
    Macro{"__get_bitmask", Kind::bits},
    Macro{"__get_rel_bitmask", Kind::bits},
    Macro{"__get_cpumask", Kind::bits},
    Macro{"__get_rel_cpumask", Kind::bits},
};

/// The parts are moved: an initializer list would copy whole trees.
template <class... Parts>
Expression made(Kind kind, Parts... parts) {
    Expression expression;
    expression.kind = kind;
    expression.parts.reserve(sizeof...(parts));
    (expression.parts.push_back(std::move(parts)), ...);
    return expression;
}

class Parser {
  public:
    Parser(const EventFormat& event, std::string_view source) : event_(event), rest_(source) { next(); }

    std::optional<PrintFormat> print_format() {
        PrintFormat result;
        if (token_.kind != CToken::Kind::text) return std::nullopt;
        result.format = literals();
        while (accept(",")) {
            Parsed argument = conditional();
            if (!argument) return std::nullopt;
            result.arguments.push_back(std::move(*argument));
        }
        if (token_.kind != CToken::Kind::end) return std::nullopt;
        return result;
    }

  private:
    void next() { token_ = take_token(rest_); }
    bool accept(std::string_view sign) {
        if (!token_.is(sign)) return false;
        next();
        return true;
    }
    /// The token after the present one.
    CToken following() const {
        std::string_view rest = rest_;
        return take_token(rest);
    }

    /// Adjacent literals are one.
    std::string literals() {
        std::string text;
        for (; token_.kind == CToken::Kind::text; next()) text += unescaped(token_.source);
        return text;
    }

    Parsed conditional() {
        if (++depth_ > kDeepest) return std::nullopt;
        Parsed condition = binary(1);
        if (condition && accept("?")) {
            Parsed yes = conditional();
            if (!yes || !accept(":")) return std::nullopt;
            Parsed no = conditional();
            if (!no) return std::nullopt;
            condition = made(Kind::conditional, std::move(*condition), std::move(*yes), std::move(*no));
        }
        --depth_;
        return condition;
    }

    Parsed binary(int level) {
        Parsed left = unary();
        while (left && token_.kind == CToken::Kind::sign) {
            const auto row = std::ranges::find(kOperators, token_.source, &Operator::sign);
            if (row == kOperators.end() || row->level < level) break;
            if (++operators_ > kMostOperators) return std::nullopt;
            next();
            Parsed right = binary(row->level + 1);
            if (!right) return std::nullopt;
            Expression whole = made(Kind::binary, std::move(*left), std::move(*right));
            row->sign.copy(whole.op, sizeof whole.op - 1);
            left = std::move(whole);
        }
        return left;
    }

    Parsed unary() {
        if (++depth_ > kDeepest) return std::nullopt;
        for (const std::string_view sign : {"!", "~", "-", "+", "&"}) {
            if (!accept(sign)) continue;
            Parsed operand = unary();
            if (!operand) return std::nullopt;
            --depth_;
            // The address of a field is what formats of addresses (%pI4) want, and they look at the field.
            if (sign == "&" || sign == "+") return operand;
            Expression whole = made(Kind::unary, std::move(*operand));
            whole.op[0] = sign[0];
            return whole;
        }
        Parsed found = postfix();
        --depth_;
        return found;
    }

    Parsed postfix() {
        Parsed base = primary();
        while (base && accept("[")) {
            Parsed index = conditional();
            if (++operators_ > kMostOperators || !index || !accept("]")) return std::nullopt;
            base = made(Kind::index, std::move(*base), std::move(*index));
        }
        return base;
    }

    Parsed primary() {
        if (token_.kind == CToken::Kind::text) {
            Expression text = made(Kind::text);
            text.text = literals();
            return text;
        }
        if (token_.kind == CToken::Kind::number) {
            Expression number = made(Kind::number);
            number.number = std::strtoull(std::string{token_.source}.c_str(), nullptr, 0);
            next();
            return number;
        }
        if (token_.kind == CToken::Kind::character) {
            const std::string character = unescaped(token_.source);
            Expression number = made(Kind::number);
            number.number = character.empty() ? 0 : static_cast<unsigned char>(character[0]);
            next();
            return number;
        }
        if (token_.is("(")) return parenthesized();
        if (token_.kind != CToken::Kind::name) return std::nullopt;
        if (token_.is_name("REC")) return field_of_record();
        if (following().is("(")) return call();
        Expression enumerator = made(Kind::number);
        enumerator.text = token_.source;
        enumerator.number = static_cast<std::uint64_t>(value_of_enumerator(token_.source).value_or(0));
        next();
        return enumerator;
    }

    Parsed field_of_record() {
        next();
        if (!accept("->")) return std::nullopt;
        return named_field(Kind::field);
    }

    /// The field whose name is the present token.
    Parsed named_field(Kind kind) {
        const EventField* field = event_.find(token_.source);
        if (token_.kind != CToken::Kind::name || !field) return std::nullopt;
        next();
        Expression expression = made(kind);
        expression.field = static_cast<std::size_t>(field - event_.fields.data());
        return expression;
    }

    Parsed parenthesized() {
        next();
        if (const auto type = cast_type()) {
            Parsed operand = unary();
            if (!operand) return std::nullopt;
            Expression cast = made(Kind::cast, std::move(*operand));
            cast.text = *type;
            return cast;
        }
        Parsed inner = conditional();
        if (!inner || !accept(")")) return std::nullopt;
        return inner;
    }

    /// A type and its closing parenthesis, if that is what comes next and an operand follows. C itself needs the list
    /// of types for this. Here a name in parentheses is a type if no operator can follow.
    std::optional<std::string> cast_type() {
        const auto [before, rest] = std::pair{token_, rest_};
        if (const auto type = type_name(); type && accept(")")) {
            using enum CToken::Kind;
            if (token_.kind == name || token_.kind == number || token_.kind == text || token_.is("(") ||
                token_.is("~") || token_.is("!") || (token_.is("-") && type_bytes(*type) != 0))
                return type;
        }
        token_ = before;
        rest_ = rest;
        return std::nullopt;
    }

    std::optional<std::string> type_name() {
        std::string type;
        while (token_.kind == CToken::Kind::name && !token_.is_name("REC") && !following().is("(")) {
            if (!type.empty()) type += ' ';
            type += token_.source;
            next();
        }
        if (type.empty()) return std::nullopt;
        for (; token_.is("*"); next()) type += " *";
        return type;
    }

    Parsed call() {
        const std::string_view name = token_.source;
        next();
        next();  // the parenthesis
        if (name == "sizeof") return size_of();
        if (name == "__builtin_expect") {
            Parsed value = conditional();
            if (!value || !accept(",") || !conditional() || !accept(")")) return std::nullopt;
            return value;
        }
        const auto row = std::ranges::find(kMacros, name, &Macro::name);
        if (row == kMacros.end()) return std::nullopt;
        Parsed expression = arguments_of(row->kind);
        return expression && accept(")") ? std::move(expression) : std::nullopt;
    }

    Parsed size_of() {
        const auto type = type_name();
        Expression size = made(Kind::number);
        size.number = type ? type_bytes(*type) : 0;
        return size.number != 0 && accept(")") ? Parsed{std::move(size)} : std::nullopt;
    }

    Parsed arguments_of(Kind kind) {
        switch (kind) {
            case Kind::string:
            case Kind::array:
            case Kind::array_length:
            case Kind::bits: return named_field(kind);
            case Kind::hex:
            case Kind::hex_text: return list_of(kind, 2);
            case Kind::numbers: return list_of(kind, 3);
            default: return list_of_names(kind);
        }
    }

    Parsed list_of(Kind kind, std::size_t count) {
        Expression whole = made(kind);
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0 && !accept(",")) return std::nullopt;
            Parsed each = conditional();
            if (!each) return std::nullopt;
            whole.parts.push_back(std::move(*each));
        }
        return whole;
    }

    /// VALUE, "|", { 1, "A" }, { 2, "B" }, …; the delimiter is of flags only. An entry without a name ends the list.
    Parsed list_of_names(Kind kind) {
        Parsed value = conditional();
        if (!value) return std::nullopt;
        Expression whole = made(kind, std::move(*value));
        if (kind == Kind::flags) {
            if (!accept(",")) return std::nullopt;
            whole.text = literals();
        }
        while (accept(",")) {
            if (!accept("{")) return std::nullopt;
            const Parsed key = conditional();
            if (!key || !accept(",")) return std::nullopt;
            const Parsed name = conditional();
            if (!name || !accept("}")) return std::nullopt;
            if (name->kind == Kind::text) whole.names.push_back({value_of_key(*key), name->text});
        }
        return whole;
    }

    const EventFormat& event_;
    std::string_view rest_;
    CToken token_;
    int depth_ = 0, operators_ = 0;
};

}  // namespace

std::optional<PrintFormat> parse_print_format(const EventFormat& event) {
    return Parser{event, event.print_format}.print_format();
}

}  // namespace anyperf::perfdata
