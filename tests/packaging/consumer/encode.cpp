// encode.cpp: the code of an event, from the installed library.
#include <anyperf/event_names.h>

#include <cstdio>

int main() {
    const auto code = anyperf::events::EventNames::read().encode("skl::INST_RETIRED:ANY_P");
    std::printf("code %#llx\n", code ? static_cast<unsigned long long>(code->attr.config) : 0);
}
