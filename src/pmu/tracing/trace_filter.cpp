// trace_filter.cpp: what is accepted, and with which errno the rest is refused, follows calc_stack(), predicate_parse()
// and parse_pred() in kernel/trace/trace_events_filter.c of Linux 6.18.
//
// Like calc_stack(), the parser first checks that quotes and parentheses are balanced; those errors win over all
// others. It then translates infix to postfix with a stack of pending operators (Dijkstra's shunting yard): a predicate
// is emitted at once, an operator as soon as both of its operands are. Postfix needs no recursion when it is evaluated.
//
// For instance
//
//     pid > 100 && !(comm ~ "ba*" || cpu == 3)
//
// becomes the steps
//
//     pid > 100    comm ~ "ba*"    cpu == 3    either    negate    both
//
// The parentheses are gone: the place of an operator after its operands says what belongs to it. "&&" binds more
// tightly than "||", as in C.
#include "pmu/tracing/trace_filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "pmu/tracing/kernel_number.h"
#include "try.h"

namespace anyperf::pmu {
namespace {

using subsystem::Answer;
using subsystem::Filter;
using subsystem::FilterStep;
using subsystem::refuse;
using Compare = FilterStep::Compare;
using Field = FilterStep::Field;

// The kernel's own classes of characters are those of ISO 8859-1 (lib/ctype.c).
bool is_space(char c) {
    constexpr char kNoBreakSpace = '\xa0';
    return c == ' ' || (c >= '\t' && c <= '\r') || c == kNoBreakSpace;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool accented =
        byte >= 0xc0 && byte != 0xd7 && byte != 0xf7;  // all but the signs of multiplication, division
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || accented;
}

/// The comparisons. "<=" is before "<", so that the first row that matches is the longest. Only ==, != and ~ apply to
/// strings.
struct OperatorRow {
    std::string_view text;
    Compare compare;
    bool negated;
    bool for_text;  ///< applies to strings, too
};
constexpr std::array kOperators{
    OperatorRow{"==", Compare::equal, false, true},   OperatorRow{"!=", Compare::equal, true, true},
    OperatorRow{"~", Compare::glob, false, true},     OperatorRow{"<=", Compare::less_equal, false, false},
    OperatorRow{"<", Compare::less, false, false},    OperatorRow{">=", Compare::greater_equal, false, false},
    OperatorRow{">", Compare::greater, false, false}, OperatorRow{"&", Compare::bits, false, false},
};

/// The left side of a predicate: where its value is and how it may be compared.
struct ComparedField {
    Field field = Field::record;
    bool is_text = false;
    bool is_signed = false;
    std::uint16_t offset = 0;  ///< in the record
    std::uint8_t size = 0;     ///< in bytes; 0: an array, which has no value as a number
};

/// A string is an array of char in the record, a __data_loc, or a pointer into the program's memory.
ComparedField compared_field_of(const TraceField& field) {
    ComparedField compared{.is_signed = field.is_signed, .offset = field.offset};
    compared.size = static_cast<std::uint8_t>(field.size <= 8 || field.type.starts_with("char[") ? field.size : 0);
    if (field.type.starts_with("__data_loc char")) compared.field = Field::data_loc;
    if (field.type == "char *" || field.type == "const char *") compared.field = Field::user_pointer;
    compared.is_text = compared.field != Field::record || field.type.starts_with("char[");
    return compared;
}

/// The event's own fields hide CPU, COMM and the common fields of the same name (trace_find_event_field()).
std::optional<ComparedField> find_field(std::string_view name, std::span<const TraceField> fields) {
    const auto known = std::ranges::find(fields, name, &TraceField::name);
    if (known != fields.end()) return compared_field_of(*known);
    if (name == "CPU" || name == "cpu" || name == "common_cpu")
        return ComparedField{.field = Field::cpu, .is_signed = true, .size = 4};
    if (name == "COMM" || name == "comm" || name == "common_comm")
        return ComparedField{.field = Field::comm, .is_text = true};
    const auto common = std::ranges::find(common_fields(), name, &TraceField::name);
    return common != common_fields().end() ? std::optional{compared_field_of(*common)} : std::nullopt;
}

/// Whether quotes and parentheses are balanced, and there is anything besides them. Inside quotes nothing counts, and
/// there is no escape: a quote ends at the next one of its kind.
Answer<> check_balance(std::string_view text) {
    int open = 0;
    char quote = 0;
    bool has_content = false;
    for (const char c : text) {
        if (is_space(c)) continue;
        if (quote != 0) {
            if (c == quote) quote = 0;
            continue;
        }
        if (c == '\'' || c == '"') quote = c;
        if (c == ')' && open-- == 0) return refuse(EPERM, "unmatched closing parenthesis");
        if (c == '(') ++open;
        has_content = has_content || (c != '(' && c != ')');
    }
    if (quote != 0) return refuse(ESRCH, "a quote is not closed");
    if (open != 0) return refuse(ENOENT, "a parenthesis is not closed");
    if (!has_content) return refuse(EINVAL, "the filter is empty");
    return {};
}

/// Translates one filter; used once.
class Parser {
  public:
    Parser(std::string_view text, std::span<const TraceField> fields) : text_(text), fields_(fields) {}

    // Operands and operators alternate. `expects_operand_` says which comes next; a "!" may precede an operand any
    // number of times.
    Answer<std::unique_ptr<Filter>> parse() {
        TRY(check_balance(text_));
        while (skip_spaces()) {
            if (!expects_operand_) {
                TRY(parse_operator());
            } else if (take('(')) {
                pending_.push_back({Operator::parenthesis, std::exchange(inverted_, false)});
            } else if (at('!') && !at("!=") && !at("!~")) {
                ++at_;
                inverted_ = !inverted_;
            } else {
                TRY(parse_predicate());
                expects_operand_ = false;
            }
        }
        return finish();
    }

  private:
    enum class Operator : std::uint8_t { parenthesis, both, either };  // "(", "&&", "||"
    /// An operator that is not emitted yet, because its right side is not complete.
    struct PendingOperator {
        Operator kind;
        bool inverted = false;  ///< of a parenthesis: a "!" precedes it
    };

    bool skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        return at_ < text_.size();
    }
    /// Whether the rest of the text begins with `what`.
    bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    bool at(char what) const { return at_ < text_.size() && text_[at_] == what; }
    /// Skips `what` if it is next; returns whether it was.
    bool take(char what) { return at(what) && ++at_ != 0; }

    /// Skips and returns the longest run of characters that satisfy `holds`.
    template <class Predicate>
    std::string_view take_while(Predicate holds) {
        const std::size_t from = at_;
        while (at_ < text_.size() && holds(text_[at_])) ++at_;
        return text_.substr(from, at_ - from);
    }

    // Appends the operator after its operands; the evaluator pops two results and pushes one.
    void emit_operator(Operator kind) {
        steps_.push_back({.kind = kind == Operator::both ? FilterStep::Kind::both : FilterStep::Kind::either});
    }

    /// Emits the pending operators up to the innermost parenthesis that bind at least as tightly as `weakest`: their
    /// right sides are complete.
    void emit_pending(Operator weakest) {
        while (!pending_.empty() && pending_.back().kind != Operator::parenthesis &&
               (weakest == Operator::either || pending_.back().kind == Operator::both)) {
            emit_operator(pending_.back().kind);
            pending_.pop_back();
        }
    }

    /// What may follow an operand: ")", "&&" or "||".
    Answer<> parse_operator() {
        if (take(')')) {
            emit_pending(Operator::either);
            if (pending_.empty()) return refuse(EPERM, "unmatched closing parenthesis");
            if (pending_.back().inverted) steps_.push_back({.kind = FilterStep::Kind::negate});
            pending_.pop_back();
            return {};
        }
        const bool both = at("&&");
        if (!both && !at("||")) return refuse(EPERM, "predicates must be joined by && or ||");
        at_ += 2;
        const Operator kind = both ? Operator::both : Operator::either;
        emit_pending(kind);
        pending_.push_back({kind});
        expects_operand_ = true;
        return {};
    }

    /// FIELD[.ustring] COMPARISON VALUE
    Answer<> parse_predicate() {
        const std::string_view name = take_while(is_word);
        if (name.empty()) return refuse(EPERM, "a predicate must begin with a field");
        auto left = find_field(name, fields_);
        if (!left) return refuse(EINVAL, "the tracepoint does not have this field");
        bool reads_user_memory = false;
        if (at(".ustring")) {
            at_ += 8;
            reads_user_memory = true;
            if (left->field != Field::user_pointer) return refuse(EINVAL, "the field is not a pointer to a string");
        }
        skip_spaces();
        const auto row = std::ranges::find_if(kOperators, [&](const OperatorRow& known) { return at(known.text); });
        if (row == kOperators.end()) return refuse(EINVAL, "a comparison must follow the field");
        at_ += row->text.size();
        skip_spaces();
        FilterStep step{.compare = row->compare, .field = left->field, .negated = row->negated};
        step.is_signed = left->is_signed;
        step.size = left->size;
        step.offset = left->offset;
        if (at('\'') || at('"')) {
            if (!row->for_text || !left->is_text)
                return refuse(EINVAL, "this comparison of the field with a string is not possible");
            TRY(parse_text(step));
            // Without .ustring the kernel takes the pointer for an address of its own, and the predicate never holds.
            if (left->field == Field::user_pointer && !reads_user_memory) step.text = kUnreadable;
        } else {
            if (left->is_text || row->compare == Compare::glob)
                return refuse(EINVAL, "this comparison of the field with a number is not possible");
            TRY(parse_number(step));
        }
        steps_.push_back(step);
        if (std::exchange(inverted_, false)) steps_.push_back({.kind = FilterStep::Kind::negate});
        return {};
    }

    /// A quoted string. There is no escape for the quote.
    Answer<> parse_text(FilterStep& step) {
        constexpr std::size_t kLongest = 256;  // MAX_FILTER_STR_VAL
        const char quote = text_[at_++];
        std::string_view value = take_while([quote](char c) { return c != quote; });
        if (!take(quote)) return refuse(EINVAL, "a quote is not closed");
        if (value.size() >= kLongest) return refuse(EINVAL, "the string is too long");
        step.kind = FilterStep::Kind::text;
        if (step.compare == Compare::glob) {
            step.negated = value.starts_with('!');
            if (step.negated) value.remove_prefix(1);
            // filter_parse_regex() takes a pattern that begins with a digit literally.
            if (!value.empty() && is_digit(value[0])) step.compare = Compare::equal;
        }
        step.text = static_cast<std::uint16_t>(texts_.size());
        step.text_bytes = static_cast<std::uint16_t>(value.size());
        texts_ += value;
        return {};
    }

    /// A number, with "-" only for fields with a sign (parse_pred() of kernel/trace/trace_events_filter.c).
    Answer<> parse_number(FilterStep& step) {
        constexpr std::size_t kLongest = 24;  // num_buf
        const std::size_t from = at_;
        const bool negative = take('-');
        if (!negative && (at_ == text_.size() || !is_digit(text_[at_])))
            return refuse(EINVAL, "a value must follow the comparison");
        const std::string_view digits = take_while([](char c) { return is_word(c) && c != '_'; });
        if (at_ - from >= kLongest) return refuse(EINVAL, "the number is too long");
        if (negative && !step.is_signed) return refuse(EINVAL, "the field is unsigned");
        const auto value = parse_digits(digits);
        if (!value) return refuse(EINVAL, "not a number");
        const std::uint64_t most = step.is_signed ? (std::uint64_t{1} << 63) - (negative ? 0 : 1) : ~std::uint64_t{0};
        if (*value > most) return refuse(EINVAL, "the number is too large");
        step.value = negative ? 0 - *value : *value;
        return {};
    }

    Answer<std::unique_ptr<Filter>> finish() {
        // Linux accepts an operator without a right side at the very end, and ignores it.
        if (expects_operand_ && !pending_.empty()) pending_.pop_back();
        emit_pending(Operator::either);
        if (steps_.empty()) return refuse(EINVAL, "the filter has no predicate");
        if (steps_.size() > subsystem::kFilterSteps || texts_.size() > subsystem::kFilterTexts)
            return refuse(EINVAL, "the filter is too long");
        auto filter = std::make_unique<Filter>();
        filter->steps = static_cast<std::uint32_t>(steps_.size());
        std::ranges::copy(steps_, filter->step);
        std::ranges::copy(texts_, filter->text);
        return filter;
    }

    static constexpr std::uint16_t kUnreadable = 0xffff;  ///< an offset beyond all strings: the predicate never holds

    std::string_view text_;
    std::span<const TraceField> fields_;
    std::size_t at_ = 0;           ///< the next character of text_
    bool expects_operand_ = true;  ///< a predicate, "(" or "!" must follow, not an operator
    bool inverted_ = false;        ///< an odd number of "!" precedes the operand
    std::vector<PendingOperator> pending_;
    std::vector<FilterStep> steps_;  ///< the result, in postfix order
    std::string texts_;              ///< the strings that steps_ refer to by offset
};

}  // namespace

Answer<std::unique_ptr<Filter>> parse_filter(std::string_view text, std::span<const TraceField> fields) {
    return Parser{text, fields}.parse();
}

}  // namespace anyperf::pmu
