# What README.md and the examples show is run: the command's lines, the C, and the minimal program.
. "$(dirname "$0")/support.bash"

root="$here/../.."
readme="$(cd "$root" && realpath README.md)"

# block <language>: the first block of that language in README.md
block() {
    awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ && inside { exit } inside' "$readme"
}

# The command's lines, one after the other in one folder
block console | sed -n 's/^\$ //p' >lines.sh
matches "README.md shows the command" dunlin "$(cat lines.sh)"
mkdir bin
ln -s "$DUNLIN" bin/dunlin
while read -r line; do
    PATH="$folder/bin:$PATH" bash -c "$line" >out.txt 2>&1 </dev/null
    is "README.md: $line: $(cat out.txt)" 0 $?
done <lines.sh

# The ten lines of C, as they stand, in a function
{
    echo '#include <stdio.h>'
    echo '#include <dunlin/central.h>'
    echo '#include <dunlin/dunlin.h>'
    echo 'int main(void) {'
    block c
    echo 'return 0; }'
} >ten.c
mkdir c
if [ -n "${DUNLIN_CC:-}" ]; then
    read -r -a flags <<<"${DUNLIN_CFLAGS:-}"
    "$DUNLIN_CC" -std=c11 -Wall -Wextra -Werror "${flags[@]}" -I"$root/include" ten.c \
        -L"$DUNLIN_LIBRARIES" -Wl,-rpath,"$DUNLIN_LIBRARIES" -ldunlin -ldunlin-central -o c/ten
    is "README.md: the C compiles" 0 $?
    is "README.md: the C runs" "" "$(cd c && ./ten 2>&1)"
    is "README.md: the C followed bob" '{"userId":"bob","origins":["!"]}' \
        "$("$DUNLIN" --db c/alice.dunlin --json subscriptions)"
fi

# examples/minimal, twice
if [ -n "${DUNLIN_MINIMAL:-}" ]; then
    mkdir minimal
    for run in first second; do
        is "minimal: the $run run" 'alice sees bob because of !
見逃し holds case caseId001' "$(cd minimal && "$DUNLIN_MINIMAL" 2>&1)"
    done
fi

finish
