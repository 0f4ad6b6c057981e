# In release builds the command has its libraries inside of it where the system has them as archives: a start is then some
# 1 ms faster, of which most is the work of the dynamic linker with libstdc++. libanyperf and libpfm link them dynamically, as
# libraries should.
option(ANYPERF_STATIC_LIBRARIES "link the libraries of the command statically in release builds" ON)

# anyperf_prefer_archives(TARGET NAME…): links the imported target TARGET of this directory as the archives libNAME.a, if all exist.
function(anyperf_prefer_archives target)
    if(NOT ANYPERF_STATIC_LIBRARIES OR NOT CMAKE_BUILD_TYPE STREQUAL Release OR ANYPERF_SANITIZE)
        return()
    endif()
    set(archives)
    foreach(name ${ARGN})
        find_library(ANYPERF_ARCHIVE_${name} lib${name}.a)
        if(NOT ANYPERF_ARCHIVE_${name})
            return()
        endif()
        list(APPEND archives ${ANYPERF_ARCHIVE_${name}})
    endforeach()
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
    list(GET archives 0 first)
    foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE)
        get_target_property(location ${target} ${property})
        if(location)
            set_target_properties(${target} PROPERTIES ${property} ${first})
        endif()
    endforeach()
endfunction()
