# What the scripts of this folder share: a temporary folder as the current one, the command, and
# comparisons that go on after a failure. Sourced; a script ends with `finish`.

set -uo pipefail
export LC_ALL=C.UTF-8
unset NO_COLOR

: "${DUNLIN:?set DUNLIN to the command under test}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0
declare -A known=() # device → its state, until a command that may change it

# is <what> <expected> <actual>
is() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %.200s\n--- expected\n%s\n--- actual\n%s\n' "$1" "$2" "$3"
    fi
}

# matches <what> <extended expression> <actual>
matches() {
    if [[ "$3" =~ $2 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %.200s\n--- expected a match of\n%s\n--- actual\n%s\n' "$1" "$2" "$3"
    fi
}

# run <argument>…: leaves stdout, stderr and the exit code in out, err, code.
run() {
    code=0
    "$DUNLIN" "$@" >out.txt 2>err.txt </dev/null || code=$?
    out="$(cat out.txt)" err="$(cat err.txt)"
}

# on <device> <argument>…: runs on that device's store.
on() {
    local device="$1"
    shift
    unset "known[$device]"
    run --db "$device.dunlin" "$@"
}

# do_on <device> <argument>…: the same, and must succeed without a word on stderr.
do_on() {
    on "$@"
    is "$*: the exit code" 0 "$code"
    is "$*: stderr" "" "$err"
}

# says <expected stdout> <device> <argument>…
says() {
    local expected="$1"
    shift
    do_on "$@"
    is "$*" "$expected" "$out"
}

# state <device>: all that a refused command must leave as it is.
state() {
    if [ -e "$1.dunlin" ]; then
        "$DUNLIN" --db "$1.dunlin" dump
        "$DUNLIN" --db "$1.dunlin" --json outbox
    fi 2>&1
}

# keep <device> notes the state unless it is known; kept <what> <device> compares with it.
keep() {
    [ -n "${known["$1"]+known}" ] || known["$1"]="$(state "$1")"
}
kept() {
    is "$1: the state" "${known["$2"]}" "$(state "$2")"
}

# refuses <exit code> <status name> <device> <argument>…: one line on stderr, or one object with
# --json; nothing on stdout; nothing changed.
refuses() {
    local wanted="$1" name="$2" device="$3"
    shift 3
    keep "$device"
    run --db "$device.dunlin" "$@"
    is "$*: the exit code" "$wanted" "$code"
    is "$*: stdout" "" "$out"
    matches "$*: stderr" "^dunlin: $name: [^"$'\n'"]+\$" "$err"
    run --db "$device.dunlin" --json "$@"
    is "$* --json: the exit code" "$wanted" "$code"
    is "$* --json: stdout" "" "$out"
    matches "$* --json: stderr" "^\\{\"error\":\"$name\",\"message\":\"[^"$'\n'"]+\\}\$" "$err"
    kept "$*" "$device"
}

finish() {
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
    exit
}
