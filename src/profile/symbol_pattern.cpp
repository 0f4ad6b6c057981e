#include "profile/symbol_pattern.h"

#include <regex.h>

#include <array>
#include <utility>

namespace anyperf::profile {

struct SymbolPattern::Compiled {
    regex_t regex{};
    bool valid = false;
    Compiled() = default;
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    ~Compiled() {
        if (valid) ::regfree(&regex);
    }
};

Result<SymbolPattern> SymbolPattern::compile(const std::string& expression) {
    auto compiled = std::make_shared<Compiled>();
    const int error = ::regcomp(&compiled->regex, expression.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        std::array<char, 128> text{};
        ::regerror(error, &compiled->regex, text.data(), text.size());
        return std::unexpected(
            Error{"cannot use the regular expression '" + expression + "'", text.data(), "write it as for grep -E"});
    }
    compiled->valid = true;
    return SymbolPattern{std::move(compiled)};
}

bool SymbolPattern::matches(const std::string& name) const {
    return ::regexec(&compiled_->regex, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace anyperf::profile
