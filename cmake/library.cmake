# libanyperf: the public C++ API (include/anyperf) as one shared library, for programs outside of this tree. docs/library.md
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)

set(folders abi host catalog events counting)
list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:anyperf_\\1>" OUTPUT_VARIABLE objects)
add_library(libanyperf SHARED ${objects})
target_link_libraries(libanyperf PRIVATE anyperf_options fmt::fmt ZLIB::ZLIB PkgConfig::libelf)
target_link_options(libanyperf PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/libanyperf.map)
# Until 1.0 a new minor version may change what programs were compiled against.
set_target_properties(libanyperf PROPERTIES OUTPUT_NAME anyperf LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/libanyperf.map)
add_dependencies(products libanyperf)

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    OUTPUT_VARIABLE ANYPERF_PREFIX_FROM_PKGCONFIG)
configure_file(${CMAKE_CURRENT_LIST_DIR}/anyperf.pc.in ${CMAKE_BINARY_DIR}/anyperf.pc @ONLY)
file(GLOB public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/anyperf/*.h)
install(TARGETS libanyperf LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anyperf COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/anyperf.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
