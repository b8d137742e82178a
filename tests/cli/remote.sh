# A central behind a real dunlind: tokens, and sync --watch.
. "$(dirname "$0")/support.bash"

: "${DUNLIND:?set DUNLIND to the bridge}"
bridge= watcher=
trap 'for id in $bridge $watcher; do kill -9 "$id"; done 2>/dev/null; rm -rf "$folder"' EXIT

# until_true <seconds> <what> <command>…: waits until the command succeeds.
until_true() {
    local tries=$(($1 * 20)) what="$2"
    shift 2
    while ! "$@" >/dev/null 2>&1; do
        if [ $((tries -= 1)) -eq 0 ]; then
            is "$what" "in time" "not in time"
            return
        fi
        sleep 0.05
    done
    is "$what" "in time" "in time"
}

head -c 32 /dev/urandom >secret
"$DUNLIND" --store "sqlite:$folder/central.db" --auth-secret-file secret --listen 127.0.0.1:0 \
    --log access.log 2>bridge.txt &
bridge=$!
until_true 20 "dunlind comes up" grep -q 'listening on http' bridge.txt
url="$(grep -o 'http://127.0.0.1:[0-9]*' bridge.txt)"
token() {
    "$DUNLIND" token --auth-secret-file secret --user "$1"
}

do_on phone init --user alice
do_on laptop init --user alice
do_on tablet init --user dave

# Tokens
do_on phone follow user bob
good="$(token alice)"
do_on phone --json sync --remote "$url" --token "$good"
matches "sync over http" '"pushed":1,' "$out"
token alice >token.txt
do_on laptop --json sync --remote "$url" --token-file token.txt
matches "sync with a token's file" '"pulled":1,' "$out"
do_on laptop dump --remote "$url" --token-file token.txt
matches "dump --remote" '"collection":"follow","key":\["user","bob"\]' "$out"
do_on laptop --json verify --remote "$url" --token-file token.txt
matches "verify --remote" '"differ":0,' "$out"

# refused_token <what> <argument>…
refused_token() {
    local what="$1"
    shift
    on phone sync --remote "$url" "$@"
    is "$what: the exit code" 77 "$code"
    matches "$what: stderr" '^dunlin: NEED_LOGIN: [^'$'\n'']+$' "$err"
}
refused_token "no token"
refused_token "a token that is none" --token hello.world.again
is "no token in a message" "" "$(grep -o 'hello' err.txt)"
refused_token "another's token" --token "${good%.*}.AAAA"
is "no token in the log" "" "$(grep -o "${good%%.*}" access.log)"
refused_token "no such file" --token-file nothing.txt
: >empty.txt
refused_token "an empty file" --token-file empty.txt
refuses 64 MISUSE phone sync --remote "$url" --token a --token-file b
on phone sync --remote "$url" --token 'two words'
is "a token with a blank" 64 "$code"
on tablet sync --remote "$url" --token "$good"
is "another's scope: the exit code" 0 "$code"
do_on tablet --json following
is "another's scope: nothing of it is here" "" "$out"

# Nobody there
on phone sync --remote http://127.0.0.1:1 --token "$good"
is "nobody there: the exit code" 75 "$code"
matches "nobody there: stderr" '^dunlin: OFFLINE: ' "$err"

# --watch: a refused token's file is read anew; what others push arrives; what other processes edit goes
# up
echo not.this.one >token.txt
"$DUNLIN" --db laptop.dunlin --json sync --remote "$url" --token-file token.txt --watch \
    >watch.txt 2>watch_err.txt &
watcher=$!
until_true 20 "the watcher says that its token is refused" grep -q '"error":"NEED_LOGIN"' watch_err.txt
token alice >token.new && mv token.new token.txt
token alice >phone_token.txt
do_on phone follow user carol
do_on phone sync --remote "$url" --token-file phone_token.txt
follows() {
    "$DUNLIN" --db "$1.dunlin" --json following | grep -q "\"$2\""
}
until_true 20 "the watcher hears of a push" follows laptop carol
"$DUNLIN" --db laptop.dunlin follow user erin
here() {
    "$DUNLIN" --db phone.dunlin sync --remote "$url" --token-file phone_token.txt && follows phone erin
}
until_true 20 "the watcher sees an edit" here
# The bridge goes and comes back
kill -9 "$bridge"
wait "$bridge" 2>/dev/null
"$DUNLIN" --db laptop.dunlin follow user grace
until_true 20 "the watcher says that nobody is there" grep -q '"error":"OFFLINE"' watch_err.txt
"$DUNLIND" --store "sqlite:$folder/central.db" --auth-secret-file secret --listen "${url#http://}" \
    --log access.log 2>bridge.txt &
bridge=$!
here_again() {
    "$DUNLIN" --db phone.dunlin sync --remote "$url" --token-file phone_token.txt && follows phone grace
}
until_true 60 "the watcher finds the bridge again" here_again
kill -INT "$watcher"
code=0
wait "$watcher" || code=$?
watcher=
is "a watcher that is interrupted: the exit code" 0 "$code"
matches "what it printed" '^\{"exchanges":[0-9]+,"pushed":' "$(cat watch.txt)"

# A refused token without a file ends it
code=0
timeout 20 "$DUNLIN" --db laptop.dunlin sync --remote "$url" --token a.b.c --watch 2>err.txt || code=$?
is "a watcher whose token is refused: the exit code" 77 "$code"

kill -TERM "$bridge"
code=0
wait "$bridge" || code=$?
bridge=
is "dunlind ends" 0 "$code"

finish
