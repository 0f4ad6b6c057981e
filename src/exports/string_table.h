// string_table.h: the string table of pprof and of OTLP profiles: texts by number, number 0 is "".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace anyperf::exports {

/// Texts in the order of their numbers.
class StringTable {
  public:
    StringTable() { at(""); }

    /// The number of a text, which is added if it is new. Protobuf texts must be UTF-8; other bytes become '?'.
    std::uint64_t at(std::string_view text) {
        const auto [place, fresh] = numbers_.try_emplace(std::string{text}, texts_.size());
        if (fresh) texts_.push_back(valid_utf8(text));
        return place->second;
    }

    const std::vector<std::string>& texts() const { return texts_; }

  private:
    static std::string valid_utf8(std::string_view text);

    std::unordered_map<std::string, std::uint64_t> numbers_;
    std::vector<std::string> texts_;
};

}  // namespace anyperf::exports
