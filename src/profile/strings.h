// strings.h: the texts of a profile, each stored once. Equal texts have equal ids, so that rows compare by numbers.
// Texts lie in chunks that never move, so a view of one stays valid while others are added.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "profile/table.h"

namespace anyperf::profile {

using StringId = Id<struct StringTag>;

/// Id 0 is the empty text.
class Strings {
  public:
    Strings();

    /// The id of `text`, which is copied on first use.
    StringId intern(std::string_view text);

    /// Valid as long as the table, also when it grows.
    std::string_view operator[](StringId id) const { return texts_[id.value]; }

    /// Gives the id another text, by which intern() does not find it.
    void replace(StringId id, std::string_view text) { texts_[id.value] = copy(text); }

    std::size_t size() const { return texts_.size(); }

  private:
    /// Copies the text into a chunk.
    std::string_view copy(std::string_view text);
    void grow();

    std::vector<std::string_view> texts_;
    std::vector<std::uint32_t> slots_;  // open addressing: id + 1, or 0
    std::vector<std::unique_ptr<char[]>> chunks_;
    std::size_t left_ = 0;  // bytes free at the end of the last chunk
    char* free_ = nullptr;
};

}  // namespace anyperf::profile
