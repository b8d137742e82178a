# Prints "file<tab>line<tab>code" for every line of C: comments become a blank, string and character
# literals become "" and ''. A literal does not span lines; a block comment does.

FNR == 1 { in_comment = 0 }

{
    out = ""
    rest = $0
    while (rest != "") {
        if (in_comment) {
            end = index(rest, "*/")
            if (end == 0) break
            rest = substr(rest, end + 2)
            out = out " "
            in_comment = 0
            continue
        }
        if (!match(rest, /["']|\/[*\/]/)) {
            out = out rest
            break
        }
        mark = substr(rest, RSTART, RLENGTH)
        out = out substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        if (mark == "//") break
        if (mark == "/*") {
            in_comment = 1
            continue
        }
        pattern = mark == "\"" ? "^([^\"\\\\]|\\\\.)*\"" : "^([^'\\\\]|\\\\.)*'"
        rest = match(rest, pattern) ? substr(rest, RLENGTH + 1) : ""
        out = out mark mark
    }
    print FILENAME "\t" FNR "\t" out
}
