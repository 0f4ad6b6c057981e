// diff.cpp: which differences between recordings are more than chance. The share of a row is a proportion: the part of
// n samples that are in this function. Two proportions are compared by the z test for equal proportions. Two facts make
// it fit samples of profiles:
//
// - Samples have weights (periods), and n counts independent samples of equal weight. Kish's effective sample size,
//   (sum of weights)^2 / (sum of squares), is the n that has the same variance.
// - A profile has many rows, and of a thousand comparisons fifty would be "significant" at 5 % by chance. So the level
//   is divided by the number of rows that are tested (Bonferroni).
//
// The approximation by the normal distribution needs some samples in the row and outside of it; a row with fewer is not
// tested.
#include "profile/diff.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace anyperf::profile {

namespace {

constexpr double kLevel = 0.05;
constexpr double kLeastExpected = 5.0;  // samples: the usual limit of the normal approximation

/// Kish's effective sample size. A row of several samples counts as that many of its mean weight.
double effective_samples(const DiffInput& input) {
    double sum = 0.0, squares = 0.0;
    for (const Sample& sample : input.profile->samples) {
        if (input.profile->contexts[sample.context].event != input.event || sample.count == 0) continue;
        const auto weight = static_cast<double>(sample.weight);
        sum += weight;
        squares += weight * weight / static_cast<double>(sample.count);
    }
    return squares > 0.0 ? sum * sum / squares : 0.0;
}

/// Tests a cell against the first recording's; returns whether there were enough samples. The two shares have one
/// common value if nothing has changed; the z test divides their difference by the standard deviation that follows from
/// it. erfc() gives the probability of a larger difference in either direction.
bool test(const DiffTotal& base_total, const DiffCell& base, const DiffTotal& total, DiffCell& cell) {
    const double n1 = base_total.effective_samples, n2 = total.effective_samples;
    if (n1 <= 0.0 || n2 <= 0.0) return false;
    const double common = (base.share * n1 + cell.share * n2) / (n1 + n2);
    if (common * std::min(n1, n2) < kLeastExpected || (1.0 - common) * std::min(n1, n2) < kLeastExpected) return false;
    cell.z = cell.delta / std::sqrt(common * (1.0 - common) * (1.0 / n1 + 1.0 / n2));
    cell.probability = std::erfc(std::abs(cell.z) / std::sqrt(2.0));
    return true;
}

void test_recording(Diff& diff, std::size_t which) {
    std::vector<DiffCell*> tested;
    for (DiffRow& row : diff.rows) {
        DiffCell& cell = row.cells[which];
        cell.delta = cell.share - row.cells.front().share;
        if (test(diff.totals.front(), row.cells.front(), diff.totals[which], cell)) tested.push_back(&cell);
    }
    for (DiffCell* cell : tested) cell->significant = cell->probability < kLevel / static_cast<double>(tested.size());
}

}  // namespace

// A row that a recording lacks has a cell of zeros there: a share of 0, which is compared like any other. The rows with
// the largest change in the last recording come first.
Diff compare(const std::vector<DiffInput>& inputs, const std::vector<Key>& keys) {
    Diff diff;
    std::map<std::vector<std::string>, std::vector<DiffCell>> by_keys;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DiffInput& input = inputs[i];
        const Rows rows = sum_up(*input.profile, input.event, {.keys = keys, .admitted = input.admitted});
        diff.totals.push_back({rows.samples, rows.weight, effective_samples(input)});
        for (const Row& row : rows.rows) {
            std::vector<std::string> texts;
            texts.reserve(keys.size());
            for (const Key key : keys) texts.push_back(key_text(*input.profile, key, row));
            auto& cells = by_keys[texts];
            cells.resize(inputs.size());
            // Two functions of one name are one row.
            cells[i].samples += row.samples;
            cells[i].weight += row.self;
        }
    }
    for (auto& [texts, cells] : by_keys) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (diff.totals[i].weight != 0)
                cells[i].share = static_cast<double>(cells[i].weight) / static_cast<double>(diff.totals[i].weight);
        diff.rows.push_back({texts, std::move(cells)});
    }
    for (std::size_t i = 1; i < inputs.size(); ++i) test_recording(diff, i);
    std::ranges::stable_sort(diff.rows, std::greater{},
                             [](const DiffRow& row) { return std::abs(row.cells.back().delta); });
    return diff;
}

}  // namespace anyperf::profile
