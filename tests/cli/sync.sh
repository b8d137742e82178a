# sync, outbox, rejected, dump and verify with a central.
. "$(dirname "$0")/support.bash"

central="sqlite:$folder/central.db"
do_on phone init --user alice
do_on laptop init --user alice
do_on tablet init --user dave

# outbox
says "" phone --json outbox
do_on phone follow user bob
do_on phone list create later
do_on phone --json outbox
matches "outbox: a line for each record" \
    '^\{"collection":"follow","scope":"user/alice","key":\["user","bob"\],"fields":\["present"\],"tried":false\}'$'\n''\{"collection":"list","scope":"user/alice","key":\["[0-9a-f]{24}"\],"fields":\[.*"name".*\],"tried":false\}$' "$out"
do_on phone outbox
matches "outbox: a table" '^COLLECTION +SCOPE +KEY +FIELDS +TRIED' "$out"

# sync
do_on phone --json sync --remote "$central"
matches "sync --json" '^\{"exchanges":[1-9][0-9]*,"pushed":2,"pulled":[0-9]+,"rejected":0,"quarantined":0,"bytes_sent":[1-9][0-9]*,"bytes_received":[1-9][0-9]*,"retry_at_ms":0\}$' "$out"
says "" phone --json outbox
do_on laptop sync --remote "$central"
matches "sync for people" 'changes received +2' "$out"
says '{"userId":"bob","origins":["!"]}' laptop --json subscriptions
do_on laptop --json status
matches "the time of the last sync" '"last_sync_ms":1[0-9]{12},' "$out"

# dump
do_on phone dump
mv out.txt phone.dump
do_on laptop dump
mv out.txt laptop.dump
do_on phone dump --remote "$central"
mv out.txt central.dump
is "a dump is not empty" 2 "$(wc -l <phone.dump)"
is "dumps of the devices" "$(cat phone.dump)" "$(cat laptop.dump)"
is "dumps of device and central" "$(cat phone.dump)" "$(cat central.dump)"
matches "a dump's line" '^\{"scope":"user/alice","collection":"follow","key":\["user","bob"\],"fields":\{"present":\["[0-9]+",true\]\}\}' "$(cat phone.dump)"

# verify
do_on phone --json verify
is "verify --json" '{"file_damaged":false,"subscriptions_off":0,"counts_off":0,"search_off":0,"repair":false}' "$out"
do_on phone --json verify --remote "$central"
matches "verify --remote --json" '^\{"file_damaged":false,"subscriptions_off":0,"counts_off":0,"search_off":0,"repair":false,"scopes":[1-9][0-9]*,"differ":0,"repaired":0\}$' "$out"
do_on phone verify --repair
matches "verify --repair" 'repair asked for +yes' "$out"
do_on phone follow user pending
do_on phone --json verify --remote "$central"
matches "what waits in the outbox does not differ" '"differ":0' "$out"
do_on phone sync --remote "$central"

# NOT_ALLOWED by central: one change is refused, the rest goes through
do_on tablet group create climbers --join closed
do_on tablet group add climbers erin
do_on tablet sync --remote "$central"
do_on phone follow user frank
do_on phone group add climbers alice
on phone --json sync --remote "$central"
is "rejected changes: the exit code" 69 "$code"
matches "rejected changes: the result" '"rejected":1' "$out"
is "rejected changes: stderr" "" "$err"
do_on phone --json rejected
matches "rejected --json" '^\{"id":[1-9][0-9]*,"code":"NOT_ALLOWED","collection":"member","scope":"group/climbers","key":\["alice"\],"at_ms":1[0-9]{12},"reason":".+","fields":\{.*"present":true.*\}\}$' "$out"
id="$(sed 's/^{"id":\([0-9]*\),.*/\1/' out.txt)"
do_on phone rejected
matches "rejected: a table" '^ *ID +CODE +COLLECTION +SCOPE +KEY +AT +REASON +FIELDS' "$out"
do_on phone --json status
matches "status counts it" '"rejected":1,' "$out"
do_on phone --json explain erin
matches "explain knows of the group" '"origin":"climbers","state":"(not_followed|closed|group_unknown)"|^\{"origin":"!"' "$out"
do_on phone rejected export "$id"
matches "export" '^\{.*"member".*\}$' "$out"
refuses 64 NOT_FOUND phone rejected export $((id + 1))
refuses 64 INVALID_JSON phone rejected edit "$id" '{'
do_on phone rejected retry "$id"
says "" phone --json rejected
do_on phone --json outbox
matches "retried" '"collection":"member"' "$out"
on phone sync --remote "$central"
is "refused again" 69 "$code"
do_on phone --json rejected
id="$(sed 's/^{"id":\([0-9]*\),.*/\1/' out.txt)"
do_on phone rejected discard "$id"
says "" phone --json rejected
do_on laptop sync --remote "$central"
says '{"kind":"user","target":"bob"}
{"kind":"user","target":"frank"}
{"kind":"user","target":"pending"}' laptop --json following

# Not allowed, known here already
do_on tablet group add climbers alice
do_on tablet sync --remote "$central"
do_on phone follow group climbers
do_on phone sync --remote "$central"
do_on phone --json group show climbers
refuses 77 NOT_ALLOWED phone group set climbers --name Mine
refuses 77 NOT_ALLOWED phone group delete climbers
refuses 77 NOT_ALLOWED phone group add climbers frank
on phone batch <(echo '{"do":"group-set","group":"climbers","name":"Mine"}')
is "not allowed in a batch" 77 "$code"

# Centrals that are none
echo "this is no database, and long enough to be sure of that: $(printf 'x%.0s' {1..2000})" >text.db
refuses 65 NOT_A_STORE phone sync --remote "sqlite:$folder/text.db"
on phone sync --remote "sqlite:$folder/no/such/folder/central.db"
is "a central in no folder" 75 "$code"

finish
