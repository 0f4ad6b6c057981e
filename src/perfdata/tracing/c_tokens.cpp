#include "perfdata/tracing/c_tokens.h"

#include <array>

namespace anyperf::perfdata {

namespace {

bool is_digit(char each) {
    return each >= '0' && each <= '9';
}

bool is_word(char each) {
    return each == '_' || is_digit(each) || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
}

constexpr std::array<std::string_view, 9> kPairs{"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};

std::size_t sign_size(std::string_view source) {
    for (const std::string_view pair : kPairs)
        if (source.starts_with(pair)) return 2;
    return 1;
}

/// Where the literal that begins at source[0] ends: at its closing quote, which is the opening one; npos without it.
std::size_t end_of_literal(std::string_view source) {
    for (std::size_t i = 1; i < source.size(); ++i) {
        if (source[i] == '\\')
            ++i;
        else if (source[i] == source[0])
            return i;
    }
    return std::string_view::npos;
}

}  // namespace

CToken take_token(std::string_view& source) {
    const auto begin = source.find_first_not_of(" \t\n");
    source.remove_prefix(std::min(begin, source.size()));
    if (source.empty()) return {};
    CToken token;
    std::size_t size = 0;
    if (source[0] == '"' || source[0] == '\'') {
        const std::size_t end = end_of_literal(source);
        if (end == std::string_view::npos) return {CToken::Kind::bad, {}};
        token = {source[0] == '"' ? CToken::Kind::text : CToken::Kind::character, source.substr(1, end - 1)};
        size = end + 1;
    } else if (is_word(source[0])) {
        while (size < source.size() && is_word(source[size])) ++size;
        token = {is_digit(source[0]) ? CToken::Kind::number : CToken::Kind::name, source.substr(0, size)};
    } else {
        size = sign_size(source);
        token = {CToken::Kind::sign, source.substr(0, size)};
    }
    source.remove_prefix(size);
    return token;
}

std::string unescaped(std::string_view literal) {
    std::string text;
    for (std::size_t i = 0; i < literal.size(); ++i) {
        if (literal[i] != '\\' || i + 1 == literal.size()) {
            text += literal[i];
            continue;
        }
        switch (literal[++i]) {
            case 'n': text += '\n'; break;
            case 't': text += '\t'; break;
            case 'r': text += '\r'; break;
            default: text += literal[i];
        }
    }
    return text;
}

}  // namespace anyperf::perfdata
