# Every way to call the command wrongly: the exit code, the status' name, and nothing changed.
. "$(dirname "$0")/support.bash"

do_on alice init --user alice
do_on alice follow user bob
do_on alice group create climbers --name Climbers
do_on alice group add climbers carol
do_on alice batch <(echo '{"do":"list-create","list":"later","name":"見逃し"}') --json
do_on alice list add later case caseId001
do_on alice list create twins
do_on alice list create twins

long_id="$(printf 'x%.0s' {1..257})"
long_name="$(printf 'x%.0s' {1..1025})"
not_utf8=$'\xff\xfe'

# Nothing to run
for arguments in '' '--json' '-h' '--hlp' '--db'; do
    read -r -a words <<<"$arguments"
    run "${words[@]}"
    is "dunlin $arguments: the exit code" 64 "$code"
    matches "dunlin $arguments: stderr" MISUSE "$err"
    is "dunlin $arguments: stdout" "" "$out"
done
run follow user bob
is "without --db" 64 "$code"
matches "without --db" 'MISUSE: --db FILE is missing' "$err"

# Unknown words
refuses 64 MISUSE alice folow user bob
matches "a hint" 'did you mean \\"follow\\"\?' "$err"
refuses 64 MISUSE alice frobnicate
refuses 64 MISUSE alice list
refuses 64 MISUSE alice list frobnicate
matches "what there is" 'create, ls, show, rename, rank, delete, restore, add, remove, move' "$err"
refuses 64 MISUSE alice group
refuses 64 MISUSE alice rejected frobnicate
refuses 64 MISUSE alice status --remot x
matches "a hint" 'did you mean --remote\?' "$err"
refuses 64 MISUSE alice status -x
refuses 64 MISUSE alice following --frobnicate
refuses 64 MISUSE alice follow user bob --title T
refuses 64 MISUSE alice list add later case c1 --title
refuses 64 MISUSE alice list add later case c1 --title A --title B
refuses 64 MISUSE alice wipe --force=yes
refuses 64 MISUSE alice --db other.dunlin status

# Too few words, and too many
while read -r -a words; do
    refuses 64 MISUSE alice "${words[@]}"
done <<'TABLE'
follow
follow user
follow user bob carol
unfollow group
following all
subscriptions bob carol
explain
explain bob carol
group create
group create a b
group set
group set climbers
group add climbers
group add climbers a b
group remove climbers
group members
group show
group delete
list create
list create a b
list ls later
list show
list rename later
list rank
list rank later
list rank later --first --last a b c d
list delete
list restore
list add later case
list add later case c1 c2
list remove later case
list move later case caseId001
list move later case
search
search a b
batch
batch a b
status all
outbox all
rejected retry
rejected retry 1 2
rejected edit 1
rejected discard
rejected export
dump all
backup
wipe all
sync all
init
TABLE

# Values that are none
refuses 64 INVALID_VALUE alice follow people bob
refuses 64 INVALID_VALUE alice unfollow "" bob
refuses 64 INVALID_VALUE alice group create g --join maybe
refuses 64 INVALID_VALUE alice group set climbers --join maybe
refuses 64 INVALID_VALUE alice group add climbers dave --role king
refuses 64 INVALID_VALUE alice list rank later --first --last
refuses 64 INVALID_VALUE alice list move later case caseId001 --first --before case:x
refuses 64 INVALID_VALUE alice list move later case caseId001 --before caseId002
refuses 64 INVALID_VALUE alice rejected retry one
refuses 64 INVALID_VALUE alice rejected discard -- -1
refuses 64 INVALID_VALUE alice rejected export 99999999999999999999
for time in yesterday 2020 2020-13-01 2020-02-30 2020-01-01T00:00:00 2020-01-01T25:00:00Z \
    2020-01-01T00:00:00.Z 2020-01-01T00:00:00+9 2020-01-01T00:00:00Zx 20200101T00:00:00Z ""; do
    refuses 64 INVALID_VALUE alice list add later case c1 --at "$time"
done

# Ids and texts that are none
for command in "follow user" "follow group" "unfollow user" "group create" "group add climbers" \
    "list add later case" "explain" "subscriptions"; do
    read -r -a words <<<"$command"
    refuses 64 INVALID_ID alice "${words[@]}" ""
    refuses 64 TOO_LONG alice "${words[@]}" "$long_id"
    on alice "${words[@]}" "$not_utf8"
    is "$command: not UTF-8" 64 "$code"
    matches "$command: not UTF-8" "INVALID_TEXT" "$err"
done
refuses 64 INVALID_ID alice follow group '!'
refuses 64 INVALID_ID alice group create '!'
refuses 64 SELF alice follow user alice
refuses 64 TOO_LONG alice group create g --name "$long_name"
refuses 64 TOO_LONG alice list create "$long_name"
refuses 64 TOO_LONG alice list rename later "$long_name"
refuses 64 TOO_LONG alice list add later case c1 --title "$long_name"
refuses 64 TOO_LONG alice list add later case c1 --data "\"$(printf 'x%.0s' {1..16384})\""
refuses 64 TOO_LONG alice search "$long_name"
for json in '{' '{"a":1} x' "{'a':1}" '' 'nul' '[1,]'; do
    refuses 64 INVALID_JSON alice list add later case c1 --data "$json"
done
on alice list add later case c1 --title "$not_utf8"
matches "a title that is not UTF-8" "INVALID_TEXT" "$err"

# What is not there, and what is there already
refuses 64 NOT_FOUND alice group set nobody --name N
refuses 64 NOT_FOUND alice group members nobody
refuses 64 NOT_FOUND alice group show nobody
refuses 64 NOT_FOUND alice group delete nobody
refuses 64 NOT_FOUND alice list show nowhere
refuses 64 NOT_FOUND alice list rename nowhere N
refuses 64 NOT_FOUND alice list rank nowhere --first
refuses 64 NOT_FOUND alice list rank later --before nowhere
refuses 64 NOT_FOUND alice list delete nowhere
refuses 64 NOT_FOUND alice list restore nowhere
refuses 64 NOT_FOUND alice list add nowhere case c1
refuses 64 NOT_FOUND alice list remove later case c1
refuses 64 NOT_FOUND alice list move later case c1 --last
refuses 64 NOT_FOUND alice list move later case caseId001 --to nowhere
refuses 64 NOT_FOUND alice list move later case caseId001 --before case:c1
refuses 64 NOT_FOUND alice rejected retry 1
refuses 64 NOT_FOUND alice rejected edit 1 '{}'
refuses 64 NOT_FOUND alice rejected discard 1
refuses 64 NOT_FOUND alice rejected export 1
refuses 64 NOT_FOUND alice batch nowhere.jsonl
refuses 64 EXISTS alice group create climbers
refuses 64 MISUSE alice list show twins
matches "which one?" '2 lists have that name' "$err"

# Stores
refuses 64 NOT_FOUND nobody status
[ ! -e nobody.dunlin ]
is "a store that is not there is not made" 0 $?
refuses 77 WRONG_OWNER alice init --user mallory
refuses 64 INVALID_ID alice init --user ""

# Remotes
refuses 64 MISUSE alice sync
refuses 64 MISUSE alice sync --remote somewhere
refuses 64 MISUSE alice dump --remote ftp://x
refuses 64 MISUSE alice sync --remote mongodb://127.0.0.1:1/
refuses 75 OFFLINE alice sync --remote 'mongodb://127.0.0.1:1/db?serverSelectionTimeoutMS=200'
refuses 64 UNSUPPORTED alice sync --remote sqlite:central.db --token t
refuses 64 UNSUPPORTED alice sync --remote sqlite:central.db --token-file f
refuses 64 MISUSE alice sync --remote http://127.0.0.1:1 --token t --token-file f
refuses 64 MISUSE alice sync --remote 'http://127.0.0.1:1/?a=b'
refuses 64 MISUSE alice sync --remote http://alice:secret@127.0.0.1:1
[ ! -e central.db ]
is "no central was made" 0 $?

finish
