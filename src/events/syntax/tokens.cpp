// tokens.cpp: a recursive descent over the characters. Each parse_* function consumes one construct and leaves the
// cursor after it.
//
//     string     = group { "," group }
//     group      = [ name ":" ] "{" item { "," item } "}" [ ":" modifiers ]  |  item
//     item       = name { ":" part } [ "/" [ term { "," term } ] "/" [ ":" ] [ tail ] ]
//     term       = name [ "=" value ]
//     tail       = part { ":" part }
//
// The grammar knows no names of events. Three characters are ambiguous all the same:
//
// - A colon separates an event from its modifiers, a system from its tracepoint, a prefix from an event ("skl::NAME")
//   and an event from its unit masks. Here all of these are parts; what they mean is decided when the names are looked
//   up.
// - A slash begins and ends terms, but is part of an address or a path after the words of kSlashIsOrdinary.
// - A comma separates terms within slashes and events outside of them.
#include "events/syntax/tokens.h"

#include <algorithm>
#include <array>

#include "events/syntax/char_set.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// Names after which a slash is an ordinary character: "mem:0x1000/8", "uprobe:/bin/true:main".
constexpr std::array<std::string_view, 5> kSlashIsOrdinary{"mem", "uprobe", "uretprobe", "kprobe", "kretprobe"};

constexpr CharSet kSpace{" \t\n\r"};
constexpr CharSet kQuote{"'\""};
// The characters that end a piece, each with the spaces:
constexpr CharSet kEndOfName = CharSet{",}/:{'\""} | kSpace;
constexpr CharSet kEndOfPart = CharSet{",}:{'\""} | kSpace;  // where a slash is an ordinary character
constexpr CharSet kEndOfTermName = CharSet{"=,/"} | kSpace;
constexpr CharSet kEndOfValue = CharSet{",/"} | kSpace;
constexpr CharSet kEndOfTail = CharSet{",}:/{"} | kSpace;
constexpr CharSet kAfterTail = CharSet{",}"} | kSpace;
constexpr CharSet kAfterPath{",}: \t\n"};
constexpr CharSet kAfterEmptyPart{":/,}"};

constexpr std::size_t kUsualParts = 4;  // of an event or its tail: "skl::EVENT:MASK"
constexpr std::size_t kUsualTerms = 4;
constexpr std::size_t kUsualItems = 4;  // of a group

/// A position in the string.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ == text_.size(); }
    bool sees(char c) const { return !at_end() && text_[at_] == c; }
    bool sees(const CharSet& set) const { return !at_end() && set.contains(text_[at_]); }
    bool consume(char c) {
        if (!sees(c)) return false;
        ++at_;
        return true;
    }
    void skip_spaces() {
        while (sees(kSpace)) ++at_;
    }
    std::size_t position() const { return at_; }
    void set_position(std::size_t at) { at_ = at; }
    /// The character at the cursor, as a view; empty at the end. It marks the place in messages.
    std::string_view here() const { return text_.substr(at_, 1); }
    std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
    std::string_view rest() const { return text_.substr(at_); }

    /// Consumes up to one of `stops` or the end.
    std::string_view until(const CharSet& stops) {
        const std::size_t begin = at_;
        std::size_t end = begin;
        while (end < text_.size() && !stops.contains(text_[end])) ++end;
        at_ = end;
        return {text_.data() + begin, end - begin};
    }

    /// Consumes 'text' or "text" and returns what is between the quotes. The cursor must be at a quote.
    Parsed<std::string_view> quoted_text() {
        const std::size_t begin = at_;
        const std::size_t end = text_.find(text_[at_], at_ + 1);
        if (end == std::string_view::npos)
            return parse_error(text_.substr(begin), "the quote is not closed", "close it with the same character");
        at_ = end + 1;
        return text_.substr(begin + 1, end - begin - 1);
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

/// A name, quoted or not. Quotes allow any character in a name, such as a comma in the name of a C++ function.
Parsed<std::string_view> piece(Cursor& cursor, const CharSet& stops) {
    if (cursor.sees(kQuote)) return cursor.quoted_text();
    return cursor.until(stops);
}

/// The value of path=, which may hold slashes. A slash ends the terms only if the event ends after it.
std::string_view path_value(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    while (!cursor.at_end() && !cursor.sees(',')) {
        const std::string_view rest = cursor.rest();
        if (rest.front() == '/' && (rest.size() == 1 || kAfterPath.contains(rest[1]))) break;
        cursor.set_position(cursor.position() + 1);
    }
    return cursor.since(begin);
}

/// Parses "name", "name=value" or "name='any text'".
Parsed<Term> term(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    Term result;
    result.name = cursor.until(kEndOfTermName);
    if (result.name.empty()) return parse_error(cursor.here(), "a term is missing here", "write name=value or name");
    if (cursor.consume('=')) {
        const bool quotes = cursor.sees(kQuote);
        result.value = quotes ? TRY(cursor.quoted_text())
                       : result.name == "path" ? path_value(cursor)
                                                : cursor.until(kEndOfValue);
                       if (result.value->empty() && !quotes)
                           return parse_error(cursor.since(begin), "the term has no value after its '='",
                                              "write name=value");
    }
    result.text = cursor.since(begin);
    return result;
}

/// Parses the terms after the first slash, up to and including the second.
Parsed<> parse_closed_terms(Cursor& cursor, std::size_t slash, Terms& terms) {
    terms.reserve(kUsualTerms);
    while (true) {
        cursor.skip_spaces();
        if (terms.empty() && cursor.consume('/')) return {};
        if (cursor.at_end())
            return parse_error(cursor.since(slash), "the '/' that ends the terms is missing", "write PMU/TERM,TERM/");
        terms.push_back(TRY(term(cursor)));
        cursor.skip_spaces();
        if (cursor.consume('/')) return {};
        if (!cursor.at_end() && !cursor.consume(','))
            return parse_error(cursor.here(), "',' or '/' was expected here", "write PMU/TERM,TERM/");
    }
}

/// Parses the modifiers after the second slash; a colon before them may be left out.
Parsed<> parse_tail(Cursor& cursor, Words& parts) {
    cursor.consume(':');
    while (!cursor.at_end() && !cursor.sees(kAfterTail)) {
        const std::string_view part = cursor.until(kEndOfTail);
        if (part.empty())
            return parse_error(cursor.here(), in_quotes(cursor.here()) + " was not expected here",
                               "write modifiers after the second slash: PMU/TERMS/u");
        parts.push_back(part);
        cursor.consume(':');
    }
    return {};
}

/// Parses one event and adds it to `items`.
Parsed<> parse_item(Cursor& cursor, std::pmr::vector<Item>& items) {
    const std::size_t begin = cursor.position();
    Item& result = items.emplace_back(items.get_allocator().resource());
    result.parts.reserve(kUsualParts);
    result.parts.push_back(TRY(piece(cursor, kEndOfName)));
    if (result.parts[0].empty())
        return parse_error(cursor.here(), "an event name is missing here", "`anyperf list` shows the names");
    const bool ordinary = std::ranges::find(kSlashIsOrdinary, result.parts[0]) != kSlashIsOrdinary.end();
    while (cursor.consume(':')) {
        const std::string_view part = TRY(piece(cursor, ordinary ? kEndOfPart : kEndOfName));
        if (part.empty() && !cursor.sees(kAfterEmptyPart) && !cursor.at_end())
            return parse_error(cursor.here(), in_quotes(cursor.here()) + " was not expected here",
                               "write NAME:MODIFIERS, as in cycles:u");
        result.parts.push_back(part);
    }
    const std::size_t slash = cursor.position();
    if (cursor.consume('/')) {
        result.slashes = true;
        TRY(parse_closed_terms(cursor, slash, result.terms));
        TRY(parse_tail(cursor, result.tail));
    }
    result.text = cursor.since(begin);
    return {};
}

/// Parses events up to and including the closing brace.
Parsed<> parse_items_in_braces(Cursor& cursor, std::size_t brace, std::pmr::vector<Item>& items) {
    while (true) {
        cursor.skip_spaces();
        if (cursor.sees('{'))
            return parse_error(cursor.here(), "a group can't contain a group", "close the first group before it");
        TRY(parse_item(cursor, items));
        cursor.skip_spaces();
        if (cursor.consume('}')) return {};
        if (cursor.at_end())
            return parse_error(cursor.since(brace), "the '}' that ends the group is missing", "write {EVENT,EVENT}");
        if (!cursor.consume(','))
            return parse_error(cursor.here(), "',' or '}' was expected here", "write {EVENT,EVENT}");
    }
}

/// Parses {EVENT,EVENT}:MODIFIERS.
Parsed<> parse_group(Cursor& cursor, GroupText& result) {
    const std::size_t brace = cursor.position();
    cursor.consume('{');
    result.braces = true;
    result.items.reserve(kUsualItems);
    TRY(parse_items_in_braces(cursor, brace, result.items));
    if (cursor.consume(':')) {
        result.modifiers = cursor.until(kEndOfTail);
        if (result.modifiers.empty())
            return parse_error(cursor.here(), "modifiers are missing after the ':'",
                               "write {EVENT,EVENT}:u, or leave the colon out");
    }
    return {};
}

/// Consumes the name and colon of "name:{a,b}"; consumes nothing and returns an empty name if the text is something
/// else. Only the '{' after the colon shows that the name was that of a group, so the cursor goes back if there is
/// none.
std::string_view group_name(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    const std::string_view name = cursor.until(kEndOfName);
    if (!name.empty() && cursor.consume(':') && cursor.sees('{')) return name;
    cursor.set_position(begin);
    return {};
}

Parsed<> parse_group_or_item(Cursor& cursor, std::pmr::vector<GroupText>& groups) {
    const std::string_view name = group_name(cursor);
    GroupText& result = groups.emplace_back(groups.get_allocator().resource());
    result.name = name;
    return cursor.sees('{') ? parse_group(cursor, result) : parse_item(cursor, result.items);
}

}  // namespace

Parsed<std::pmr::vector<GroupText>> tokenize(std::string_view text, ScratchMemory& scratch) {
    Cursor cursor{text};
    std::pmr::vector<GroupText> groups{scratch.memory()};
    while (true) {
        cursor.skip_spaces();
        TRY(parse_group_or_item(cursor, groups));
        cursor.skip_spaces();
        if (cursor.at_end()) return groups;
        if (!cursor.consume(','))
            return parse_error(cursor.here(), "',' was expected between two events",
                               "write EVENT,EVENT or {EVENT,EVENT}");
    }
}

Parsed<Terms> tokenize_terms(std::string_view text, ScratchMemory& scratch) {
    Cursor cursor{text};
    Terms terms{scratch.memory()};
    terms.reserve(kUsualTerms);
    while (true) {
        cursor.skip_spaces();
        terms.push_back(TRY(term(cursor)));
        cursor.skip_spaces();
        if (cursor.at_end()) return terms;
        if (!cursor.consume(',')) return parse_error(cursor.here(), "',' was expected here", "write TERM,TERM");
    }
}

}  // namespace anyperf::events
