"""Server-sent events: whoever listens hears within a second that something that he may read and cares
for has changed, and hears of nothing else."""
# ctest: serial engines

import socket

from device import Device
from signing import *
from support import *


def push(bridge, user, scope, key, fields):
    collection, *parts = key.split("/")
    record = {"scope": scope, "collection": collection, "key": parts,
              "fields": {name: [stamp(), value] for name, value in fields.items()}}
    status, _, body = bridge.post("sync", user, sync_body([{"scope": scope}], [record]))
    same(f"{user} writes {key} in {scope}", (200, []),
         (status, [x["code"] for x in read(body)[1] if "refused" in x]))


def hears(what, listener, scopes, since, done=None):
    eventually(what, lambda: set(scopes) <= set(listener.scopes(since)), 5)
    for scope in scopes:
        told = [when for when, name, data in listener.events
                if name == "news" and when >= since and scope in data["scopes"]]
        age = told and told[0] - (done or since)
        check(what + ", within a second", told and age < 1, age)


def news(bridge):
    alice, phone, bob = Listener(bridge, "alice"), Listener(bridge, "alice"), Listener(bridge, "bob")
    same("type", "text/event-stream", alice.answer.headers["Content-Type"])
    same("protocol", "1", alice.answer.headers["Dunlin-Protocol"])
    for listener in (alice, phone, bob):
        eventually("hello", lambda: listener.events)
        same("hello says", ("hello", {"protocol": 1}), listener.events[0][1:])
    time.sleep(0.6)
    since = time.monotonic()
    push(bridge, "alice", "user/alice", "follow/group/tea", {"present": True})
    hears("own scope", alice, ["user/alice"], since)
    hears("own scope, another device", phone, ["user/alice"], since)
    time.sleep(0.6)
    same("nobody else hears of it", [], bob.scopes())

    since = time.monotonic()
    push(bridge, "bob", "group/tea", "group", {"deleted": False, "owner": "bob", "join": "open"})
    hears("a group that was just followed", alice, ["group/tea"], since)
    push(bridge, "bob", "group/run", "group", {"deleted": False, "owner": "bob", "join": "open"})
    time.sleep(0.6)
    check("nothing of a group that she does not follow", "group/run" not in alice.scopes())
    same("who owns a group but does not care hears nothing", [], bob.scopes())

    since = time.monotonic()
    push(bridge, "bob", "user/bob", "mygroup/tea", {"present": True})
    hears("own scope", bob, ["user/bob"], since)
    time.sleep(0.6)
    since = time.monotonic()
    push(bridge, "bob", "group/tea", "member/alice", {"present": True})
    hears("a group of his own", bob, ["group/tea"], since)

    push(bridge, "bob", "group/tea", "group", {"join": "closed"})
    time.sleep(1)
    since = time.monotonic()
    push(bridge, "bob", "group/tea", "group", {"name": "Tea"})
    hears("a member of a closed group", alice, ["group/tea"], since)
    push(bridge, "bob", "group/tea", "member/alice", {"present": False})
    time.sleep(1)
    since = time.monotonic()
    push(bridge, "bob", "group/tea", "group", {"name": "Secret"})
    hears("its owner", bob, ["group/tea"], since)
    same("nobody else", [], alice.scopes(since))

    push(bridge, "alice", "user/alice", "follow/group/tea", {"present": False})
    push(bridge, "bob", "group/tea", "group", {"join": "open"})
    time.sleep(1)
    since = time.monotonic()
    push(bridge, "bob", "group/tea", "group", {"name": "Open"})
    time.sleep(1)
    same("who follows no more hears no more", [], alice.scopes(since))
    for listener in (alice, phone, bob):
        listener.close()


def late(bridge):
    """What happened just before somebody's groups were known is not lost."""
    push(bridge, "dan", "user/dan", "follow/group/tea", {"present": True})
    for _ in range(5):
        dan = Listener(bridge, "dan")
        push(bridge, "bob", "group/tea", "group", {"name": nonce()})
        eventually("news at once after hello", lambda: "group/tea" in dan.scopes(), 2)
        dan.close()
    # A look that came before his groups were known has seen it; he is told all the same.
    push(bridge, "gus", "user/gus", "follow/group/tea", {"present": True})
    push(bridge, "bob", "group/tea", "group", {"name": nonce()})
    push(bridge, "bob", "group/run", "group", {"name": nonce()})
    time.sleep(1)
    fay = Listener(bridge, "fay")
    gus = Listener(bridge, "gus")
    eventually("news from just before", lambda: "group/tea" in gus.scopes(), 2)
    same("for those who care", [], fay.scopes())
    gus.close()
    fay.close()


def slow(bridge):
    """One who does not read holds up nobody, and is told in the end."""
    deaf = socket.create_connection(("127.0.0.1", bridge.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    deaf.sendall(b"GET /v1/live HTTP/1.1\r\nHost: x\r\nDunlin-User: carol\r\n\r\n")
    carol = Listener(bridge, "carol")
    time.sleep(0.6)
    memory = bridge.memory_kib()
    for number in range(300):
        bridge.post("sync", "carol", sync_body([{"scope": "user/carol"}],
                                               [follow("carol", f"x{number}")]))
    since = time.monotonic()
    push(bridge, "carol", "user/carol", "follow/user/last", {"present": True})
    hears("the other one", carol, ["user/carol"], since)
    check("bounded memory", bridge.memory_kib() - memory < memory_bound(16 * 1024))
    data = b""
    deaf.settimeout(2)
    while b"news" not in data:
        data += deaf.recv(4096)
    check("the slow one", b"user/carol" in data)
    deaf.close()
    carol.close()


def others(bridge):
    """What came in through another dunlind, or past all of them, is news too."""
    with tempfile.TemporaryDirectory() as folder, Bridge(store=bridge.store) as other:
        here, there = Listener(bridge, "hal"), Listener(other, "hal")
        eventually("hello", lambda: here.events and there.events)
        time.sleep(0.6)
        since = time.monotonic()
        push(other, "hal", "user/hal", "follow/user/ida", {"present": True})
        hears("from the other one", here, ["user/hal"], since)
        time.sleep(0.6)
        device = Device(folder, 0, bridge.store, "hal")
        device.batch([{"do": "follow", "kind": "user", "id": "jan"}])
        since = time.monotonic()
        device.sync()
        done = time.monotonic()
        for listener in (here, there):
            hears("from a device at the store itself", listener, ["user/hal"], since, done)
            listener.close()


def ceilings():
    with Bridge("--listeners", "5", "--user-listeners", "3") as bridge:
        own = [Listener(bridge, "alice") for _ in range(3)]
        same("a user's", [200, 200, 200], [x.status for x in own])
        status, headers, body = bridge.request("GET", "/v1/live", headers={"Dunlin-User": "alice"})
        same("one too many of a user", (429, True),
             (status, int(headers["Retry-After"]) > 0))
        same("says so", "UNAVAILABLE", read(body)[0]["code"])
        others = [Listener(bridge, f"u{i}") for i in range(2)]
        same("others", [200, 200], [x.status for x in others])
        status, headers, _ = bridge.request("GET", "/v1/live", headers={"Dunlin-User": "u9"})
        same("one too many of all", (503, True), (status, int(headers["Retry-After"]) > 0))
        same("requests go on", 200, bridge.post("sync", "alice", sync_body([]))[0])
        same("counted", 5.0, bridge.metric("dunlin_listeners"))
        own[0].close()
        push(bridge, "alice", "user/alice", "follow/user/bob", {"present": True})
        time.sleep(0.5)
        push(bridge, "alice", "user/alice", "follow/user/carol", {"present": True})

        def free():
            again = Listener(bridge, "alice")
            again.close()
            return again.status == 200
        eventually("a place is free again", free, 20)


def ends():
    key = Secret()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "secret")
        with open(path, "wb") as file:
            file.write(key.secret)
        with Bridge(auth=("--auth-secret-file", path)) as bridge:
            same("no token", 401, Listener(bridge, None, {"Dunlin-User": "alice"}).status)
            short = key.token(claims("alice", exp=int(time.time()) - 58))
            lasting = key.token(claims("alice"))
            dying = Listener(bridge, None, {"Authorization": "Bearer " + short})
            living = Listener(bridge, None, {"Authorization": "Bearer " + lasting})
            eventually("a token runs out", lambda: dying.ended, 5)
            check("another goes on", not living.ended)
            started = time.monotonic()
            same("drained", 0, bridge.stop())
            check("at once", time.monotonic() - started < 5)
            eventually("its stream ended", lambda: living.ended, 2)
            same("in order", "hello", living.events[0][1])
            lines = [x for x in bridge.log_lines() if x["path"] == "/v1/live"]
            same("logged", [200, 200, 401], sorted(x["status"] for x in lines))


with Bridge() as shared:
    news(shared)
    late(shared)
    slow(shared)
    others(shared)
    silent = Listener(shared, "erin")
    eventually("a comment in silence", lambda: silent.comments > 0, 20)
    silent.close()
ceilings()
ends()
finish()
