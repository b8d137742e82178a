# What people see: help, aligned columns, colour on terminals only, harmless control characters.
. "$(dirname "$0")/support.bash"

run --help
is "--help" 0 "$code"
for command in init status verify dump backup wipe follow unfollow following subscriptions explain \
    'group create' 'group set' 'group add' 'group remove' 'group members' 'group show' 'group delete' \
    'list create' 'list ls' 'list show' 'list rename' 'list rank' 'list delete' 'list restore' \
    'list add' 'list remove' 'list move' search batch sync outbox rejected 'rejected retry' \
    'rejected edit' 'rejected discard' 'rejected export'; do
    matches "help names $command" "(^|"$'\n'")  $command( |"$'\n'")" "$out"
    read -r -a words <<<"$command"
    "$DUNLIN" "${words[@]}" --help >one.txt
    is "$command --help" "0 2" "$? $(wc -l <one.txt)"
done
run group --help
is "help of a noun" 7 "$(grep -c '^  group' out.txt)"
run --version
matches "--version" '^dunlin [0-9]+\.[0-9]+\.[0-9]+$' "$out"
run --version --json
matches "--version --json" '^\{"version":"[0-9.]+"\}$' "$out"

do_on alice init --user alice
do_on alice batch <(
    echo '{"do":"list-create","list":"a","name":"お気に入り"}'
    echo '{"do":"list-create","list":"bb","name":"cafe\u0301"}'
    echo '{"do":"list-create","list":"ccc","name":"\u001b[2J\r\n\u202eevil"}'
)
says 'LIST  NAME                             ITEMS
a     お気に入り                           0
bb    café                                 0
ccc   \u001b[2J\u000d\u000a\u202eevil      0' alice list ls

# A terminal gets colour, unless it asks for none
terminal() {
    script -qefc "$1" /dev/null </dev/null
}
if command -v script >/dev/null; then
    list="'$DUNLIN' --db alice.dunlin list ls"
    matches "colour on a terminal" $'\e\[2mLIST' "$(TERM=xterm terminal "$list")"
    plain="$(TERM=xterm NO_COLOR=1 terminal "$list")"
    is "NO_COLOR" "${plain//$'\e'/}" "$plain"
    plain="$(TERM=dumb terminal "$list")"
    is "a dumb terminal" "${plain//$'\e'/}" "$plain"
    plain="$(TERM=xterm terminal "$list --json")"
    is "no colour in JSON" "${plain//$'\e'/}" "$plain"

    # What takes longer than a second shows how far it is, there only
    seq -f '{"do":"follow","kind":"user","id":"slow%.0f"}' 1 2000 >slow.jsonl
    slow="{ head -n 1000 slow.jsonl; sleep 1.2; tail -n 1000 slow.jsonl; } | '$DUNLIN' --db alice.dunlin batch -"
    matches "progress on a terminal" $'\e\[Kbatch: [1-9][0-9]*.*2000 lines are committed' \
        "$(TERM=xterm terminal "$slow")"
    is "no progress elsewhere" "2000 lines are committed" "$(bash -c "$slow" 2>&1)"
    do_on alice batch <(sed 's/follow/unfollow/' slow.jsonl)
fi

# More rows than are kept back for the columns' widths
seq -f '{"do":"follow","kind":"user","id":"u%.0f"}' 100000 101199 >many.jsonl
do_on alice batch many.jsonl
do_on alice following
is "a long table" 1201 "$(wc -l <out.txt)"
is "is a table to its end" "user  u101199" "$(tail -n 1 out.txt)"

finish
