"""A client written from docs/protocol.md alone drives a real dunlind: push, pull, conflict, refusals,
reset, held, verify, errors, gzip, live. Chapters are those of that page."""
# ctest: engines

import hashlib
import struct

from support import *


# Chapter 4: values and their encoding.

def encoding(value):
    if value is None:
        return b"\0"
    if value is False or value is True:
        return b"\2" if value else b"\1"
    if isinstance(value, str):
        return b"\5" + value.encode()
    (name, content), = value.items()
    if name == "i":
        return b"\3" + struct.pack(">Q", int(content) + 2**63)
    if name == "r":
        bits, = struct.unpack(">Q", struct.pack(">d", content + 0.0))
        bits = bits ^ (2**64 - 1) if bits >> 63 else bits ^ 2**63
        return b"\4" + struct.pack(">Q", bits)
    return b"\6" + content.encode()


def escaped(text):
    return "".join("".join(f"%{byte:02X}" for byte in c.encode())
                   if c in "%/#\x7f" or c < " " else c for c in text)


def key_text(record):
    return "/".join(escaped(part) for part in [record["collection"], *record["key"]])


def first8(data):
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def piece(data):
    return struct.pack(">I", len(data)) + data


# Chapter 8.

def record_hash(scope, record):
    data = piece(scope.encode()) + piece(record["collection"].encode())
    data += piece(key_text(record).encode())
    for name in sorted(record["fields"], key=str.encode):
        at, value = record["fields"][name]
        data += piece(name.encode()) + piece(struct.pack(">Q", int(at))) + piece(encoding(value))
    return first8(data)


def place(record):
    return f"{first8(key_text(record).encode()):016x}"


def exists(record):
    fields = record["fields"]
    if "present" in fields:
        return fields["present"][1] is True
    if "deleted" in fields:
        return fields["deleted"][1] is False
    return record["collection"] not in ("follow", "mygroup", "list", "item", "group", "member")


def lives(record, records):
    if record["collection"] == "item":
        parent = records.get("list/" + escaped(record["key"][0]))
        return exists(record) and parent is not None and exists(parent)
    return exists(record)


def newer(a, b):
    return (int(a[0]), encoding(a[1])) > (int(b[0]), encoding(b[1]))


class Failure(Exception):
    """An error message."""


class Device:
    """Chapters 3, 5, 6: one that keeps what it got."""

    def __init__(self, bridge, user, packed=False):
        self.bridge, self.user, self.packed = bridge, user, packed
        self.scopes = {}  # name → {"cursor", "epoch", "records": {key text: record}, "head"}

    def scope(self, name):
        return self.scopes.setdefault(name, {"cursor": None, "epoch": None, "records": {}, "head": "0"})

    def record(self, scope, key, **fields):
        collection, *parts = key if isinstance(key, tuple) else key.split("/")
        at = stamp()
        return {"scope": scope, "collection": collection, "key": parts,
                "fields": {name: [at, value] for name, value in fields.items()}}

    def send(self, kind, head, lines):
        self.nonce = secrets.token_hex(16)
        body = lines_of({"dunlin": 1, "kind": kind, "nonce": self.nonce, **head}, *lines,
                        {"end": len(lines)})
        headers = {"Content-Type": "application/x-ndjson", "Dunlin-User": self.user}
        if self.packed:
            body = gzip.compress(body)
            headers.update({"Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
        status, got, body = self.bridge.request("POST", "/v1/" + kind, body, headers)
        check("the answer is a bridge's", got["Dunlin-Protocol"] == "1")
        return status, body

    def answer(self, kind, status, body):
        """Chapter 3: whether it is an answer at all."""
        text = body.decode()
        assert text.endswith("\n")
        head, *lines, end = [json.loads(line) for line in text[:-1].split("\n")]
        assert head["dunlin"] == 1 and end["end"] == len(lines)
        if head["kind"] == "error":
            raise Failure(status, head["code"], head["nonce"] in ("", self.nonce))
        assert head["kind"] == kind and head["nonce"] == self.nonce and status == 200
        assert head["epoch"] == end["epoch"] and abs(int(head["now"]) / 1000 - time.time()) < 60
        return head, lines

    def ask(self, name, pull=True):
        scope = self.scope(name)
        line = {"scope": name}
        if pull:
            line["pull"] = True
        if scope.get("rebuilding"):
            line["rebuilding"] = True
        if scope["cursor"]:
            line.update(epoch=scope["epoch"], seq=scope["cursor"][0], salt=scope["cursor"][1])
            if scope["head"] != "0" and pull:
                line["head"] = scope["head"]
        return line

    def sync(self, names, records=(), page=1000, pull=True):
        """One exchange; returns (acks, refusals, states)."""
        asks = [self.ask(name, pull) for name in names]
        head, lines = self.answer("sync", *self.send("sync", {"page": page, "scopes": len(asks)},
                                                     [*asks, *records]))
        self.epoch = head["epoch"]
        acks, refusals, states = {}, {}, {}
        while lines:
            line = lines.pop(0)
            if "ack" in line:
                acks[line["ack"]] = line["seq"]
            elif "refused" in line:
                refusals[line["refused"]] = line
            elif "scope" in line:
                states[line["scope"]] = line
                count = line.get("versions", 0)
                self.page(line, lines[:count], head["epoch"])
                del lines[:count]
        return acks, refusals, states

    def page(self, line, versions, epoch):
        scope = self.scope(line["scope"])
        if line["state"] == "page":
            seqs = [int(version["seq"]) for version in versions]
            check("versions stand in order", seqs == sorted(set(seqs)))
            for version in versions:
                scope["records"][key_text(version)] = {
                    name: version[name] for name in ("collection", "key", "fields")}
            scope.update(cursor=(line.get("seq", "0"), line.get("salt", "0")), epoch=epoch,
                         head=line.get("head", "0"))
            if not line.get("more"):
                scope.pop("rebuilding", None)
        elif line["state"] == "denied":
            self.scopes.pop(line["scope"])

    def catch_up(self, names, page=1000):
        rounds = 0
        todo = list(names)
        while todo:
            _, _, states = self.sync(todo, page=page)
            todo = [n for n in todo if n not in states or states[n].get("more")]
            rounds += 1
        return rounds

    def verify(self, asks):
        _, lines = self.answer("verify", *self.send("verify", {}, asks))
        return {line["ask"]: line for line in lines}

    def own_digest(self, name, prefix=""):
        records = self.scope(name)["records"]
        return sum(record_hash(name, record) for record in records.values()
                   if lives(record, records) and place(record).startswith(prefix)) % 2**64

    def differs(self, name, prefix=""):
        """Key texts whose hashes differ; walks down where digests do."""
        node = self.verify([{"scope": name, "prefix": prefix}])[0]
        records = {key: record for key, record in self.scope(name)["records"].items()
                   if lives(record, self.scope(name)["records"]) and place(record).startswith(prefix)}
        if "leaves" in node:
            theirs = dict(node["leaves"])
            ours = {key: f"{record_hash(name, record):016x}" for key, record in records.items()}
            return sorted(key for key in theirs.keys() | ours.keys()
                          if theirs.get(key) != ours.get(key))
        same("16 children", (16, 16), (len(node["digests"]), len(node["counts"])))
        found = []
        for digit, digest in zip("0123456789abcdef", node["digests"]):
            if int(digest, 16) != self.own_digest(name, prefix + digit):
                found += self.differs(name, prefix + digit)
        return sorted(found)


VALUES = {"none": None, "no": False, "yes": True, "zero": {"i": "0"}, "least": {"i": str(-2**63)},
          "most": {"i": str(2**63 - 1)}, "half": {"r": 0.5}, "small": {"r": -1e-300},
          "minus": {"r": -0.0}, "text": "a \"b\" \\ \n\t\x01 ☃ 😀", "empty": "",
          "json": {"j": "{\"b\": [1,  2.50], \"a\":\"\\u00e9\"}"}, "present": True}


def push_and_pull(bridge):
    phone, laptop = Device(bridge, "alice"), Device(bridge, "alice", packed=True)
    own = "user/alice"
    records = [phone.record(own, "follow/user/bob", present=True),
               phone.record(own, "list/l1", deleted=False, name="見逃し", rank="a0"),
               phone.record(own, ("item", "l1", "video", "a/b%#\x7f"), present=True,
                            title="One", created_at={"i": "1580000000000"}, rank="a1",
                            data={"j": "{\"n\":1.0}"}),
               phone.record(own, "hologram/h1/x", **VALUES)]
    acks, refusals, states = phone.sync([own], records)
    same("acknowledged, lists first", ({0: "2", 1: "1", 2: "3", 3: "4"}, {}), (acks, refusals))
    same("the page holds what was pushed", ("page", "4", 4),
         (states[own]["state"], states[own]["seq"], states[own]["versions"]))
    same("again", (acks, {}), phone.sync([own], records)[:2])
    laptop.catch_up([own])
    same("the other device has the same", phone.scope(own)["records"], laptop.scope(own)["records"])
    same("as it was sent", {"present": [records[0]["fields"]["present"][0], True]},
         laptop.scope(own)["records"]["follow/user/bob"]["fields"])
    got = laptop.scope(own)["records"]["hologram/h1/x"]["fields"]
    same("every value", {name: encoding(value) for name, value in VALUES.items()},
         {name: encoding(field[1]) for name, field in got.items()})
    same("verify", [], phone.differs(own))
    many = [phone.record(own, f"follow/user/u{i}", present=True) for i in range(250)]
    same("250 more", 250, len(phone.sync([own], many)[0]))
    same("in pages", 5, laptop.catch_up([own], page=50))
    same("nothing is missing", phone.scope(own)["records"], laptop.scope(own)["records"])
    same("verify, deeper", [], laptop.differs(own))
    laptop.scope(own)["records"].pop("follow/user/u7")
    laptop.scope(own)["records"]["follow/user/u8"]["fields"]["present"][0] = "1"
    same("finds what differs", ["follow/user/u7", "follow/user/u8"], laptop.differs(own))
    state = phone.sync([own])[2][own]
    check("a remembered head", state["state"] == "same" or "head" in state, state)
    same("nothing is new", "same", phone.sync([own])[2][own]["state"])


def conflicts(bridge):
    a, b = Device(bridge, "carol"), Device(bridge, "carol")
    own = "user/carol"
    a.sync([own], [a.record(own, "list/l", deleted=False, name="first", rank="a0")])
    b.catch_up([own])
    older = a.record(own, "list/l", name="older", rank="a1")
    time.sleep(0.01)
    newest = b.record(own, "list/l", name="newer")
    b.sync([own], [newest])
    acks, refusals, _ = a.sync([own], [older])
    same("an older edit is acknowledged", ({0: acks[0]}, {}), (acks, refusals))
    fields = a.scope(own)["records"]["list/l"]["fields"]
    same("and lost, but for the field that nobody else wrote", ("newer", "a1"),
         (fields["name"][1], fields["rank"][1]))
    at = stamp()
    for device, value in ((a, "tie b"), (b, "tie c"), (a, "tie a")):
        record = device.record(own, "list/l", name=value)
        record["fields"]["name"][0] = at
        device.sync([own], [record])
    for device in (a, b):
        device.catch_up([own])
        same("equal stamps: the greater value", "tie c",
             device.scope(own)["records"]["list/l"]["fields"]["name"][1])
        same("verify", [], device.differs(own))


def refusals(bridge):
    dave, eve = Device(bridge, "dave"), Device(bridge, "eve")
    own = "user/dave"

    def code(device, scope, record):
        return device.sync([scope], [record], pull=False)[1].get(0, {}).get("code")

    same("GONE", "GONE", code(dave, own, dave.record(own, "list/none", name="x")))
    same("NO_LIST", "NO_LIST", code(dave, own, dave.record(own, "item/none/t/i", present=True)))
    same("NO_GROUP", "NO_GROUP", code(dave, "group/none", dave.record(
        "group/none", "member/dave", present=True)))
    same("SELF", "SELF", code(dave, own, dave.record(own, "follow/user/dave", present=True)))
    same("not his", "NOT_ALLOWED", code(eve, own, eve.record(own, "follow/user/eve", present=True)))
    same("a wrong type", "INVALID_VALUE", code(dave, own, dave.record(
        own, "follow/user/bob", present="yes")))
    same("a wrong kind", "INVALID_VALUE", code(dave, own, dave.record(
        own, "follow/planet/mars", present=True)))
    same("no id", "INVALID_ID", code(dave, own, dave.record(own, "follow/user/", present=True)))
    same("a long one", "TOO_LONG", code(dave, own, dave.record(
        own, "follow/user/" + "x" * 257, present=True)))
    same("no JSON", "INVALID_JSON", code(dave, own, dave.record(
        own, "hologram/h", present=True, data={"j": "{"})))
    same("an unknown form of value", "INVALID_VALUE", code(dave, own, dave.record(
        own, "hologram/h", present=True, data={"q": "1"})))
    same("a bare number", "INVALID_VALUE", code(dave, own, dave.record(
        own, "hologram/h", present=True, data=1)))
    same("a key of too many parts", "BAD_MESSAGE", code(dave, own, dave.record(
        own, "hologram/a/b/c/d", present=True)))
    same("unknown collections elsewhere", "NOT_ALLOWED", code(dave, "group/g", dave.record(
        "group/g", "hologram/h", present=True)))

    far = dave.record(own, "list/far", deleted=False, name="far")
    future = str((int(time.time() * 1000) + 3600 * 1000) << 16)
    far["fields"]["name"][0] = future
    acks, refused, _ = dave.sync([own], [far])
    field, = [x for x in refused[0]["fields"] if x["name"] == "name"]
    same("AHEAD", ({}, "AHEAD"), (acks, refused[0]["code"]))
    check("what it would take", abs((int(field["take"]) >> 16) / 1000 - time.time()) < 60)
    far["fields"]["name"][0] = field["take"]
    same("and it takes it", ([0], {}), ((lambda r: (list(r[0]), r[1]))(dave.sync([own], [far]))))

    group = "group/gd"
    dave.sync([group], [dave.record(group, ("group",), deleted=False, owner="dave", name="G",
                                    join="open"),
                        dave.record(group, "member/eve", present=True)])
    acks, refused, _ = eve.sync([group], [eve.record(group, ("group",), name="Eve's")])
    same("central's value comes with the refusal",
         ("NOT_ALLOWED", True, [("name", "G")]),
         (refused[0]["code"], refused[0]["held"],
          [(x["name"], x["now"][1]) for x in refused[0]["fields"]]))
    mixed = [eve.record("user/eve", "follow/user/a", present=True), "no record",
             eve.record("user/eve", "follow/user/b", present=True)]
    asks = [eve.ask("user/eve")]
    _, lines = eve.answer("sync", *eve.send("sync", {"page": 10, "scopes": 1}, [*asks, *mixed]))
    same("one bad line is one bad record", ([0, 2], [1]),
         ([x["ack"] for x in lines if "ack" in x], [x["refused"] for x in lines if "refused" in x]))


def resets(bridge):
    owner, other = Device(bridge, "fay"), Device(bridge, "fay")
    own = "user/fay"
    owner.sync([own], [owner.record(own, f"follow/user/u{i}", present=True) for i in range(30)])
    other.catch_up([own])
    other.scope(own)["cursor"] = ("30", "1")
    acks, refused, states = other.sync([own], [other.record(own, "follow/user/x", present=True)])
    same("a foreign salt is held, and nothing is taken", ("held", {}, {}),
         (states[own]["state"], acks, refused))
    other.scope(own).update(cursor=("31", "1"), head="0")
    same("a cursor above the last", "held", other.sync([own])[2][own]["state"])
    other.scope(own)["epoch"] = "another"
    acks, refused, states = other.sync([own], [other.record(own, "follow/user/x", present=True)])
    same("another epoch resets, and nothing is taken", ("reset", {}, {}),
         (states[own]["state"], acks, refused))
    check("says how long tombstones live", int(states[own]["horizon"]) > 0)
    other.scope(own).update(cursor=("0", "0"), epoch=other.epoch, records={}, rebuilding=True)
    other.catch_up([own], page=10)
    same("rebuilt", owner.scope(own)["records"], other.scope(own)["records"])
    same("verify", [], other.differs(own))

    before = owner.epoch
    same("restored", 0, subprocess.run([DUNLIND, "restored", "--store", bridge.store],
                                       capture_output=True, check=False).returncode)
    acks, refused, states = owner.sync([own], [owner.record(own, "follow/user/y", present=True)])
    same("everybody starts over", ("reset", {}, True, "30"),
         (states[own]["state"], acks, before != owner.epoch, states[own]["base"]))
    owner.scope(own).update(cursor=("0", "0"), epoch=owner.epoch, records={}, rebuilding=True)
    owner.catch_up([own])
    same("and goes on", [0], list(owner.sync([own], [owner.record(
        own, "follow/user/y", present=True)])[0]))
    stranger = Device(bridge, "stranger")
    same("not his", "denied", stranger.sync([own])[2][own]["state"])
    same("not in verify", {"ask": 0, "denied": True},
         stranger.verify([{"scope": own, "prefix": ""}])[0])


def errors(bridge):
    device = Device(bridge, "gil")

    def fails(what, expected, body, kind="sync"):
        device.nonce = "0" * 32
        status, _, got = bridge.post(kind, "gil", body)
        try:
            device.answer(kind, status, got)
            check(what, False, "was answered")
        except Failure as failure:
            same(what, (*expected, True), failure.args)

    def framed(head, *lines, end=None):
        return lines_of({"dunlin": 1, "kind": "sync", "nonce": "0" * 32, **head}, *lines,
                        {"end": len(lines) if end is None else end})

    good = framed({"page": 10, "scopes": 1}, {"scope": "user/gil", "pull": True})
    same("a good one", 200, bridge.post("sync", "gil", good)[0])
    bad = (400, "BAD_MESSAGE")
    fails("empty", bad, b"")
    fails("HTML", bad, b"<html>\n</html>\n")
    fails("without its end", bad, b"".join(good.splitlines(True)[:-1]))
    fails("without the last newline", bad, good[:-1])
    fails("cut", bad, good[:-9])
    fails("a wrong count", bad, framed({"scopes": 0}, end=1))
    fails("no nonce", bad, framed({"scopes": 0, "nonce": ""}))
    fails("a nonce of other digits", bad, framed({"scopes": 0, "nonce": "G" * 32}))
    fails("another kind", bad, framed({"scopes": 0, "kind": "verify"}))
    fails("a verify that is none", bad, framed({"scopes": 0}), "verify")
    fails("more scopes than lines", bad, framed({"scopes": 2}, {"scope": "user/gil"}))
    fails("a scope twice", bad, framed({"scopes": 2}, {"scope": "user/gil"}, {"scope": "user/gil"}))
    fails("a seq that is a number", bad, framed({"scopes": 1}, {"scope": "user/gil", "epoch": "e",
                                                                "seq": 5, "salt": "1"}))
    fails("a page of 0", bad, framed({"scopes": 0, "page": 0}))
    fails("a long head", bad, framed({"scopes": 0, "x": "y" * 5000}))
    fails("a name twice", bad, b'{"dunlin":1,"kind":"sync","kind":"sync","nonce":"' + b"0" * 32 +
          b'","scopes":0}\n{"end":0}\n')
    fails("a later version", (400, "UNSUPPORTED"), framed({"scopes": 0, "dunlin": 2}))
    fails("too many scopes", (413, "TOO_LARGE"), framed(
        {"scopes": 501}, *({"scope": f"group/{i}"} for i in range(501))))
    fails("too many asks", (413, "TOO_LARGE"), framed(
        {"kind": "verify"}, *({"scope": "user/gil", "prefix": ""} for i in range(257))), "verify")
    same("unknown members are ignored", 200, bridge.post("sync", "gil", framed(
        {"scopes": 1, "later": [1]}, {"scope": "user/gil", "pull": True, "later": {}}))[0])


def live(bridge):
    listener = Listener(bridge, "hal")
    same("live", (200, "text/event-stream"),
         (listener.status, listener.answer.headers["Content-Type"]))
    eventually("hello", lambda: listener.events)
    same("hello", ("hello", {"protocol": 1}), listener.events[0][1:])
    hal = Device(bridge, "hal")
    hal.sync(["user/hal"], [hal.record("user/hal", "follow/user/x", present=True)])
    eventually("news", lambda: listener.scopes() == ["user/hal"], 5)
    listener.close()


with Bridge() as shared:
    for chapter in (push_and_pull, conflicts, refusals, errors, live, resets):
        chapter(shared)
finish()
