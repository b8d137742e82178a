# Reads what strip.awk prints; reports functions of 70 lines and more, from the first line of the
# declaration to the closing brace. A function is a brace at depth 0 that follows a parenthesis.
# Preprocessor lines do not count, nor what is for C++ only (its braces span the file).

$1 != file {
    file = $1
    depth = 0
    head = ""
    directive = cplusplus = 0
}

directive { directive = /\\$/; next }
$3 ~ /^[ \t]*#/ {
    directive = /\\$/
    if ($3 ~ /ifdef[ \t]+__cplusplus/) cplusplus = 1
    else if ($3 ~ /endif/) cplusplus = 0
    next
}
cplusplus { next }

{
    count = split($3, part, "")
    for (i = 1; i <= count; i++) {
        c = part[i]
        if (c == "{") {
            if (depth++ == 0) {
                function_start = head ~ /\)[ \t]*$/ ? head_line : 0
                match(head, /[A-Za-z0-9_]+[ \t]*\(/)
                name = substr(head, RSTART, RLENGTH - 1)
                head = ""
            }
        } else if (c == "}") {
            if (--depth == 0 && function_start && $2 - function_start + 1 >= 70)
                print file ":" function_start ": " name " has " $2 - function_start + 1 " lines"
            if (depth == 0) head = ""
        } else if (depth == 0) {
            if (c == ";") head = ""
            else {
                if (head == "" && c !~ /[ \t]/) head_line = $2
                if (head != "" || c !~ /[ \t]/) head = head c
            }
        }
    }
    if (depth == 0 && head != "") head = head " "
}
