# libanyperf: the public C++ API (include/anyperf) as one shared library, for programs outside this tree (docs/library.md).
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)

set(folders abi host catalog vendor events counting profile symbols unwind perfdata analysis reading)
list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:anyperf_\\1>" OUTPUT_VARIABLE objects)
add_library(libanyperf SHARED ${objects})
target_link_libraries(libanyperf PRIVATE anyperf_options fmt::fmt ZLIB::ZLIB PkgConfig::libelf PkgConfig::libdw PkgConfig::libzstd)
target_link_options(libanyperf PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/libanyperf.map)
# Before 1.0 a minor version may change the ABI, so it is part of the SONAME.
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

# find_package(anyperf). Before 1.0 a minor version may change the API, so another minor version does not fit.
include(CMakePackageConfigHelpers)
set(config_directory ${CMAKE_INSTALL_LIBDIR}/cmake/anyperf)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/anyperf-config.cmake.in ${CMAKE_BINARY_DIR}/anyperf-config.cmake
    INSTALL_DESTINATION ${config_directory} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/anyperf-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/anyperf-config.cmake ${CMAKE_BINARY_DIR}/anyperf-config-version.cmake
    DESTINATION ${config_directory} COMPONENT library)
