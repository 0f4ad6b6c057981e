// request_context.cpp: what a request carries, in the forms that handlers want.
#include "broker/requests/request_context.h"

#include <cstring>

namespace anyperf::broker {

std::string_view text_of(const RequestContext& request) {
    const auto* const text = reinterpret_cast<const char*>(request.payload.data());
    return {text, ::strnlen(text, request.payload.size())};
}

}  // namespace anyperf::broker
