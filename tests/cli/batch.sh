# batch: every edit, every way for a line to be bad, transactions, and kill -9.
. "$(dirname "$0")/support.bash"

do_on alice init --user alice

# Every edit once
cat >all.jsonl <<'LINES'
{"do":"follow","kind":"user","id":"bob"}
{"do":"follow","kind":"user","id":"carol"}
{"do":"unfollow","kind":"user","id":"carol"}
{"do":"follow","kind":"group","id":"climbers"}
{"do":"group-create","group":"climbers","name":"Climbers","join":"closed"}
{"do":"group-set","group":"climbers","join":"open"}
{"do":"group-add","group":"climbers","user":"dave"}
{"do":"group-add","group":"climbers","user":"erin","role":"admin"}
{"do":"group-remove","group":"climbers","user":"dave"}
{"do":"group-create","group":"gone"}

{"do":"group-delete","group":"gone"}
{"do":"list-create","list":"later","name":"見逃し"}
{"do":"list-create","list":"best","name":"best"}
{"do":"list-create","name":"its id is made"}
{"do":"list-rename","list":"best","name":"お気に入り"}
{"do":"list-rank","list":"best","before":"later"}
{"do":"list-add","list":"later","type":"case","id":"caseId001","created_at":"20200101T000000Z"}
{"do":"list-add","list":"later","type":"case","id":"caseId002","created_at":1577923200000,"title":"第二話","data":{"n":1.0,"s":"}\"{","big":123456789012345678901234567890}}
{"do":"list-add","list":"later","type":"case","id":"caseId003","created_at":0,"title":null,"data":null}
{"do":"list-add","list":"later","type":"case","id":"caseId004"}
{"do":"list-remove","list":"later","type":"case","id":"caseId004"}
{"do":"list-move","list":"later","type":"case","id":"caseId003","before":"case:caseId001"}
{"do":"list-move","list":"later","type":"case","id":"caseId001","to":"best","first":true}
LINES
says "23 lines are committed" alice batch all.jsonl
do_on alice sync --remote "sqlite:$folder/central.db" # what central never heard of leaves no trace
printf '%s\n' '{"do":"list-delete","list":"best"}' '{"do":"list-restore","list":"best"}' >undone.jsonl
says "2 lines are committed" alice batch undone.jsonl
says '{"userId":"bob","origins":["!"]}
{"userId":"erin","origins":["climbers"]}' alice --json subscriptions
do_on alice --json list ls
matches "lists" '^\{"list":"best","name":"お気に入り","count":1\}
\{"list":"later","name":"見逃し","count":2\}
\{"list":"[0-9a-f]{24}","name":"its id is made","count":0\}$' "$out"
says '{"list":"later","type":"case","id":"caseId003","created_at":0,"title":null,"data":null}
{"list":"later","type":"case","id":"caseId002","created_at":1577923200000,"title":"第二話","data":{"n":1.0,"s":"}\"{","big":123456789012345678901234567890}}' \
    alice --json list show later
says '{"list":"best","type":"case","id":"caseId001","created_at":1577836800000,"title":null,"data":null}' \
    alice --json list show best

# A last line without its end, line ends of another system, nothing at all, stdin
printf '{"do":"follow","kind":"user","id":"x1"}\r\n{"do":"follow","kind":"user","id":"x2"}' >ends.jsonl
says '{"committed":2}' alice --json batch ends.jsonl
says "0 lines are committed" alice batch /dev/null
is "stdin" "1 lines are committed" \
    "$(echo '{"do":"follow","kind":"user","id":"x3"}' | "$DUNLIN" --db alice.dunlin batch -)"

# bad <status name> <line>: line 2 of 3 is bad; nothing of the three stays.
bad() {
    printf '%s\n' '{"do":"follow","kind":"user","id":"before"}' "$2" \
        '{"do":"follow","kind":"user","id":"behind"}' >bad.jsonl
    keep alice
    run --db alice.dunlin batch bad.jsonl
    is "$2: the exit code" "${3:-65}" "$code"
    is "$2: stdout" "" "$out"
    matches "$2: stderr" "^dunlin: $1: line 2: .+; 0 lines are committed\$" "$err"
    run --db alice.dunlin --json batch bad.jsonl
    is "$2 --json: the exit code" "${3:-65}" "$code"
    matches "$2 --json: stderr" "^\\{\"error\":\"$1\",\"message\":\".+\",\"line\":2,\"committed\":0\\}\$" "$err"
    kept "$2" alice
}
while read -r name line; do
    bad "$name" "$line"
done <<'TABLE'
INVALID_JSON nonsense
INVALID_JSON {"do":"follow","kind":"user","id":"a"
INVALID_JSON {"do":"follow","kind":"user","id":"a"} x
INVALID_JSON {"do":"follow","do":"follow","kind":"user","id":"a"}
INVALID_JSON ["follow"]
INVALID_JSON 1
INVALID_JSON {"do":"list-add","list":"later","type":"case","id":"a","data":}
INVALID_JSON {"do":"list-add","list":"later","type":"case","id":"a","data":{"a":1]}
INVALID_JSON {"do":"list-add","list":"later","type":"case","id":"a","data":{"a":}}
INVALID_JSON {"do":"list-add","list":"later","type":"case","id":"a","data":"open}
INVALID_JSON {"do":"list-add","list":"later","type":"case","id":"a","data":1,"data":2}
INVALID_VALUE {}
INVALID_VALUE {"do":null}
INVALID_VALUE {"do":1}
INVALID_VALUE {"do":"frobnicate"}
INVALID_VALUE {"do":"Follow","kind":"user","id":"a"}
INVALID_VALUE {"do":"follow","kind":"user"}
INVALID_VALUE {"do":"follow","id":"a"}
INVALID_VALUE {"do":"follow","kind":"people","id":"a"}
INVALID_VALUE {"do":"follow","kind":"user","id":1}
INVALID_VALUE {"do":"follow","kind":"user","id":null}
INVALID_VALUE {"do":"follow","kind":"user","id":"a","name":"A"}
INVALID_VALUE {"do":"follow","kind":"user","id":"a","kin":"A"}
INVALID_VALUE {"do":"follow","kind":"user","id":"a","data":1}
INVALID_VALUE {"do":"unfollow","kind":"user"}
INVALID_VALUE {"do":"group-create"}
INVALID_VALUE {"do":"group-create","group":"g2","join":"maybe"}
INVALID_VALUE {"do":"group-set","group":"climbers"}
INVALID_VALUE {"do":"group-add","group":"climbers","user":"u","role":"king"}
INVALID_VALUE {"do":"group-add","group":"climbers"}
INVALID_VALUE {"do":"group-remove","group":"climbers"}
INVALID_VALUE {"do":"group-delete"}
INVALID_VALUE {"do":"list-create","list":"l2"}
INVALID_VALUE {"do":"list-rename","list":"later"}
INVALID_VALUE {"do":"list-rank","list":"later"}
INVALID_VALUE {"do":"list-rank","list":"later","first":1}
INVALID_VALUE {"do":"list-rank","list":"later","first":true,"last":true}
INVALID_VALUE {"do":"list-delete"}
INVALID_VALUE {"do":"list-restore"}
INVALID_VALUE {"do":"list-add","list":"later","type":"case"}
INVALID_VALUE {"do":"list-add","list":"later","type":"case","id":"a","created_at":1.5}
INVALID_VALUE {"do":"list-add","list":"later","type":"case","id":"a","created_at":"soon"}
INVALID_VALUE {"do":"list-remove","list":"later","type":"case"}
INVALID_VALUE {"do":"list-move","list":"later","type":"case","id":"caseId003"}
INVALID_VALUE {"do":"list-move","list":"later","type":"case","id":"caseId003","before":"caseId001"}
INVALID_ID {"do":"follow","kind":"user","id":""}
INVALID_ID {"do":"follow","kind":"group","id":"!"}
INVALID_TEXT {"do":"follow","kind":"user","id":"a\u0000b"}
SELF {"do":"follow","kind":"user","id":"alice"}
EXISTS {"do":"group-create","group":"climbers"}
EXISTS {"do":"list-create","list":"later","name":"again"}
NOT_FOUND {"do":"list-add","list":"nowhere","type":"case","id":"a"}
NOT_FOUND {"do":"list-remove","list":"later","type":"case","id":"nothing"}
NOT_FOUND {"do":"group-set","group":"nobody","name":"N"}
TABLE
bad INVALID_TEXT $'{"do":"follow","kind":"user","id":"\xff"}'
bad TOO_LONG "{\"do\":\"follow\",\"kind\":\"user\",\"id\":\"$(printf 'x%.0s' {1..257})\"}"
bad TOO_LONG "{\"do\":\"follow\",\"kind\":\"user\",\"id\":\"$(head -c 300000 /dev/zero | tr '\0' x)\"}"
printf '{"do":"follow","kind":"user","id":"a\0b"}\n' >zero.jsonl
on alice batch zero.jsonl
is "a zero byte" 65 "$code"
refuses 75 IO alice batch .

# Transactions of 1,000 lines: what stands before the bad line's stays, and is told
numbers() {
    seq -f "{\"do\":\"list-add\",\"list\":\"$1\",\"type\":\"n\",\"id\":\"%.0f\"}" "$2" "$3"
}
do_on many init --user alice
do_on many batch <(echo '{"do":"list-create","list":"l","name":"l"}')
numbers l 1 2500 >many.jsonl
says '{"committed":1000}
{"committed":2000}
{"committed":2500}' many --json batch many.jsonl
{ numbers l 3001 4500; echo '{"do":"nothing"}'; numbers l 4501 5000; } >stops.jsonl
on many --json batch stops.jsonl
is "a bad line in the second transaction" 65 "$code"
is "the first one is committed" '{"committed":1000}' "$out"
matches "the second one is not" '"line":1501,"committed":1000\}$' "$err"
says '{"list":"l","name":"l","count":3500}' many --json list ls

# Killed at any moment: nothing that was acknowledged is lost, and the file is whole
for round in 1 2 3 4 5 6 7 8; do
    do_on "killed$round" init --user alice
    { echo '{"do":"list-create","list":"l","name":"l"}'; numbers l 1 60000; } >killed.jsonl
    "$DUNLIN" --db "killed$round.dunlin" --json batch killed.jsonl >acknowledged.txt &
    victim=$!
    while kill -0 "$victim" 2>/dev/null && [ "$(wc -l <acknowledged.txt)" -lt "$round" ]; do
        sleep 0.005
    done
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    kill -9 "$victim" 2>/dev/null
    wait "$victim" 2>/dev/null
    told="$(sed -n 's/^{"committed":\([0-9]*\)}$/\1/p' acknowledged.txt | tail -n 1)"
    do_on "killed$round" --json list ls
    held="$(sed -n 's/.*"count":\([0-9]*\)}/\1/p' out.txt)"
    told="${told:-0}" held="${held:--1}"
    [ $((held + 1)) -eq "$told" ] || [ $((held + 1)) -eq $((told + 1000)) ] ||
        { [ "$told" -gt 60000 ] && [ "$held" -eq 60000 ]; }
    is "round $round: told $told lines, holds $held items" 0 $?
    do_on "killed$round" verify
    rm -f "killed$round".dunlin*
done

finish
