# dunlin_shared_library(<target> PARTS <layer>… LINKS <library>…)
#
# An installed library: the objects of some layers behind the export map that is made from
# cmake/exports/<target>.sym, one symbol a line. Two such libraries in one process each hold their
# own copy of the layers they share; the map keeps these from seeing each other.

function(dunlin_shared_library target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PARTS;LINKS")

    set(symbol_file "${PROJECT_SOURCE_DIR}/cmake/exports/${target}.sym")
    set(map "${PROJECT_BINARY_DIR}/${target}.map")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${symbol_file}")
    file(STRINGS "${symbol_file}" symbols)
    list(JOIN symbols ";\n        " symbols)
    file(CONFIGURE OUTPUT "${map}" CONTENT "{\n    global:\n        @symbols@;\n    local:\n        *;\n};\n" @ONLY)

    set(objects "")
    foreach(part IN LISTS arg_PARTS)
        list(APPEND objects $<TARGET_OBJECTS:${part}>)
    endforeach()
    add_library(${target} SHARED ${objects})
    set_target_properties(${target} PROPERTIES
        LINKER_LANGUAGE C
        LINK_DEPENDS "${map}"
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR})
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    foreach(library IN LISTS arg_LINKS ITEMS dunlin_flags)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
    endforeach()
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
    # The sanitizers' run-time symbols live in the executable, so there libraries are left open.
    if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
        target_link_options(${target} PRIVATE "LINKER:--no-undefined")
    endif()
endfunction()
