// key_widths.h: how wide the columns of keys are. The texts are made anew when a row is written: a report may have a
// hundred thousand rows, and to keep them would take more time than to make them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/report/number_columns.h"
#include "profile/rows.h"

namespace anyperf::cli {

class KeyWidths {
  public:
    KeyWidths(const profile::Profile& profile, const std::vector<GroupRow>& rows,
              const std::vector<profile::Key>& keys) {
        for (const profile::Key key : keys) widths_.push_back(title_of(profile, key).size());
        std::string text;
        for (const GroupRow& row : rows) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                text.clear();
                append_key_text(profile, keys[i], row.example(), text);
                if (keys[i] == profile::Key::dso && has_no_symbol(profile, row.example()))
                    widths_[i] = std::max(widths_[i], kAddress);
                widths_[i] = std::max(widths_[i], std::min(kWidest, text.size()));
            }
        }
    }

    std::size_t of(std::size_t key) const { return widths_[key]; }

  private:
    static bool has_no_symbol(const profile::Profile& profile, const profile::Row& row) {
        return profile.locations[row.place].frame_count == 0;
    }

    /// The digits of an address: with a sample in a function without a name, perf has so many for the objects
    /// (hists__set_unres_dso_col_len()).
    static constexpr std::size_t kAddress = 16;
    static constexpr std::size_t kWidest = 60;  // longer texts push the following columns of their row

    std::vector<std::size_t> widths_;
};

}  // namespace anyperf::cli
