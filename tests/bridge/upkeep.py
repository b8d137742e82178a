"""What dunlind does by itself: maintenance, and an alarm when history was lost."""

import sqlite3

from support import *


def versions(bridge):
    with sqlite3.connect(bridge.store[7:]) as db:
        return db.execute("SELECT count(*) FROM changes").fetchone()[0]


def age(bridge, days):
    """Lets everything in the store be older."""
    with sqlite3.connect(bridge.store[7:], timeout=10) as db:
        db.execute("UPDATE changes SET at = at - ?", (days * 86400 * 1000,))


with Bridge("--maintain-seconds", "1") as bridge:
    for present in (True, False, True):
        bridge.post("sync", "alice", sync_body([{"scope": "user/alice"}],
                                               [follow("alice", "bob", present=present)]))
        time.sleep(0.01)
    same("three versions", 3, versions(bridge))
    time.sleep(3)
    same("kept for a day", 3, versions(bridge))
    age(bridge, 2)
    eventually("then the newest", lambda: versions(bridge) == 1)

    same("no alarm", 0.0, bridge.metric("dunlin_held_total"))
    head, lines, _ = read(bridge.post("sync", "alice", sync_body([pull("user/alice")]))[2])
    line = pull("user/alice", ("9", "1"), head["epoch"])
    same("held", ["held"], [x["state"] for x in read(
        bridge.post("sync", "alice", sync_body([line]))[2])[1] if "state" in x])
    same("counted", 1.0, bridge.metric("dunlin_held_total"))
    eventually("the operator is told", lambda: any("dunlind restored" in x for x in bridge.said))
    same("ends", 0, bridge.stop())
finish()
