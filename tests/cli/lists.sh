# list … and search: what they do and their JSON.
. "$(dirname "$0")/support.bash"

do_on alice init --user alice
says "" alice --json list ls
do_on alice list create 見逃し
matches "list create prints the id" '^[0-9a-f]{24}$' "$out"
later="$out"
do_on alice --json list create お気に入り
matches "list create --json" '^\{"list":"[0-9a-f]{24}","name":"お気に入り"\}$' "$out"
best="$(sed 's/.*"list":"\([^"]*\)".*/\1/' out.txt)"

# By id, and by name
says "" alice list add "$later" case caseId001 --at 2020-01-01T00:00:00Z
says "" alice list add 見逃し case caseId002 --at 20200102T000000Z --title 第二話 --data '{"n":1.0}'
says "" alice list add 見逃し case caseId003 --at 2020-01-03T09:30:00.250+09:00
says "{\"list\":\"$later\",\"name\":\"見逃し\",\"count\":3}
{\"list\":\"$best\",\"name\":\"お気に入り\",\"count\":0}" alice --json list ls
items='{"list":"LATER","type":"case","id":"caseId001","created_at":1577836800000,"title":null,"data":null}
{"list":"LATER","type":"case","id":"caseId002","created_at":1577923200000,"title":"第二話","data":{"n":1.0}}
{"list":"LATER","type":"case","id":"caseId003","created_at":1578011400250,"title":null,"data":null}'
says "${items//LATER/$later}" alice --json list show 見逃し
says 'TYPE  ID         ADDED                     TITLE   DATA
case  caseId001  2020-01-01T00:00:00Z      -       -
case  caseId002  2020-01-02T00:00:00Z      第二話  {"n":1.0}
case  caseId003  2020-01-03T00:30:00.250Z  -       -' alice list show "$later"

# Adding again changes what is given, and nothing else
says "" alice list add 見逃し case caseId002 --title 第2話
do_on alice --json list show 見逃し
matches "the rest stays" '"id":"caseId002","created_at":1577923200000,"title":"第2話","data":\{"n":1.0\}' "$out"
says "" alice list add 見逃し case caseId001 --data $'{\n"a": [1,\r\n2]}'
do_on alice --json list show 見逃し
is "a line stays a line" 3 "$(wc -l <out.txt)"
matches "data as it is" '"data":\{ "a": \[1,  2\]\}' "$out"

# ids <list>
ids() {
    "$DUNLIN" --db alice.dunlin --json list show "$1" | sed 's/.*"id":"\([^"]*\)".*/\1/' | tr '\n' ' '
}
says "" alice list move 見逃し case caseId003 --first
is "first" "caseId003 caseId001 caseId002 " "$(ids "$later")"
says "" alice list move 見逃し case caseId003 --last
is "last" "caseId001 caseId002 caseId003 " "$(ids "$later")"
says "" alice list move 見逃し case caseId003 --before case:caseId002
is "before" "caseId001 caseId003 caseId002 " "$(ids "$later")"
says "" alice list move 見逃し case caseId002 --to お気に入り
says "" alice list move 見逃し case caseId001 --to お気に入り --before case:caseId002
is "moved" "caseId003 " "$(ids "$later")"
is "moved to" "caseId001 caseId002 " "$(ids "$best")"
says "" alice list add お気に入り 'a:b' 'c:d'
says "" alice list move お気に入り case caseId002 --before 'a:b:c:d'
is "before an item with colons" "caseId001 caseId002 c:d " "$(ids "$best")"
says "" alice list move お気に入り 'a:b' 'c:d' --before 'case:caseId001'
is "an item with colons" "c:d caseId001 caseId002 " "$(ids "$best")"
says "" alice list remove お気に入り 'a:b' 'c:d'
is "removed" "caseId001 caseId002 " "$(ids "$best")"

says "" alice list rank お気に入り --first
do_on alice --json list ls
matches "rank first" "^\\{\"list\":\"$best\"" "$out"
says "" alice list rank お気に入り --last
do_on alice --json list ls
matches "rank last" "^\\{\"list\":\"$later\"" "$out"
says "" alice list rank "$best" --before "$later"
do_on alice --json list ls
matches "rank before" "^\\{\"list\":\"$best\"" "$out"

says "" alice list rename お気に入り 殿堂
says "{\"list\":\"$best\",\"name\":\"殿堂\",\"type\":null,\"id\":null,\"title\":null}" \
    alice --json search 殿堂
says "{\"list\":\"$best\",\"name\":\"殿堂\",\"type\":\"case\",\"id\":\"caseId002\",\"title\":\"第2話\"}" \
    alice --json search 2話
says "" alice --json search 第二
do_on alice sync --remote "sqlite:$folder/central.db" # what central never heard of leaves no trace
says "" alice list delete 殿堂
says "" alice --json search 殿堂
refuses 64 NOT_FOUND alice list show "$best"
says "{\"list\":\"$later\",\"name\":\"見逃し\",\"count\":1}" alice --json list ls
says "" alice list delete "$best"
says "" alice list restore "$best"
is "restored with its items" "caseId001 caseId002 " "$(ids "$best")"

do_on plain init --user alice --without-search
do_on plain list create 見逃し
refuses 64 UNSUPPORTED plain search 見逃

finish
