"""One exchange through a real dunlind, end to end."""

from support import *

with Bridge() as bridge:
    n = nonce()
    status, headers, body = bridge.post("sync", "alice", sync_body(
        [pull("user/alice")], [follow("alice", "bob")], n))
    same("status", 200, status)
    same("protocol", "1", headers["Dunlin-Protocol"])
    same("type", "application/x-ndjson", headers["Content-Type"])
    head, lines, end = read(body)
    same("kind", "sync", head["kind"])
    same("nonce", n, head["nonce"])
    same("lines", len(lines), end["end"])
    same("epoch", head["epoch"], end["epoch"])
    same("acknowledged", "1", next(x for x in lines if "ack" in x)["seq"])
    same("another device", 1, len([x for x in read(bridge.post("sync", "alice", sync_body(
        [pull("user/alice")]))[2])[1] if x.get("collection") == "follow"]))
    for path, expected in (("/healthz", 200), ("/metrics", 200), ("/", 200), ("/v1/nothing", 404)):
        same(path, expected, bridge.request("GET", path)[0])
    same("stopped", 0, bridge.stop())
    same("log", ["/", "/healthz", "/metrics", "/v1/nothing", "/v1/sync", "/v1/sync"],
         sorted(line["path"] for line in bridge.log_lines()))
finish()
