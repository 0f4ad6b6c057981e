// tokens.cpp: see tokens.h.
#include "events/tokens.h"

#include <algorithm>
#include <array>

namespace anyperf::events {

namespace {

/// Names before a colon behind which a slash is an ordinary letter: "mem:0x1000/8", "uprobe:/bin/true:main".
constexpr std::array<std::string_view, 5> kSlashIsOrdinary{"mem", "uprobe", "uretprobe", "kprobe", "kretprobe"};

constexpr bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ == text_.size(); }
    bool sees(char c) const { return !at_end() && text_[at_] == c; }
    bool sees_any(std::string_view set) const { return !at_end() && set.contains(text_[at_]); }
    bool take(char c) {
        if (!sees(c)) return false;
        ++at_;
        return true;
    }
    void skip_spaces() {
        while (!at_end() && is_space(text_[at_])) ++at_;
    }
    std::size_t position() const { return at_; }
    void set_position(std::size_t at) { at_ = at; }
    /// The place itself, or the letter on it.
    std::string_view here() const { return text_.substr(at_, 1); }
    std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
    std::string_view rest() const { return text_.substr(at_); }

    /// Up to one of `stops`, a space or the end.
    std::string_view until(std::string_view stops) {
        const std::size_t begin = at_;
        while (!at_end() && !is_space(text_[at_]) && !stops.contains(text_[at_])) ++at_;
        return since(begin);
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

Parsed<std::string_view> piece(Cursor& cursor, std::string_view stops) {
    if (cursor.sees_any("'\"")) return cursor.quoted_text();
    return cursor.until(stops);
}

/// The value of path= holds slashes: one that ends the terms is followed by the end of the event.
std::string_view path_value(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    while (!cursor.at_end() && !cursor.sees(',')) {
        const std::string_view rest = cursor.rest();
        if (rest.front() == '/' && (rest.size() == 1 || std::string_view{",}: \t\n"}.contains(rest[1]))) break;
        cursor.set_position(cursor.position() + 1);
    }
    return cursor.since(begin);
}

Parsed<Term> term(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    Term result;
    result.name = cursor.until("=,/");
    if (result.name.empty()) return fault(cursor.here(), "a term is missing here", "write name=value or name");
    if (cursor.take('=')) {
        const bool quotes = cursor.sees_any("'\"");
        result.value = quotes ? TRY(cursor.quoted_text())
                       : result.name == "path" ? path_value(cursor)
                                                : cursor.until(",/");
                       if (result.value->empty() && !quotes)
                           return fault(cursor.since(begin), "the term has no value behind its '='",
                                        "write name=value");
    }
    result.text = cursor.since(begin);
    return result;
}

/// Behind the first slash, up to and with the second.
Parsed<std::vector<Term>> closed_terms(Cursor& cursor, std::size_t slash) {
    std::vector<Term> terms;
    while (true) {
        cursor.skip_spaces();
        if (terms.empty() && cursor.take('/')) return terms;
        if (cursor.at_end())
            return fault(cursor.since(slash), "the '/' that ends the terms is missing", "write PMU/TERM,TERM/");
        terms.push_back(TRY(term(cursor)));
        cursor.skip_spaces();
        if (cursor.take('/')) return terms;
        if (!cursor.at_end() && !cursor.take(','))
            return fault(cursor.here(), "',' or '/' was expected here", "write PMU/TERM,TERM/");
    }
}

Parsed<std::vector<std::string_view>> tail(Cursor& cursor) {
    std::vector<std::string_view> parts;
    cursor.take(':');
    while (!cursor.at_end() && !cursor.sees_any(",} \t\n\r")) {
        const std::string_view part = cursor.until(",}:/{");
        if (part.empty())
            return fault(cursor.here(), in_quotes(cursor.here()) + " was not expected here",
                         "modifiers stand behind the second slash: PMU/TERMS/u");
        parts.push_back(part);
        cursor.take(':');
    }
    return parts;
}

Parsed<Item> item(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    Item result;
    result.parts.push_back(TRY(piece(cursor, ",}/:{'\"")));
    if (result.parts[0].empty())
        return fault(cursor.here(), "the name of an event is missing here", "`anyperf list` shows the names");
    const bool ordinary = std::ranges::find(kSlashIsOrdinary, result.parts[0]) != kSlashIsOrdinary.end();
    while (cursor.take(':')) {
        const std::string_view part = TRY(piece(cursor, ordinary ? ",}:{'\"" : ",}/:{'\""));
        if (part.empty() && !cursor.sees_any(":/,}") && !cursor.at_end())
            return fault(cursor.here(), in_quotes(cursor.here()) + " was not expected here",
                         "write NAME:MODIFIERS, as in cycles:u");
        result.parts.push_back(part);
    }
    const std::size_t slash = cursor.position();
    if (cursor.take('/')) {
        result.slashes = true;
        result.terms = TRY(closed_terms(cursor, slash));
        result.tail = TRY(tail(cursor));
    }
    result.text = cursor.since(begin);
    return result;
}

/// Events up to the closing brace, which is taken.
Parsed<std::vector<Item>> items_in_braces(Cursor& cursor, std::size_t brace) {
    std::vector<Item> items;
    while (true) {
        cursor.skip_spaces();
        if (cursor.sees('{')) return fault(cursor.here(), "a group inside a group", "close the first one before it");
        items.push_back(TRY(item(cursor)));
        cursor.skip_spaces();
        if (cursor.take('}')) return items;
        if (cursor.at_end())
            return fault(cursor.since(brace), "the '}' that ends the group is missing", "write {EVENT,EVENT}");
        if (!cursor.take(',')) return fault(cursor.here(), "',' or '}' was expected here", "write {EVENT,EVENT}");
    }
}

Parsed<GroupText> group(Cursor& cursor, std::string_view name) {
    const std::size_t brace = cursor.position();
    cursor.take('{');
    GroupText result {
        name, {}, TRY(items_in_braces(cursor, brace))
        , true
    };
    if (cursor.take(':')) {
        result.modifiers = cursor.until(",}{:/");
        if (result.modifiers.empty())
            return fault(cursor.here(), "modifiers are missing behind the ':'",
                         "write {EVENT,EVENT}:u, or leave the colon out");
    }
    return result;
}

/// The name in "name:{a,b}", taken with its colon; empty where no such thing stands here.
std::string_view group_name(Cursor& cursor) {
    const std::size_t begin = cursor.position();
    const std::string_view name = cursor.until(",}/:{'\"");
    if (!name.empty() && cursor.take(':') && cursor.sees('{')) return name;
    cursor.set_position(begin);
    return {};
}

Parsed<GroupText> group_or_item(Cursor& cursor) {
    const std::string_view name = group_name(cursor);
    if (cursor.sees('{')) return group(cursor, name);
    GroupText alone;
    alone.items.push_back(TRY(item(cursor)));
    return alone;
}

}  // namespace

Parsed<std::vector<GroupText>> tokenize(std::string_view text) {
    Cursor cursor{text};
    std::vector<GroupText> groups;
    while (true) {
        cursor.skip_spaces();
        groups.push_back(TRY(group_or_item(cursor)));
        cursor.skip_spaces();
        if (cursor.at_end()) return groups;
        if (!cursor.take(','))
            return fault(cursor.here(), "',' was expected between two events", "write EVENT,EVENT or {EVENT,EVENT}");
    }
}

Parsed<std::vector<Term>> tokenize_terms(std::string_view text) {
    Cursor cursor{text};
    std::vector<Term> terms;
    while (true) {
        cursor.skip_spaces();
        terms.push_back(TRY(term(cursor)));
        cursor.skip_spaces();
        if (cursor.at_end()) return terms;
        if (!cursor.take(',')) return fault(cursor.here(), "',' was expected here", "write TERM,TERM");
    }
}

}  // namespace anyperf::events
