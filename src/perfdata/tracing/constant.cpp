#include "perfdata/tracing/constant.h"

#include <algorithm>
#include <array>

#include "perfdata/tracing/event_format.h"

namespace anyperf::perfdata {

namespace {

struct Enumerator {
    std::string_view name;
    std::int64_t value;
};
// Of enum hrtimer_restart and of the softirqs (include/linux/hrtimer.h and interrupt.h of Linux).
constexpr std::array kEnumerators{
    Enumerator{"HI_SOFTIRQ", 0},      Enumerator{"TIMER_SOFTIRQ", 1},     Enumerator{"NET_TX_SOFTIRQ", 2},
    Enumerator{"NET_RX_SOFTIRQ", 3},  Enumerator{"BLOCK_SOFTIRQ", 4},     Enumerator{"IRQ_POLL_SOFTIRQ", 5},
    Enumerator{"TASKLET_SOFTIRQ", 6}, Enumerator{"SCHED_SOFTIRQ", 7},     Enumerator{"HRTIMER_SOFTIRQ", 8},
    Enumerator{"RCU_SOFTIRQ", 9},     Enumerator{"HRTIMER_NORESTART", 0}, Enumerator{"HRTIMER_RESTART", 1},
};

std::uint64_t compared(std::string_view op, std::uint64_t left, std::uint64_t right) {
    if (op == "==") return left == right;
    if (op == "!=") return left != right;
    if (op == "<") return left < right;
    if (op == ">") return left > right;
    if (op == "<=") return left <= right;
    if (op == ">=") return left >= right;
    if (op == "&&") return left != 0 && right != 0;
    return left != 0 || right != 0;
}

std::uint64_t constant(const Expression& expression) {
    using Kind = Expression::Kind;
    const auto part = [&](std::size_t i) { return constant(expression.parts[i]); };
    switch (expression.kind) {
        case Kind::number: return expression.number;
        case Kind::cast: return part(0);
        case Kind::unary: return applied(expression.op, 0, part(0));
        case Kind::binary: return applied(expression.op, part(0), part(1));
        case Kind::conditional: return part(0) != 0 ? part(1) : part(2);
        default: return 0;
    }
}

}  // namespace

std::uint64_t applied(std::string_view op, std::uint64_t left, std::uint64_t right) {
    if (op.size() == 2 && op != "<<" && op != ">>") return compared(op, left, right);
    switch (op[0]) {
        case '|': return left | right;
        case '^': return left ^ right;
        case '&': return left & right;
        case '+': return left + right;
        case '-': return left - right;
        case '*': return left * right;
        case '/': return right == 0 ? 0 : left / right;
        case '%': return right == 0 ? 0 : left % right;
        case '!': return right == 0;
        case '~': return ~right;
        default: break;
    }
    if (op == "<" || op == ">") return compared(op, left, right);
    // C leaves larger shifts open; x86 takes the number modulo 64, and so does perf's library there.
    return op == "<<" ? left << (right & 63) : left >> (right & 63);
}

std::uint64_t converted(std::string_view type, std::uint64_t value) {
    if (type.ends_with('*')) return value;
    switch (type_bytes(type)) {
        case 1: return value & 0xff;
        case 2: return value & 0xffff;
        case 4: return value & 0xffff'ffff;
        default: return value;
    }
}

std::optional<std::int64_t> value_of_enumerator(std::string_view name) {
    const auto row = std::ranges::find(kEnumerators, name, &Enumerator::name);
    if (row == kEnumerators.end()) return std::nullopt;
    return row->value;
}

std::int64_t value_of_key(const Expression& key) {
    if (key.kind == Expression::Kind::number && !key.text.empty())
        return value_of_enumerator(key.text).value_or(kUnknownEnumerator);
    return static_cast<std::int64_t>(constant(key));
}

}  // namespace anyperf::perfdata
