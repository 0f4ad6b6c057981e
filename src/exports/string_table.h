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

    /// The number of a text, which is added if it is new.
    std::uint64_t at(std::string_view text) {
        const auto [place, fresh] = numbers_.try_emplace(std::string{text}, texts_.size());
        if (fresh) texts_.emplace_back(text);
        return place->second;
    }

    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::unordered_map<std::string, std::uint64_t> numbers_;
    std::vector<std::string> texts_;
};

}  // namespace anyperf::exports
