# What is installed beside the products (man pages, bash completion, licence), and the Debian package made of it.
include(GNUInstallDirs)

# Man pages are written in scdoc; without it everything else is built and installed.
find_program(ANYPERF_SCDOC scdoc)
if(ANYPERF_SCDOC)
    file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.scd)
    foreach(page ${pages})
        cmake_path(GET page STEM LAST_ONLY name)
        set(made ${CMAKE_BINARY_DIR}/man/${name})
        add_custom_command(OUTPUT ${made}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
            COMMAND sh -c "${ANYPERF_SCDOC} < ${page} > ${made}"
            DEPENDS ${page} VERBATIM)
        list(APPEND made_pages ${made})
    endforeach()
    add_custom_target(man_pages ALL DEPENDS ${made_pages})
    add_dependencies(products man_pages)
    install(FILES ${made_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
    message(STATUS "scdoc is not there: no man pages")
endif()

# The program itself tells its verbs and options, so that completion can't fall behind.
set(completion ${CMAKE_BINARY_DIR}/completion/anyperf)
add_custom_command(OUTPUT ${completion}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completion
    COMMAND sh -c "$<TARGET_FILE:anyperf> completion bash > ${completion}"
    DEPENDS anyperf VERBATIM)
add_custom_target(bash_completion ALL DEPENDS ${completion})
add_dependencies(products bash_completion)
install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# `cpack` packs what `--target products` has built; it must not build tests and benches first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME anyperf)
set(CPACK_PACKAGE_CONTACT "the anyperf authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "count and name Linux performance events, and explain why they don't work")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# `anyperf` and `libanyperf-dev` (the C++ API) get into nobody's way. `anyperf-libpfm4` is for who wants our libpfm.so.4 in the place of Debian's:
# it has the files of libpfm4 and libpfm4-dev, so it replaces both and satisfies what depends on them, on a version too.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL anyperf library)
set(CPACK_DEBIAN_ANYPERF_PACKAGE_NAME anyperf)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libanyperf-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "name, open and count Linux performance events, for C++ programs")
if(TARGET pfm)
    set(taken libpfm4 libpfm4-dev)
    list(APPEND CPACK_COMPONENTS_ALL libpfm)
    set(CPACK_DEBIAN_LIBPFM_PACKAGE_NAME anyperf-libpfm4)
    set(CPACK_DEBIAN_LIBPFM_DESCRIPTION "performance event names of every CPU, in the place of libpfm4")
    list(JOIN taken ", " CPACK_DEBIAN_LIBPFM_PACKAGE_CONFLICTS)
    list(JOIN taken ", " CPACK_DEBIAN_LIBPFM_PACKAGE_REPLACES)
    list(TRANSFORM taken APPEND " (= 4.13.0-1)")
    list(JOIN taken ", " CPACK_DEBIAN_LIBPFM_PACKAGE_PROVIDES)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)  # a package a component
include(CPack)
