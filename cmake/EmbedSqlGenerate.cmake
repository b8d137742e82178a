# Turns .sql files into a C header and source. Run by dunlin_embed_sql at build time with
# NAME, QUERIES, MIGRATIONS, INCLUDE, HEADER, SOURCE defined.
#
# Read: MIGRATIONS, files NNN_*.sql, numbered 1, 2, 3, … without a gap, each as a whole; and the
# named blocks of the files QUERIES: a line `-- name: item_insert` starts a block, which runs to
# the next such line. What stands before a file's first block is comment, and so are the comment
# lines that end a block (they speak of the next one).
#
# Written: enum dln_<name>_query with dln_<name>_queries[], and dln_<name>_migrations[].
#
# SQL is full of what CMake takes for list syntax (; [ ] \), so text is only ever handled by
# FIND, SUBSTRING and quoted expansion, never as a list. It is emitted as bytes: C11 promises
# string literals of 4,095 characters only, and a char initialiser above 127 is not portable.

cmake_minimum_required(VERSION 3.20)

string(TOUPPER "${NAME}" upper)
set(enumerators "")
set(arrays "")
set(query_rows "")
set(migration_rows "")
set(migration_count 0)
set(names "")

# Appends to arrays the definition of `static const unsigned char <identifier>[]`. A function: a
# macro would evaluate the text a second time.
function(emit_bytes identifier text)
    string(HEX "${text}" hex)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
           "\\1\n    " bytes "${bytes}")
    string(APPEND arrays "static const unsigned char ${identifier}[] = {\n    ${bytes}0x00};\n\n")
    set(arrays "${arrays}" PARENT_SCOPE)
endfunction()

# Strips a block's trailing white space and trailing comment lines.
function(strip_tail out text)
    string(STRIP "${text}" text)
    while(text MATCHES "(^|\n)[ \t]*--[^\n]*$")
        string(LENGTH "${CMAKE_MATCH_0}" tail)
        string(LENGTH "${text}" length)
        math(EXPR kept "${length} - ${tail}")
        string(SUBSTRING "${text}" 0 ${kept} text)
        string(STRIP "${text}" text)
    endwhile()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

foreach(file IN LISTS QUERIES)
    file(READ "${file}" rest)
    set(rest "\n${rest}\n")
    string(FIND "${rest}" "\n-- name:" start)
    while(NOT start EQUAL -1)
        math(EXPR start "${start} + 9") # the length of "\n-- name:"
        string(SUBSTRING "${rest}" ${start} -1 rest)
        string(FIND "${rest}" "\n" line_end)
        string(SUBSTRING "${rest}" 0 ${line_end} query)
        string(STRIP "${query}" query)
        if(NOT query MATCHES "^[a-z][a-z0-9_]*$")
            message(FATAL_ERROR "${file}: '${query}' is no name for a query (a-z, 0-9, _)")
        endif()
        if(query IN_LIST names)
            message(FATAL_ERROR "${file}: there are two queries named '${query}'")
        endif()
        list(APPEND names "${query}")
        string(SUBSTRING "${rest}" ${line_end} -1 rest)

        string(FIND "${rest}" "\n-- name:" start)
        string(SUBSTRING "${rest}" 0 ${start} block) # -1: to the end
        strip_tail(block "${block}")
        if(block STREQUAL "")
            message(FATAL_ERROR "${file}: the query '${query}' is empty")
        endif()
        if(block MATCHES "\n[ \t]*--[ \t]*name[ \t]*:")
            message(FATAL_ERROR "${file}: in '${query}': a block starts with '-- name: ' exactly")
        endif()
        emit_bytes("query_${query}" "${block}")
        string(TOUPPER "${query}" enumerator)
        string(APPEND enumerators "    DLN_${upper}_${enumerator},\n")
        string(APPEND query_rows "    [DLN_${upper}_${enumerator}] = (const char *)query_${query},\n")
    endwhile()
endforeach()

list(SORT MIGRATIONS COMPARE NATURAL)
foreach(file IN LISTS MIGRATIONS)
    get_filename_component(base "${file}" NAME)
    if(NOT base MATCHES "^0*([1-9][0-9]*)_")
        message(FATAL_ERROR "${file}: a migration is named NNN_what_it_does.sql")
    endif()
    set(version "${CMAKE_MATCH_1}")
    math(EXPR migration_count "${migration_count} + 1")
    if(NOT version EQUAL migration_count)
        message(FATAL_ERROR "${file}: migration ${migration_count} was expected here")
    endif()
    file(READ "${file}" text)
    emit_bytes("migration_${version}" "${text}")
    string(APPEND migration_rows "    {${version}, (const char *)migration_${version}},\n")
endforeach()

string(CONCAT header
    "/* Generated from .sql files by cmake/EmbedSqlGenerate.cmake. */\n"
    "#ifndef DLN_${upper}_SQL_H\n#define DLN_${upper}_SQL_H\n\n"
    "enum dln_${NAME}_query {\n${enumerators}    DLN_${upper}_QUERY_COUNT\n};\n\n"
    "/* By enum dln_${NAME}_query; NULL at the end. */\n"
    "extern const char *const dln_${NAME}_queries[];\n\n"
    "struct dln_${NAME}_migration {\n    int version;\n    const char *sql;\n};\n\n"
    "/* By version, from 1; {0, NULL} at the end. */\n"
    "extern const struct dln_${NAME}_migration dln_${NAME}_migrations[];\n"
    "extern const int dln_${NAME}_migration_count;\n\n"
    "#endif\n")
string(CONCAT source
    "/* Generated from .sql files by cmake/EmbedSqlGenerate.cmake. */\n"
    "#include \"${INCLUDE}\"\n\n#include <stddef.h>\n\n"
    "${arrays}"
    "const char *const dln_${NAME}_queries[] = {\n${query_rows}"
    "    [DLN_${upper}_QUERY_COUNT] = NULL,\n};\n\n"
    "const struct dln_${NAME}_migration dln_${NAME}_migrations[] = {\n${migration_rows}    {0, NULL},\n};\n\n"
    "const int dln_${NAME}_migration_count = ${migration_count};\n")
file(WRITE "${HEADER}" "${header}")
file(WRITE "${SOURCE}" "${source}")
