# Headers, libraries, the command, and what finds them: pkg-config files and a CMake package.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dunlin")

install(TARGETS dunlin dunlin-central EXPORT dunlin-targets)
install(TARGETS dunlin_cli)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/dunlin" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")

install(EXPORT dunlin-targets NAMESPACE dunlin:: DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dunlin-config-version.cmake"
    COMPATIBILITY SameMajorVersion)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/dunlin-config.cmake.in"
    "${PROJECT_BINARY_DIR}/dunlin-config.cmake" INSTALL_DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/dunlin-config.cmake"
    "${PROJECT_BINARY_DIR}/dunlin-config-version.cmake" DESTINATION "${package_dir}")

foreach(name dunlin dunlin-central)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
