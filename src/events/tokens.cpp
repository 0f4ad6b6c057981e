// tokens.cpp: see tokens.h.
#include "events/tokens.h"

#include <algorithm>
#include <array>

#include "events/letters.h"

namespace anyperf::events {

namespace {

/// Names before a colon behind which a slash is an ordinary letter: "mem:0x1000/8", "uprobe:/bin/true:main".
constexpr std::array<std::string_view, 5> kSlashIsOrdinary{"mem", "uprobe", "uretprobe", "kprobe", "kretprobe"};

constexpr Letters kSpace{" \t\n\r"};
constexpr Letters kQuote{"'\""};
// What ends a piece, each with the spaces:
constexpr Letters kEndOfName = Letters{",}/:{'\""} | kSpace;
constexpr Letters kEndOfPart = Letters{",}:{'\""} | kSpace;  // where a slash is an ordinary letter
constexpr Letters kEndOfTermName = Letters{"=,/"} | kSpace;
constexpr Letters kEndOfValue = Letters{",/"} | kSpace;
constexpr Letters kEndOfTail = Letters{",}:/{"} | kSpace;
constexpr Letters kBehindTail = Letters{",}"} | kSpace;
constexpr Letters kBehindPath{",}: \t\n"};
constexpr Letters kBehindEmptyPart{":/,}"};

constexpr std::size_t kUsualParts = 4;  // of an event or its tail: "skl::EVENT:MASK"
constexpr std::size_t kUsualTerms = 4;
constexpr std::size_t kUsualItems = 4;  // of a group

class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ == text_.size(); }
    bool sees(char c) const { return !at_end() && text_[at_] == c; }
    bool sees(const Letters& set) const { return !at_end() && set.contains(text_[at_]); }
    bool take(char c) {
        if (!sees(c)) return false;
        ++at_;
        return true;
    }
    void skip_spaces() {
        while (sees(kSpace)) ++at_;
    }
    std::size_t position() const { return at_; }
    void set_position(std::size_t at) { at_ = at; }
    /// The place itself, or the letter on it.
    std::string_view here() const { return text_.substr(at_, 1); }
    std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
    std::string_view rest() const { return text_.substr(at_); }

    /// Up to one of `stops` or the end.
    std::string_view until(const Letters& stops) {
        const std::size_t begin = at_;
        std::size_t end = begin;
        while (end < text_.size() && !stops.contains(text_[end])) ++end;
        at_ = end;
        return {text_.data() + begin, end - begin};
    }

    /// 'text' or "text": what is between the quotes. Only where a quote is seen.
    Parsed<std::string_view> quoted_text() {
        const std::size_t begin = at_;
        const std::size_t end = text_.find(text_[at_], at_ + 1);
        if (end == std::string_view::npos)
            return fault(text_.substr(begin), "the quote is not closed", "close it with the same character");
        at_ = end + 1;
        return text_.substr(begin + 1, end - begin - 1);
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

Parsed<std::string_view> piece(Cursor& cursor, const Letters& stops) {
    if (cursor.sees(kQuote)) return cursor.quoted_text();
    return cursor.until(stops);
}

/// The value of path= holds slashes: one that ends the terms is followed by the end of the event.
std::string_view path_value(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    while (!cursor.at_end() && !cursor.sees(',')) {
        const std::string_view rest = cursor.rest();
        if (rest.front() == '/' && (rest.size() == 1 || kBehindPath.contains(rest[1]))) break;
        cursor.set_position(cursor.position() + 1);
    }
    return cursor.since(begin);
}

Parsed<Term> term(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    Term result;
    result.name = cursor.until(kEndOfTermName);
    if (result.name.empty()) return fault(cursor.here(), "a term is missing here", "write name=value or name");
    if (cursor.take('=')) {
        const bool quotes = cursor.sees(kQuote);
        result.value = quotes ? TRY(cursor.quoted_text())
                       : result.name == "path" ? path_value(cursor)
                                                : cursor.until(kEndOfValue);
                       if (result.value->empty() && !quotes)
                           return fault(cursor.since(begin), "the term has no value behind its '='",
                                        "write name=value");
    }
    result.text = cursor.since(begin);
    return result;
}

/// Behind the first slash, up to and with the second.
Parsed<> take_closed_terms(Cursor& cursor, std::size_t slash, Terms& terms) {
    terms.reserve(kUsualTerms);
    while (true) {
        cursor.skip_spaces();
        if (terms.empty() && cursor.take('/')) return {};
        if (cursor.at_end())
            return fault(cursor.since(slash), "the '/' that ends the terms is missing", "write PMU/TERM,TERM/");
        terms.push_back(TRY(term(cursor)));
        cursor.skip_spaces();
        if (cursor.take('/')) return {};
        if (!cursor.at_end() && !cursor.take(','))
            return fault(cursor.here(), "',' or '/' was expected here", "write PMU/TERM,TERM/");
    }
}

Parsed<> take_tail(Cursor& cursor, Words& parts) {
    cursor.take(':');
    while (!cursor.at_end() && !cursor.sees(kBehindTail)) {
        const std::string_view part = cursor.until(kEndOfTail);
        if (part.empty())
            return fault(cursor.here(), in_quotes(cursor.here()) + " was not expected here",
                         "modifiers stand behind the second slash: PMU/TERMS/u");
        parts.push_back(part);
        cursor.take(':');
    }
    return {};
}

/// One event, added to `items`.
Parsed<> take_item(Cursor& cursor, std::pmr::vector<Item>& items) {
    const std::size_t begin = cursor.position();
    Item& result = items.emplace_back(items.get_allocator().resource());
    result.parts.reserve(kUsualParts);
    result.parts.push_back(TRY(piece(cursor, kEndOfName)));
    if (result.parts[0].empty())
        return fault(cursor.here(), "the name of an event is missing here", "`anyperf list` shows the names");
    const bool ordinary = std::ranges::find(kSlashIsOrdinary, result.parts[0]) != kSlashIsOrdinary.end();
    while (cursor.take(':')) {
        const std::string_view part = TRY(piece(cursor, ordinary ? kEndOfPart : kEndOfName));
        if (part.empty() && !cursor.sees(kBehindEmptyPart) && !cursor.at_end())
            return fault(cursor.here(), in_quotes(cursor.here()) + " was not expected here",
                         "write NAME:MODIFIERS, as in cycles:u");
        result.parts.push_back(part);
    }
    const std::size_t slash = cursor.position();
    if (cursor.take('/')) {
        result.slashes = true;
        TRY(take_closed_terms(cursor, slash, result.terms));
        TRY(take_tail(cursor, result.tail));
    }
    result.text = cursor.since(begin);
    return {};
}

/// Events up to the closing brace, which is taken.
Parsed<> take_items_in_braces(Cursor& cursor, std::size_t brace, std::pmr::vector<Item>& items) {
    while (true) {
        cursor.skip_spaces();
        if (cursor.sees('{')) return fault(cursor.here(), "a group inside a group", "close the first one before it");
        TRY(take_item(cursor, items));
        cursor.skip_spaces();
        if (cursor.take('}')) return {};
        if (cursor.at_end())
            return fault(cursor.since(brace), "the '}' that ends the group is missing", "write {EVENT,EVENT}");
        if (!cursor.take(',')) return fault(cursor.here(), "',' or '}' was expected here", "write {EVENT,EVENT}");
    }
}

Parsed<> take_group(Cursor& cursor, GroupText& result) {
    const std::size_t brace = cursor.position();
    cursor.take('{');
    result.braces = true;
    result.items.reserve(kUsualItems);
    TRY(take_items_in_braces(cursor, brace, result.items));
    if (cursor.take(':')) {
        result.modifiers = cursor.until(kEndOfTail);
        if (result.modifiers.empty())
            return fault(cursor.here(), "modifiers are missing behind the ':'",
                         "write {EVENT,EVENT}:u, or leave the colon out");
    }
    return {};
}

/// The name in "name:{a,b}", taken with its colon; empty where no such thing stands here.
std::string_view group_name(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    const std::string_view name = cursor.until(kEndOfName);
    if (!name.empty() && cursor.take(':') && cursor.sees('{')) return name;
    cursor.set_position(begin);
    return {};
}

Parsed<> take_group_or_item(Cursor& cursor, std::pmr::vector<GroupText>& groups) {
    const std::string_view name = group_name(cursor);
    GroupText& result = groups.emplace_back(groups.get_allocator().resource());
    result.name = name;
    return cursor.sees('{') ? take_group(cursor, result) : take_item(cursor, result.items);
}

}  // namespace

Parsed<std::pmr::vector<GroupText>> tokenize(std::string_view text, Room& room) {
    Cursor cursor{text};
    std::pmr::vector<GroupText> groups{room.memory()};
    while (true) {
        cursor.skip_spaces();
        TRY(take_group_or_item(cursor, groups));
        cursor.skip_spaces();
        if (cursor.at_end()) return groups;
        if (!cursor.take(','))
            return fault(cursor.here(), "',' was expected between two events", "write EVENT,EVENT or {EVENT,EVENT}");
    }
}

Parsed<Terms> tokenize_terms(std::string_view text, Room& room) {
    Cursor cursor{text};
    Terms terms{room.memory()};
    terms.reserve(kUsualTerms);
    while (true) {
        cursor.skip_spaces();
        terms.push_back(TRY(term(cursor)));
        cursor.skip_spaces();
        if (cursor.at_end()) return terms;
        if (!cursor.take(',')) return fault(cursor.here(), "',' was expected here", "write TERM,TERM");
    }
}

}  // namespace anyperf::events
