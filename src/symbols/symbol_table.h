// symbol_table.h: the functions of a file (or of the kernel, or of a JIT) as one sorted array, for lookups by address.
//
// A large program has a million symbols. So a symbol is 24 bytes, names stay in the mapped file where possible (else
// they are in one vector), and the table is sorted once instead of being kept in order. Several symbols often share an
// address (aliases, weak and global names, labels in assembly); which of them is shown follows perf, so that reports
// agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace anyperf::symbols {

struct Symbol {
    std::uint64_t start = 0;
    std::uint64_t end = 0;      ///< first address after it
    std::uint32_t name = 0;     ///< offset in the table's texts
    std::uint32_t is_data = 0;  ///< 1: a variable. A word, so that symbols have no padding: they are kept in files
};

/// What decides which of several symbols with one address is kept, most important first after "has a size" (perf's
/// choose_best_symbol()). Then the one with fewer leading underscores is kept, then the one with the longer name.
struct SymbolRank {
    bool typed = true;  ///< not STT_NOTYPE
    bool weak = false;
    bool global = false;
    bool data = false;  ///< a variable; decides nothing
};

class SymbolTable {
  public:
    SymbolTable() = default;

    /// A table of symbols() and texts() of another one, after finish(). They live as long as `owner`, and nothing may
    /// be added. Nothing is trusted: no table if a name is not in the texts or the symbols are not sorted. `give_back`
    /// gives the memory to the kernel, which has it in a file: it is called now and then, since of a large table only
    /// some pages are used for long.
    static std::optional<SymbolTable> of(std::span<const Symbol> symbols, std::span<const char> texts,
                                         std::shared_ptr<const void> owner, std::function<void()> give_back = {});

    /// Where the names of add_at() are: texts that end with a NUL and live as long as `owner`. To be called before the
    /// first symbol is added.
    void use_texts(std::span<const char> texts, std::shared_ptr<const void> owner);

    /// Makes room for so many symbols.
    void reserve(std::size_t symbols);
    /// A symbol of `size` bytes; 0: it ends where the next one begins, the last one after one to two pages.
    void add(std::uint64_t start, std::uint64_t size, std::string_view name, SymbolRank rank);
    /// The same, with a name that begins at `name` in the texts of use_texts(), within them.
    void add_at(std::uint64_t start, std::uint64_t size, std::uint32_t name, SymbolRank rank);

    /// Sorts, drops all but one symbol of each address and labels within functions, and closes open ends. To be called
    /// after add(), before lookups; symbols that are added later do not change the ends that were closed.
    void finish();

    /// Of the symbols that begin at or before `address`, the last, if it contains it; else null. So of nested symbols
    /// only the inner one is found. Valid until the next add().
    const Symbol* find(std::uint64_t address) const;

    /// Not thread-safe.
    std::string_view name(const Symbol& symbol) const {
        constexpr unsigned kNames = 64;
        if (give_back_ && ++names_ % kNames == 0) give_back_();
        const std::size_t shared = shared_texts_.size();
        return symbol.name < shared ? shared_texts_.data() + symbol.name : texts_.data() + (symbol.name - shared);
    }

    std::span<const Symbol> symbols() const { return shared_symbols_.empty() ? std::span{symbols_} : shared_symbols_; }
    /// The names, each with a NUL. Not after use_texts().
    std::span<const char> texts() const { return owner_ ? shared_texts_ : std::span{texts_}; }
    bool empty() const { return symbols().empty(); }
    std::size_t size() const { return symbols().size(); }
    auto begin() const { return symbols().begin(); }
    auto end() const { return symbols().end(); }

  private:
    /// The indices of symbols_ sorted by start; symbols with the same start keep the order in which they were added.
    std::vector<std::uint32_t> order_by_start() const;
    /// Leaves out labels within a function.
    void drop_inner_labels(std::vector<std::uint32_t>& order) const;
    /// Gives each symbol without a size its end: where the next one begins.
    void close_ends(const std::vector<std::uint32_t>& order);
    std::vector<std::uint32_t> best_of_each_start(const std::vector<std::uint32_t>& order) const;
    bool is_better(std::size_t one, std::size_t other) const;

    std::vector<Symbol> symbols_;
    std::vector<std::uint8_t> ranks_;  // of symbols_
    std::vector<char> texts_;          // a name that begins at or after the end of shared_texts_ goes on here
    // Memory that is not its own: symbols only in a table that of() made.
    std::shared_ptr<const void> owner_;
    std::span<const Symbol> shared_symbols_;
    std::span<const char> shared_texts_;
    std::function<void()> give_back_;
    mutable unsigned names_ = 0;  // that were asked for, with give_back_
};

}  // namespace anyperf::symbols
