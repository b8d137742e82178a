# follow, unfollow, following, subscriptions, explain, group …: what they do and their JSON.
. "$(dirname "$0")/support.bash"

do_on alice init --user alice
says "" alice following
says "" alice --json following
says "" alice --json subscriptions

says "" alice follow user bob
says "" alice follow user bob
says "" alice --json follow user carol
says "" alice follow group climbers
says '{"kind":"user","target":"bob"}
{"kind":"user","target":"carol"}
{"kind":"group","target":"climbers"}' alice --json following
says 'KIND   ID
user   bob
user   carol
group  climbers' alice following
says "" alice unfollow user carol
says "" alice unfollow user carol
says "" alice unfollow user somebody
says '{"kind":"user","target":"bob"}
{"kind":"group","target":"climbers"}' alice following --json

do_on alice --json explain dave
is "explain: not followed" \
    '{"origin":"!","state":"not_followed","pending":false,"rejected":false' "${out%%,\"sentence\"*}"
matches "explain: the group is unknown" \
    '"origin":"climbers","state":"group_unknown","pending":true,"rejected":false,"sentence":".+"' "$out"

says "" alice group create climbers --name 登山 --join closed
says "" alice group add climbers dave
says "" alice group add climbers bob --role admin
says "" alice group add climbers alice
says '{"group":"climbers","name":"登山","owner":"alice","join":"closed","members":3,"followed":true,"member":true,"role":"member"}' \
    alice --json group show climbers
says '{"user":"alice","role":"member"}
{"user":"bob","role":"admin"}
{"user":"dave","role":"member"}' alice --json group members climbers
says '{"userId":"bob","origins":["!","climbers"]}
{"userId":"dave","origins":["climbers"]}' alice --json subscriptions
says '{"userId":"dave","origins":["climbers"]}' alice --json subscriptions dave
says "" alice --json subscriptions nobody
says 'USER  BECAUSE OF (! is a direct follow)
bob   !, climbers
dave  climbers' alice subscriptions

do_on alice explain bob
is "explain: a line for each reason" 2 "$(wc -l <out.txt)"
matches "explain: what counts is marked" '^\+ !: .+'$'\n''\+ climbers: .+' "$out"
do_on alice --json explain alice
matches "explain oneself" '"state":"self"' "$out"

says "" alice group set climbers --name Climbers --join open
do_on alice --json group show climbers
matches "group set" '"name":"Climbers","owner":"alice","join":"open"' "$out"
says "" alice group remove climbers dave
says "" alice group add climbers alice --role admin
says '{"user":"alice","role":"admin"}
{"user":"bob","role":"admin"}' alice --json group members climbers
says '{"userId":"bob","origins":["!","climbers"]}' alice --json subscriptions
do_on alice sync --remote "sqlite:$folder/central.db" # what central never heard of leaves no trace
says "" alice group delete climbers
refuses 64 NOT_FOUND alice group show climbers
refuses 64 EXISTS alice group create climbers
says '{"userId":"bob","origins":["!"]}' alice --json subscriptions
do_on alice --json explain dave
matches "explain: the group is deleted" '"origin":"climbers","state":"group_deleted"' "$out"

# Ids that look like something else
says "" alice follow user -- --json
says "" alice follow user 'a"b\c'
says "" alice follow user $'new\nline'
says '{"userId":"--json","origins":["!"]}' alice --json subscriptions -- --json
says '{"userId":"a\"b\\c","origins":["!"]}' alice --json subscriptions 'a"b\c'
says '{"userId":"new\nline","origins":["!"]}' alice --json subscriptions $'new\nline'
says 'USER           BECAUSE OF (! is a direct follow)
new\u000aline  !' alice subscriptions $'new\nline'

finish
