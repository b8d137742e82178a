# init, status, backup, wipe; files that are no stores of ours.
. "$(dirname "$0")/support.bash"

do_on alice --json init --user alice
matches "init --json" '^\{"owner":"alice","device":"[0-9a-f]{32}","created":true\}$' "$out"
do_on alice --json init --user alice
matches "init again" '"created":false\}$' "$out"
do_on alice init --user alice
matches "init for people" '^owner +alice'$'\n''device +[0-9a-f]{32}$' "$out"
do_on 'strange name' init --user 'user@example.com / 利用者'
do_on 'strange name' --json status
matches "an owner with a strange name" '^\{"owner":"user@example.com / 利用者"' "$out"

do_on alice follow user bob
do_on alice batch <(echo '{"do":"list-create","list":"later","name":"later"}')
do_on alice list add later case caseId001
do_on alice --json status
matches "status --json" '^\{"owner":"alice","device":"[0-9a-f]{32}","pending":3,"rejected":0,"following":1,"subscriptions":1,"lists":1,"items":1,"last_sync_ms":0,"held":0,"file_bytes":[1-9][0-9]*\}$' "$out"
do_on alice status
matches "status for people" 'last sync +never' "$out"

# backup
do_on alice backup copy.dunlin
do_on alice dump
mv out.txt alice.dump
do_on copy dump
is "a copy has what the store has" "$(cat alice.dump)" "$(cat out.txt)"
refuses 64 EXISTS alice backup copy.dunlin
on alice backup no/such/folder/copy.dunlin
is "a backup into no folder" 75 "$code"

# wipe
refuses 77 UNSENT alice wipe
do_on alice sync --remote "sqlite:$folder/central.db"
do_on alice wipe
says "" alice dump
do_on alice --json status
matches "wiped" '^\{"owner":"alice","device":"[0-9a-f]{32}","pending":0,"rejected":0,"following":0,"subscriptions":0,"lists":0,"items":0,' "$out"
do_on alice sync --remote "sqlite:$folder/central.db"
do_on alice dump
is "and it all comes back" "$(cat alice.dump)" "$out"
do_on alice follow user carol
do_on alice wipe --force
says "" alice --json outbox

# Not ours: named, exit code 65, and left byte for byte
left() {
    local before
    before="$(cksum <"$2.dunlin")"
    for arguments in status "init --user alice" "follow user bob" dump verify "wipe --force"; do
        read -r -a words <<<"$arguments"
        on "$2" "${words[@]}"
        is "$2: $arguments" 65 "$code"
        matches "$2: $arguments" "^dunlin: $1: " "$err"
    done
    is "$2: its bytes" "$before" "$(cksum <"$2.dunlin")"
}
printf 'x%.0s' {1..5000} >text.dunlin
left NOT_A_STORE text
cp copy.dunlin other.dunlin
printf '\0\0\0\0' | dd of=other.dunlin bs=1 seek=68 conv=notrunc status=none # the application's id
left NOT_A_STORE other
cp copy.dunlin newer.dunlin
printf '\0\0\377\377' | dd of=newer.dunlin bs=1 seek=60 conv=notrunc status=none # the schema's number
left NEWER_SCHEMA newer
mkdir folder.dunlin
on folder status
[ "$code" -eq 65 ] || [ "$code" -eq 75 ]
is "a folder is no store" 0 $?

# Output that cannot be written is an error, not silence
if [ -w /dev/full ]; then
    code=0
    "$DUNLIN" --db copy.dunlin dump >/dev/full 2>err.txt || code=$?
    is "a full disk" 75 "$code"
    matches "a full disk" '^dunlin: DISK_FULL: ' "$(cat err.txt)"
    code=0
    "$DUNLIN" --db copy.dunlin status >/dev/full 2>err.txt || code=$?
    is "a full disk" 75 "$code"
fi

finish
