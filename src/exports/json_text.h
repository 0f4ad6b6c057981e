// json_text.h: writes JSON piece by piece, so that a large profile is never held as a document. The caller opens and
// closes objects and arrays in order; JsonText places the commas. Nothing checks that the result is well formed: a
// missing close() or a key without a value is a defect of the caller, which the tests of each format find.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace anyperf::exports {

class JsonText {
  public:
    /// Takes a part of the text. What it has taken is forgotten here.
    using TakePart = std::function<void(std::string_view)>;

    JsonText() = default;
    /// `take_part`, if there is one, gets the text at the ends of lines in parts of kPart bytes and some more.
    explicit JsonText(TakePart take_part) : take_part_(std::move(take_part)) {}

    JsonText& open(char bracket) {  // '{' or '['
        separate();
        text_ += bracket;
        first_ = true;
        return *this;
    }
    JsonText& close(char bracket) {
        text_ += bracket;
        first_ = false;
        return *this;
    }
    /// The name of the next value.
    JsonText& key(std::string_view name) {
        separate();
        quote(name);
        text_ += ':';
        first_ = true;
        return *this;
    }
    /// Bytes that are not UTF-8 become U+FFFD.
    JsonText& value(std::string_view text) {
        separate();
        quote(text);
        return *this;
    }
    JsonText& value(const char* text) { return value(std::string_view{text}); }
    JsonText& value(std::integral auto number) {
        separate();
        if constexpr (std::same_as<decltype(number), bool>)
            text_ += number ? "true" : "false";
        else
            text_ += std::to_string(number);
        return *this;
    }
    JsonText& null() { return raw("null"); }
    /// Nanoseconds as a decimal number of units of `divisor` ns, exactly: 1500000 by 1000000 is 1.5.
    JsonText& time(std::uint64_t ns, std::uint64_t divisor);
    /// A value that is JSON already.
    JsonText& raw(std::string_view json) {
        separate();
        text_ += json;
        return *this;
    }
    template <class Value>
    JsonText& member(std::string_view name, const Value& content) {
        return key(name).value(content);
    }
    JsonText& line() {
        text_ += '\n';
        if (take_part_ && text_.size() >= kPart) {
            take_part_(text_);
            text_.clear();
        }
        return *this;
    }

    /// The text that was not taken yet.
    std::string take() { return std::move(text_); }

  private:
    void separate() {
        if (!first_) text_ += ',';
        first_ = false;
    }
    void quote(std::string_view text);

    static constexpr std::size_t kPart = 1 << 20;

    std::string text_;
    TakePart take_part_;
    bool first_ = true;  // no comma before the next value: after a bracket, a name, or at the start
};

}  // namespace anyperf::exports
