// symbol_table.cpp: chooses one symbol for an address at which a file has several. Symbol tables contain aliases,
// labels without a size, and weak and local names at the same address. Users compare reports with perf's, so the rules
// and their order are those of tools/perf/util/symbol.c: close the ends, then keep the best symbol of each address
// (choose_best_symbol()).
//
// A rank packs the properties that decide into one number, from the most to the least important: has a size, has a
// type, is not weak, is global. Names are compared only between equal ranks, since demangling is slow.
#include "symbols/symbol_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "symbols/demangle.h"

namespace anyperf::symbols {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint8_t kTyped = 1 << 2;
constexpr std::uint8_t kSized = 1 << 3;  // highest bit of a packed rank: a symbol with a size always wins

std::uint8_t rank_bits(SymbolRank rank, std::uint64_t size) {
    return static_cast<std::uint8_t>((size != 0 ? kSized : 0) | (rank.typed ? kTyped : 0) | !rank.weak << 1 |
                                     rank.global);
}

std::size_t leading_underscores(std::string_view name) {
    return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

std::optional<SymbolTable> SymbolTable::of(std::span<const Symbol> symbols, std::span<const char> texts,
                                           std::shared_ptr<const void> owner, std::function<void()> give_back) {
    const bool named = std::ranges::all_of(symbols, [&](const Symbol& each) { return each.name < texts.size(); });
    if (!named || (!texts.empty() && texts.back() != '\0') || !std::ranges::is_sorted(symbols, {}, &Symbol::start))
        return {};
    SymbolTable table;
    table.owner_ = std::move(owner);
    table.shared_symbols_ = symbols;
    table.shared_texts_ = texts;
    table.give_back_ = std::move(give_back);
    return table;
}

// Offsets of names have 32 bits, for these texts and for those of add().
void SymbolTable::use_texts(std::span<const char> texts, std::shared_ptr<const void> owner) {
    owner_ = std::move(owner);
    shared_texts_ = texts;
}

void SymbolTable::reserve(std::size_t symbols) {
    symbols_.reserve(symbols);
    ranks_.reserve(symbols);
}

void SymbolTable::add_at(std::uint64_t start, std::uint64_t size, std::uint32_t name, SymbolRank rank) {
    const std::uint64_t end = size <= ~std::uint64_t{0} - start ? start + size : ~std::uint64_t{0};
    symbols_.push_back({start, end, name, rank.data ? 1u : 0u});
    ranks_.push_back(rank_bits(rank, size));
}

void SymbolTable::add(std::uint64_t start, std::uint64_t size, std::string_view name, SymbolRank rank) {
    add_at(start, size, static_cast<std::uint32_t>(shared_texts_.size() + texts_.size()), rank);
    texts_.insert(texts_.end(), name.begin(), name.end());
    texts_.push_back('\0');
}

namespace {

/// Whether two mangled names are those of one constructor or destructor: they differ in one digit, which says for which
/// object it is ("C1", "D2"; Itanium C++ ABI, 5.1.4.3).
bool are_variants(std::string_view one, std::string_view other) {
    if (one.size() != other.size() || !one.starts_with("_Z") || !other.starts_with("_Z")) return false;
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
    return at == one.size() ||
           ((one[at - 1] == 'C' || one[at - 1] == 'D') && one.substr(at + 1) == other.substr(at + 1));
}

}  // namespace

bool SymbolTable::is_better(std::size_t one, std::size_t other) const {
    if (ranks_[one] != ranks_[other]) return ranks_[one] > ranks_[other];
    // perf compares demangled names. The aliases of a constructor (C1, C2) demangle to the same name, so either may be
    // kept.
    if (are_variants(name(symbols_[one]), name(symbols_[other]))) return false;
    const std::string a = demangle(name(symbols_[one])), b = demangle(name(symbols_[other]));
    if (leading_underscores(a) != leading_underscores(b)) return leading_underscores(a) < leading_underscores(b);
    return a.size() > b.size();
}

// The starts are copied beside the indices: comparing through symbols_ would miss the cache at each step. Stubs of a
// PLT are added to a table that is sorted: only they are sorted then.
std::vector<std::uint32_t> SymbolTable::order_by_start() const {
    std::vector<std::uint32_t> order(symbols_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto sorted = std::ranges::is_sorted_until(symbols_, {}, &Symbol::start) - symbols_.begin();
    if (sorted == std::ssize(symbols_)) return order;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> starts;
    starts.reserve(symbols_.size());
    for (const std::uint32_t i : order) starts.emplace_back(symbols_[i].start, i);
    std::ranges::sort(starts.begin() + sorted, starts.end());
    std::ranges::inplace_merge(starts, starts.begin() + sorted);
    std::ranges::transform(starts, order.begin(), &std::pair<std::uint64_t, std::uint32_t>::second);
    return order;
}

// A symbol without a size that begins within a function with one is a place in it, such as where a system call returns
// to: its instructions are the function's. perf shows one or the other, by the shape of its tree of symbols
// (symbols__find() in tools/perf/util/symbol.c).
void SymbolTable::drop_inner_labels(std::vector<std::uint32_t>& order) const {
    std::uint64_t start = 0, end = 0;  // of the function that reaches farthest so far
    std::erase_if(order, [&](std::uint32_t index) {
        const Symbol& symbol = symbols_[index];
        const bool has_size = (ranks_[index] & kSized) != 0;
        if (has_size && (ranks_[index] & kTyped) != 0 && symbol.is_data == 0 && symbol.end > end) {
            start = symbol.start;
            end = symbol.end;
        }
        return !has_size && symbol.start > start && symbol.start < end;
    });
}

// If the last symbol has no size, it ends where perf ends it: one page after the next page boundary
// (symbols__fixup_end()).
void SymbolTable::close_ends(const std::vector<std::uint32_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
        Symbol& symbol = symbols_[order[i]];
        if (symbol.end != symbol.start) continue;
        const bool last = i + 1 == order.size();
        symbol.end = last ? ((symbol.start - 1) | (kPage - 1)) + 1 + kPage : symbols_[order[i + 1]].start;
        if (symbol.end != symbol.start) ranks_[order[i]] |= kSized;
    }
}

std::vector<std::uint32_t> SymbolTable::best_of_each_start(const std::vector<std::uint32_t>& order) const {
    std::vector<std::uint32_t> kept;
    kept.reserve(order.size());
    for (const std::uint32_t index : order) {
        if (kept.empty() || symbols_[kept.back()].start != symbols_[index].start)
            kept.push_back(index);
        else if (is_better(index, kept.back()))
            kept.back() = index;
    }
    return kept;
}

// perf closes ends before it drops duplicates (symbols__fixup_duplicate()). So if several symbols without a size begin
// at one address, only the last gets an end after its start. It has a size then, so it wins over the others. No symbol
// of kallsyms has a size, so there the last of an address always wins.
void SymbolTable::finish() {
    std::vector<std::uint32_t> order = order_by_start();
    drop_inner_labels(order);
    close_ends(order);
    const std::vector<std::uint32_t> kept = best_of_each_start(order);
    std::vector<Symbol> sorted;
    std::vector<std::uint8_t> ranks;
    sorted.reserve(kept.size());
    ranks.reserve(kept.size());
    for (const std::uint32_t index : kept) {
        sorted.push_back(symbols_[index]);
        ranks.push_back(ranks_[index]);
    }
    symbols_ = std::move(sorted);
    ranks_ = std::move(ranks);
}

const Symbol* SymbolTable::find(std::uint64_t address) const {
    const std::span<const Symbol> all = symbols();
    const auto next = std::ranges::upper_bound(all, address, {}, &Symbol::start);
    if (next == all.begin()) return nullptr;
    const Symbol& found = *std::prev(next);
    return address < found.end ? &found : nullptr;
}

}  // namespace anyperf::symbols
