// trace_filter.cpp: calc_stack(), predicate_parse() and parse_pred() of Linux 6.18's trace_events_filter.c told what is
// accepted and which errno is answered. Predicates become steps in postfix order, operators wait on a stack.
#include "pmu/trace_filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace anyperf::pmu {
namespace {

using subsystem::Answer;
using subsystem::Filter;
using subsystem::FilterStep;
using subsystem::refuse;
using Compare = FilterStep::Compare;
using Field = FilterStep::Field;

bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Longer ones first: "<=" is not "<".
struct OperatorRow {
    std::string_view text;
    Compare compare;
    bool negated;
    bool for_text;
};
constexpr std::array kOperators{
    OperatorRow{"==", Compare::equal, false, true},   OperatorRow{"!=", Compare::equal, true, true},
    OperatorRow{"~", Compare::glob, false, true},     OperatorRow{"<=", Compare::less_equal, false, false},
    OperatorRow{"<", Compare::less, false, false},    OperatorRow{">=", Compare::greater_equal, false, false},
    OperatorRow{">", Compare::greater, false, false}, OperatorRow{"&", Compare::bits, false, false},
};

/// What a predicate may be about.
struct Subject {
    Field field = Field::record;
    bool is_text = false;
    bool is_signed = false;
    std::uint16_t offset = 0;
    std::uint8_t size = 0;
};

Subject subject_of(const TraceField& field) {
    Subject subject{.is_signed = field.is_signed, .offset = field.offset};
    subject.size = static_cast<std::uint8_t>(field.size <= 8 || field.type.starts_with("char[") ? field.size : 0);
    if (field.type.starts_with("__data_loc char")) subject.field = Field::located;
    if (field.type == "char *" || field.type == "const char *") subject.field = Field::user_pointer;
    subject.is_text = subject.field != Field::record || field.type.starts_with("char[");
    return subject;
}

/// The event's own fields come before those that every event has (trace_find_event_field()).
std::optional<Subject> find_subject(std::string_view name, std::span<const TraceField> own) {
    const auto known = std::ranges::find(own, name, &TraceField::name);
    if (known != own.end()) return subject_of(*known);
    if (name == "CPU" || name == "cpu" || name == "common_cpu")
        return Subject{.field = Field::cpu, .is_signed = true, .size = 4};
    if (name == "COMM" || name == "comm" || name == "common_comm")
        return Subject{.field = Field::comm, .is_text = true};
    const auto common = std::ranges::find(common_fields(), name, &TraceField::name);
    return common != common_fields().end() ? std::optional{subject_of(*common)} : std::nullopt;
}

/// Quotes and parentheses have their ends, and there is something between them.
Answer<> check_balance(std::string_view text) {
    int open = 0;
    char quote = 0;
    bool anything = false;
    for (const char c : text) {
        if (is_space(c)) continue;
        if (quote != 0) {
            if (c == quote) quote = 0;
            continue;
        }
        if (c == '\'' || c == '"') quote = c;
        if (c == ')' && open-- == 0) return refuse(EPERM, "a parenthesis is closed that was not opened");
        if (c == '(') ++open;
        anything = anything || (c != '(' && c != ')');
    }
    if (quote != 0) return refuse(ESRCH, "a quote has no end");
    if (open != 0) return refuse(ENOENT, "a parenthesis is not closed");
    if (!anything) return refuse(EINVAL, "the filter is empty");
    return {};
}

class Parser {
  public:
    Parser(std::string_view text, std::span<const TraceField> own) : text_(text), own_(own) {}

    Answer<std::unique_ptr<Filter>> run() {
        TRY(check_balance(text_));
        while (skip_spaces()) {
            if (!expects_operand_) {
                TRY(operator_());
            } else if (take('(')) {
                waiting_.push_back({Waiting::parenthesis, std::exchange(inverted_, false)});
            } else if (at('!') && !at("!=") && !at("!~")) {
                ++at_;
                inverted_ = !inverted_;
            } else {
                TRY(predicate());
                expects_operand_ = false;
            }
        }
        return finish();
    }

  private:
    enum class Waiting : std::uint8_t { parenthesis, both, either };
    struct Operator {
        Waiting kind;
        bool inverted = false;
    };

    bool skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        return at_ < text_.size();
    }
    bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    bool at(char what) const { return at_ < text_.size() && text_[at_] == what; }
    bool take(char what) { return at(what) && ++at_ != 0; }

    template <class While>
    std::string_view run_of(While holds) {
        const std::size_t from = at_;
        while (at_ < text_.size() && holds(text_[at_])) ++at_;
        return text_.substr(from, at_ - from);
    }

    void join(Waiting kind) {
        steps_.push_back({.kind = kind == Waiting::both ? FilterStep::Kind::both : FilterStep::Kind::either});
    }

    /// What binds closer, or as close, and waits: it has both of its sides now.
    void join_down_to(Waiting weakest) {
        while (!waiting_.empty() && waiting_.back().kind != Waiting::parenthesis &&
               (weakest == Waiting::either || waiting_.back().kind == Waiting::both)) {
            join(waiting_.back().kind);
            waiting_.pop_back();
        }
    }

    Answer<> operator_() {
        if (take(')')) {
            join_down_to(Waiting::either);
            if (waiting_.empty()) return refuse(EPERM, "a parenthesis is closed that was not opened");
            if (waiting_.back().inverted) steps_.push_back({.kind = FilterStep::Kind::negate});
            waiting_.pop_back();
            return {};
        }
        const bool both = at("&&");
        if (!both && !at("||")) return refuse(EPERM, "predicates are joined by && or ||");
        at_ += 2;
        const Waiting kind = both ? Waiting::both : Waiting::either;
        join_down_to(kind);
        waiting_.push_back({kind});
        expects_operand_ = true;
        return {};
    }

    Answer<> predicate() {
        const std::string_view name = run_of(is_word);
        if (name.empty()) return refuse(EPERM, "a predicate begins with a field");
        auto subject = find_subject(name, own_);
        if (!subject) return refuse(EINVAL, "the tracepoint has no such field");
        bool of_program = false;
        if (at(".ustring")) {
            at_ += 8;
            of_program = true;
            if (subject->field != Field::user_pointer) return refuse(EINVAL, "the field is no pointer to a text");
        }
        skip_spaces();
        const auto row = std::ranges::find_if(kOperators, [&](const OperatorRow& known) { return at(known.text); });
        if (row == kOperators.end()) return refuse(EINVAL, "no comparison stands behind the field");
        at_ += row->text.size();
        skip_spaces();
        FilterStep step{.compare = row->compare, .field = subject->field, .negated = row->negated};
        step.is_signed = subject->is_signed;
        step.size = subject->size;
        step.offset = subject->offset;
        if (at('\'') || at('"')) {
            if (!row->for_text || !subject->is_text) return refuse(EINVAL, "the field is not compared with texts so");
            TRY(text_value(step));
            // The kernel reads no program's memory unless told so, and finds nothing.
            if (subject->field == Field::user_pointer && !of_program) step.text = kUnreadable;
        } else {
            if (subject->is_text || row->compare == Compare::glob)
                return refuse(EINVAL, "the field is not compared with numbers so");
            TRY(number_value(step));
        }
        steps_.push_back(step);
        if (std::exchange(inverted_, false)) steps_.push_back({.kind = FilterStep::Kind::negate});
        return {};
    }

    Answer<> text_value(FilterStep& step) {
        constexpr std::size_t kLongest = 256;  // MAX_FILTER_STR_VAL
        const char quote = text_[at_++];
        std::string_view value = run_of([quote](char c) { return c != quote; });
        if (!take(quote)) return refuse(EINVAL, "a quote has no end");
        if (value.size() >= kLongest) return refuse(EINVAL, "the text is too long");
        step.kind = FilterStep::Kind::text;
        if (step.compare == Compare::glob) {
            step.negated = value.starts_with('!');
            if (step.negated) value.remove_prefix(1);
            // filter_parse_regex() takes what begins with a digit as it is.
            if (!value.empty() && is_digit(value[0])) step.compare = Compare::equal;
        }
        step.text = static_cast<std::uint16_t>(texts_.size());
        step.text_bytes = static_cast<std::uint16_t>(value.size());
        texts_ += value;
        return {};
    }

    Answer<> number_value(FilterStep& step) {
        constexpr std::size_t kLongest = 24;  // num_buf
        const std::size_t from = at_;
        const bool negative = take('-');
        if (!negative && (at_ == text_.size() || !is_digit(text_[at_]))) return refuse(EINVAL, "no value follows");
        std::string_view digits = run_of([](char c) { return is_word(c) && c != '_'; });
        if (at_ - from >= kLongest) return refuse(EINVAL, "the number is too long");
        if (negative && !step.is_signed) return refuse(EINVAL, "the field has no sign");
        const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
        const bool octal = !hexadecimal && digits.starts_with('0');
        if (hexadecimal) digits.remove_prefix(2);
        std::uint64_t value = 0;
        const int base = hexadecimal ? 16 : octal ? 8 : 10;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
        if (error != std::errc{} || end != digits.data() + digits.size()) return refuse(EINVAL, "not a number");
        const std::uint64_t most = step.is_signed ? (std::uint64_t{1} << 63) - (negative ? 0 : 1) : ~std::uint64_t{0};
        if (value > most) return refuse(EINVAL, "the number is too big");
        step.value = negative ? -value : value;
        return {};
    }

    Answer<std::unique_ptr<Filter>> finish() {
        // An operator at the very end has nothing to join, which Linux lets pass.
        if (expects_operand_ && !waiting_.empty()) waiting_.pop_back();
        join_down_to(Waiting::either);
        if (steps_.empty()) return refuse(EINVAL, "the filter has no predicate");
        if (steps_.size() > subsystem::kFilterSteps || texts_.size() > subsystem::kFilterTexts)
            return refuse(EINVAL, "the filter is too long");
        auto filter = std::make_unique<Filter>();
        filter->steps = static_cast<std::uint32_t>(steps_.size());
        std::ranges::copy(steps_, filter->step);
        std::ranges::copy(texts_, filter->text);
        return filter;
    }

    static constexpr std::uint16_t kUnreadable = 0xffff;  ///< beyond all texts: never holds

    std::string_view text_;
    std::span<const TraceField> own_;
    std::size_t at_ = 0;
    bool expects_operand_ = true;
    bool inverted_ = false;
    std::vector<Operator> waiting_;
    std::vector<FilterStep> steps_;
    std::string texts_;
};

}  // namespace

Answer<std::unique_ptr<Filter>> parse_filter(std::string_view text, std::span<const TraceField> own) {
    return Parser{text, own}.run();
}

}  // namespace anyperf::pmu
