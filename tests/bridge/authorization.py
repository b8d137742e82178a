"""The rules of authorization hold over HTTP, as docs/protocol.md has them: who may write and read what,
and a refusal changes nothing. aoi owns tea, dai is its admin, ben a member, emi nothing."""
# ctest: engines

from support import *

OK, NO = None, "NOT_ALLOWED"
TEA = "group/tea"


def push(bridge, user, scope, key, fields):
    """The refusal's code, or None."""
    collection, *parts = key.split("/")
    record = {"scope": scope, "collection": collection, "key": parts,
              "fields": {name: [stamp(), value] for name, value in fields.items()}}
    status, _, body = bridge.post("sync", user, sync_body([{"scope": scope}], [record]))
    same(f"{user} {key}: status", 200, status)
    return next((x["code"] for x in read(body)[1] if "refused" in x), None)


def readable(bridge, user, scope):
    lines = read(bridge.post("sync", user, sync_body([pull(scope)]))[2])[1]
    state = next(x["state"] for x in lines if "state" in x)
    records = [x for x in lines if "collection" in x]
    check(f"{user} gets nothing of {scope} without leave", state == "page" or not records)
    return state


def seq(bridge, user, scope):
    lines = read(bridge.post("sync", user, sync_body([pull(scope)]))[2])[1]
    return next(x.get("seq", "0") for x in lines if "state" in x)


# Each row is judged in a group made anew: user, scope, key, fields, what becomes of it.
PRESENT, ABSENT = {"present": True}, {"present": False}
ROWS = (
    ("ben", "user/aoi", "list/l1", {"deleted": False}, NO),
    ("aoi", "user/aoi", "list/l1", {"deleted": False}, OK),
    ("aoi", "user/aoi", "follow/user/aoi", PRESENT, "SELF"),
    ("aoi", "user/aoi", "hologram/h1", {"present": True, "depth": {"i": "3"}}, OK),
    ("aoi", TEA, "hologram/h1", PRESENT, NO),
    ("aoi", "actor/aoi", "profile", {"name": "Aoi"}, NO),
    ("aoi", "inbox/aoi/people", "entry/a1", PRESENT, NO),
    ("aoi", "group/!", "hologram/h1", PRESENT, NO),
    ("aoi", TEA, "list/l1", {"deleted": False}, "INVALID_VALUE"),
    ("aoi", "user/aoi", "member/ben", PRESENT, "INVALID_VALUE"),
    ("ben", "group/run", "group", {"deleted": False, "owner": "aoi"}, NO),
    ("ben", "group/run", "group", {"deleted": False, "name": "Run"}, NO),
    ("ben", "group/run", "group", {"deleted": False, "owner": "ben"}, OK),
    ("aoi", TEA, "group", {"owner": "ben"}, NO),
    ("dai", TEA, "group", {"owner": "dai"}, NO),
    ("emi", TEA, "group", {"deleted": False, "owner": "emi", "name": "Mine"}, NO),
    ("dai", TEA, "group", {"name": "Cha", "join": "closed"}, OK),
    ("ben", TEA, "group", {"name": "Ben's"}, NO),
    ("emi", TEA, "group", {"join": "open"}, NO),
    ("dai", TEA, "group", {"deleted": True}, NO),
    ("ben", TEA, "group", {"deleted": True}, NO),
    ("aoi", TEA, "group", {"deleted": True}, OK),
    ("aoi", "group/none", "member/aoi", PRESENT, "NO_GROUP"),
    ("emi", TEA, "member/emi", PRESENT, OK),
    ("emi", TEA, "member/emi", {"present": True, "role": "admin"}, NO),
    ("ben", TEA, "member/emi", PRESENT, NO),
    ("dai", TEA, "member/emi", PRESENT, OK),
    ("dai", TEA, "member/emi", {"present": True, "role": "admin"}, NO),
    ("aoi", TEA, "member/emi", {"present": True, "role": "admin"}, OK),
    ("ben", TEA, "member/dai", ABSENT, NO),
    ("emi", TEA, "member/ben", ABSENT, NO),
    ("dai", TEA, "member/ben", ABSENT, OK),
    ("ben", TEA, "member/ben", ABSENT, OK),
    ("ben", TEA, "member/ben", {"role": "admin"}, NO),
    ("dai", TEA, "member/ben", {"role": "admin"}, NO),
    ("dai", TEA, "member/dai", {"role": "member"}, NO),
    ("aoi", TEA, "member/ben", {"role": "admin"}, OK),
    ("aoi", TEA, "group", {"colour": "teal"}, OK),
    ("ben", TEA, "group", {"colour": "teal"}, NO),
    ("ben", TEA, "member/ben", {"colour": "teal"}, NO),
    ("dai", TEA, "member/ben", {"colour": "teal"}, OK),
    ("aoi", TEA, "group", {"owner": "aoi"}, OK),
    ("emi", TEA, "member/emi", ABSENT, OK),
    ("dai", TEA, "member/dai", ABSENT, OK),
    ("dai", "inbox/dai/people", "entry/a1", PRESENT, NO),
)

# One after another, in a group of its own.
CLOSED = (
    ("emi", "member/emi", ABSENT, NO),
    ("emi", "group", {"name": "Mine"}, NO),
    ("ben", "member/ben", PRESENT, NO),  # no news, but he adds nobody, himself neither
    ("ben", "member/ben", ABSENT, OK),
    ("ben", "member/ben", ABSENT, OK),  # though he reads no more
    ("ben", "member/ben", PRESENT, NO),
    ("dai", "member/ben", PRESENT, OK),
)
RETURNING = (
    ("dai", "member/dai", ABSENT, OK),
    ("dai", "member/dai", PRESENT, NO),
    ("dai", "member/dai", {"present": True, "role": "member"}, OK),
)
KEPT_ROLE = (
    ("dai", "member/dai", {"present": True, "role": "member"}, NO),
    ("dai", "member/dai", {"present": True, "role": "admin"}, OK),
)
DELETED = (
    ("aoi", "group", {"deleted": True}, OK),
    ("aoi", "group", {"deleted": False}, NO),
    ("aoi", "group", {"name": "Was tea"}, OK),
    ("dai", "group", {"name": "Dai's"}, NO),
    ("aoi", "member/emi", PRESENT, NO),
    ("dai", "member/ben", ABSENT, NO),
    ("ben", "member/ben", ABSENT, OK),
    ("aoi", "member/dai", ABSENT, OK),
    ("emi", "group", {"deleted": False, "owner": "emi"}, NO),
)


def make_group(bridge, scope, join):
    for key, fields in (("group", {"deleted": False, "owner": "aoi", "name": "Tea", "join": join}),
                        ("member/dai", {"present": True, "role": "admin"}),
                        ("member/ben", {"present": True, "role": "member"})):
        same("made", OK, push(bridge, "aoi", scope, key, fields))


with Bridge() as bridge:
    for number, (user, scope, key, fields, expected) in enumerate(ROWS):
        here = f"group/tea{number}" if scope == TEA else scope
        if scope == TEA:
            make_group(bridge, here, "open")
        before = seq(bridge, "aoi", here)
        same(f"{user} {scope} {key} {fields}", expected, push(bridge, user, here, key, fields))
        if expected is not OK:
            same(f"{user} {key} {fields}: nothing written", before, seq(bridge, "aoi", here))
    for name, join, steps in (("shut", "closed", CLOSED), ("back", "open", RETURNING),
                              ("kept", "open", KEPT_ROLE), ("gone", "open", DELETED)):
        make_group(bridge, "group/" + name, join)
        for user, key, fields, expected in steps:
            same(f"{name}: {user} {key} {fields}", expected,
                 push(bridge, user, "group/" + name, key, fields))
    make_group(bridge, "group/closed", "closed")
    same("joins no closed group", NO, push(bridge, "emi", "group/closed", "member/emi", PRESENT))
    for user, state in (("aoi", "page"), ("dai", "page"), ("ben", "page"), ("emi", "denied")):
        same(f"{user} reads a closed group", state, readable(bridge, user, "group/closed"))
    same("anybody reads an open one", "page", readable(bridge, "emi", "group/tea23"))
    same("his own", "page", readable(bridge, "aoi", "user/aoi"))
    same("another's", "denied", readable(bridge, "ben", "user/aoi"))
    for user in ("aoi", "ben"):
        same("any inbox", "denied", readable(bridge, user, "inbox/aoi/people"))
    same("a deleted group is read as before", ("page", "page"),
         (readable(bridge, "ben", "group/gone"), readable(bridge, "emi", "group/gone")))
    status, _, body = bridge.post("verify", "ben", lines_of(
        {"dunlin": 1, "kind": "verify", "nonce": nonce()},
        {"scope": "user/aoi", "prefix": ""}, {"end": 1}))
    same("verify says nothing of another's", (200, True),
         (status, read(body)[1][0].get("denied")))
finish()
