"""Beyond every limit there is a status and not a crash, and behind it everything works again."""

import socket
import struct
import zlib

from support import *

MIB = 1024 * 1024
TYPE = {"Content-Type": "application/x-ndjson"}


def raw(bridge, data, seconds=10, close=True):
    """Sends bytes as they are; returns what comes until the other end closes."""
    got = b""
    with socket.create_connection(("127.0.0.1", bridge.port), timeout=seconds) as line:
        try:
            line.sendall(data)
            while piece := line.recv(65536):
                got += piece
        except (OSError, TimeoutError):
            pass
    return got


def error(what, answer, expected, code):
    status, headers, body = answer
    same(what, expected, status)
    head, _, end = read(body)
    same(what + ": body", ("error", code, {"end": 0}), (head["kind"], head["code"], end))
    same(what + ": protocol", "1", headers["Dunlin-Protocol"])
    if expected in (429, 503):
        check(what + ": when to come back",
              int(headers["Retry-After"]) > 0 and int(head["retryAfterMs"]) > 0)


def works(bridge, what):
    same(what + ": works again", 200, bridge.post("sync", "alice", sync_body([pull("user/alice")]))[0])


def sizes(bridge):
    big = b"x" * (8 * MIB)
    error("8 MiB that are no message", bridge.post("sync", "alice", big), 400, "BAD_MESSAGE")
    error("more than 8 MiB", bridge.post("sync", "alice", big + b"x"), 413, "TOO_LARGE")
    error("twice as much", bridge.post("verify", "alice", big + big), 413, "TOO_LARGE")
    error("in chunks, length unsaid", bridge.post("sync", "alice", iter([big, b"x"])),
          413, "TOO_LARGE")
    same("in chunks", 200, bridge.post("sync", "alice", iter([sync_body([])]))[0])
    many = [follow("alice", f"x{i}") for i in range(1001)]
    error("too many records", bridge.post("sync", "alice", sync_body([pull("user/alice")], many)),
          413, "TOO_LARGE")
    error("too many scopes", bridge.post("sync", "alice", sync_body(
        [pull(f"group/g{i}") for i in range(501)])), 413, "TOO_LARGE")
    check("a terabyte is not waited for", b" 413 " in raw(
        bridge, b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\n"
        b"Content-Type: application/x-ndjson\r\nContent-Length: 1000000000000\r\n\r\n"))
    started = time.monotonic()
    got = raw(bridge, b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\nContent-Type: "
              b"application/x-ndjson\r\nContent-Length: 9000000\r\nExpect: 100-continue\r\n\r\n", 5)
    check("who asks before he sends is told at once",
          got.startswith(b"HTTP/1.1 413") and time.monotonic() - started < 4, got[:60])
    works(bridge, "sizes")


def packed(bridge):
    def post(body, encoding="gzip"):
        return bridge.post("sync", "alice", body, {"Content-Encoding": encoding})

    plain = sync_body([pull("user/alice")], [follow("alice", "bob")])
    same("gzip", 200, post(gzip.compress(plain))[0])
    same("GZIP", 200, post(gzip.compress(plain), "GZIP")[0])
    same("identity", 200, post(plain, "identity")[0])
    error("deflate", post(zlib.compress(plain), "deflate"), 415, "UNSUPPORTED")
    error("br", post(plain, "br"), 415, "UNSUPPORTED")
    error("both", post(gzip.compress(gzip.compress(plain)), "gzip, gzip"), 415, "UNSUPPORTED")
    error("no gzip", post(plain), 400, "BAD_MESSAGE")
    error("cut", post(gzip.compress(plain)[:-9]), 400, "BAD_MESSAGE")
    error("wrong sum", post(gzip.compress(plain)[:-8] + b"\0" * 8), 400, "BAD_MESSAGE")
    error("something behind it", post(gzip.compress(plain) + b"x"), 400, "BAD_MESSAGE")
    error("nothing", post(b""), 400, "BAD_MESSAGE")
    before = bridge.memory_kib()
    bomb = gzip.compress(b"\n" * (256 * MIB), 9)
    check("a bomb is small", len(bomb) < 2 * MIB)
    for _ in range(3):
        error("a bomb", post(bomb), 413, "TOO_LARGE")
    check("and stays small", bridge.memory_kib() - before < memory_bound(64 * 1024),
          bridge.memory_kib() - before)
    for what, expected, accepted in (("asked for", "gzip", "gzip"), ("also", "gzip", "br, gzip;q=0.5"),
                                     ("refused", None, "gzip;q=0"), ("not asked for", None, None),
                                     ("identity", None, "identity")):
        records = [follow("alice", f"long name of somebody {i}") for i in range(100)]
        headers = {"Accept-Encoding": accepted} if accepted else {"Accept-Encoding": ""}
        status, got, body = bridge.post("sync", "alice", sync_body([pull("user/alice")], records),
                                        headers)
        same("answer packed: " + what, (200, expected), (status, got["Content-Encoding"]))
        check("and whole", read(body)[2]["end"] > 100)
    works(bridge, "packed")


def heads(bridge):
    def post(headers, path="/v1/sync", body=sync_body([])):
        return bridge.request("POST", path, body, headers)

    who = {"Dunlin-User": "alice"}
    error("no type", post(who), 415, "UNSUPPORTED")
    error("another type", post({**who, "Content-Type": "application/json"}), 415, "UNSUPPORTED")
    same("a type with parameters", 200,
         post({**who, "Content-Type": "application/x-ndjson; charset=utf-8"})[0])
    error("nobody", post(TYPE), 401, "NEED_LOGIN")
    for what, user in (("empty", ""), ("too long", "a" * 257), ("no UTF-8", "%ff"), ("NUL", "%00"),
                       ("broken escape", "%4")):
        error("user " + what, post({**TYPE, "Dunlin-User": user}), 401, "NEED_LOGIN")
    same("any bytes may be encoded", 200, bridge.post(
        "sync", "%E3%81%82%2F%61", sync_body([pull("user/あ%2Fa")]))[0])
    error("nothing there", post({**TYPE, **who}, "/v1/synch"), 404, "UNSUPPORTED")
    error("nothing below", post({**TYPE, **who}, "/v1/sync/alice"), 404, "UNSUPPORTED")
    for method, path, allowed in (("GET", "/v1/sync", "POST"), ("PUT", "/v1/verify", "POST"),
                                  ("POST", "/v1/live", "GET"), ("DELETE", "/healthz", "GET, HEAD"),
                                  ("POST", "/", "GET, HEAD")):
        answer = bridge.request(method, path, headers=who)
        error(f"{method} {path}", answer, 405, "UNSUPPORTED")
        same(f"{method} {path}: what may be", allowed, answer[1]["Allow"])
    same("HEAD", (200, b""), bridge.request("HEAD", "/healthz")[::2])
    check("no length", b" 411 " in raw(
        bridge, b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\nConnection: close\r\n"
        b"Content-Type: application/x-ndjson\r\n\r\n"))
    for what, data in (
            ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500)),
            ("a long line", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n"),
            ("many headers", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20000 + b"\r\n"),
            ("lengths that differ", b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\n"
             b"Content-Type: application/x-ndjson\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"),
            ("a negative length", b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\n"
             b"Content-Length: -1\r\n\r\n"),
            ("a bad chunk", b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\nContent-Type: "
             b"application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")):
        got = raw(bridge, data + b"", 3)
        check(what, got == b"" or got.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), got[:80])
    works(bridge, "heads")


def abrupt(bridge):
    """Clients that vanish in the middle, by a reset."""
    body = sync_body([pull("user/alice")], [follow("alice", f"y{i}") for i in range(500)])
    head = (b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: alice\r\nContent-Type: "
            b"application/x-ndjson\r\nContent-Length: %d\r\n\r\n" % len(body))
    for cut in (10, len(head), len(head) + 1000, len(head) + len(body)) * 10:
        line = socket.create_connection(("127.0.0.1", bridge.port))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.sendall((head + body)[:cut])
        line.close()
    whole = sync_body([pull("user/alice")])
    eventually("what they held is free again", lambda: bridge.post("sync", "alice", whole)[0] == 200)
    works(bridge, "abrupt")
    eventually("nothing is left of them", lambda: bridge.metric("dunlin_body_bytes") == 0)


class Stuck:
    """Holds the store's write lock, so that what writes has to wait."""

    def __init__(self, bridge):
        import sqlite3
        self.db = sqlite3.connect(bridge.store[7:], isolation_level=None, check_same_thread=False)
        self.db.execute("BEGIN IMMEDIATE")

    def release(self):
        self.db.execute("ROLLBACK")
        self.db.close()


def write_in_background(bridge, user, results):
    def run():
        body = sync_body([{"scope": "user/" + user}], [follow(user, "bob")])
        results.append(bridge.post("sync", user, body))
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def under_way():
    with Bridge("--threads", "1", "--queue", "2", "--user-requests", "2") as bridge:
        works(bridge, "before")
        stuck = Stuck(bridge)
        results, threads = [], []
        threads.append(write_in_background(bridge, "alice", results))
        eventually("one is under way", lambda: bridge.metric("dunlin_pool_busy") == 1)
        threads.append(write_in_background(bridge, "alice", results))
        eventually("one waits", lambda: bridge.metric("dunlin_queue_jobs") == 1)
        error("too many of one user", bridge.post("sync", "alice", sync_body([])), 429,
              "UNAVAILABLE")
        threads.append(write_in_background(bridge, "bob", results))
        eventually("two wait", lambda: bridge.metric("dunlin_queue_jobs") == 2)
        error("the queue is full", bridge.post("sync", "carol", sync_body([])), 503, "UNAVAILABLE")
        same("the store does not answer", 503, bridge.request("GET", "/healthz")[0])
        stuck.release()
        for thread in threads:
            thread.join()
        same("what waited is answered", [200, 200, 200], [x[0] for x in results])
        works(bridge, "under way")
        same("healthy", 200, bridge.request("GET", "/healthz")[0])


def memory():
    with Bridge("--memory-mib", "4") as bridge:
        error("one body beyond the memory", bridge.post("sync", "alice", b"x" * (5 * MIB)), 503,
              "UNAVAILABLE")
        error("one that fits", bridge.post("sync", "alice", b"x" * (3 * MIB)), 400, "BAD_MESSAGE")
        eventually("given back", lambda: bridge.metric("dunlin_body_bytes") == 0)


def slow():
    with Bridge("--idle-seconds", "2", "--request-seconds", "3") as bridge:
        def takes(what, data, drip, least, most):
            started = time.monotonic()
            with socket.create_connection(("127.0.0.1", bridge.port), timeout=20) as line:
                line.sendall(data)
                try:
                    while drip:
                        line.settimeout(0.3)
                        try:
                            if line.recv(1) == b"":
                                break
                        except TimeoutError:
                            line.sendall(drip)
                    while not drip and line.recv(4096):
                        pass
                except OSError:
                    pass
            took = time.monotonic() - started
            check(what, least <= took <= most, f"took {took:.1f} s")

        head = (b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nDunlin-User: a\r\nContent-Type: "
                b"application/x-ndjson\r\nContent-Length: 5000\r\n\r\n")
        takes("silence", b"", b"", 1, 6)
        takes("silence in the head", b"GET / HT", b"", 1, 6)
        takes("silence in the body", head, b"", 1, 6)
        takes("a head in drops", b"GET / HTTP/1.1\r\nA: ", b"x", 2, 6)
        takes("a body in drops", head, b"x", 2, 6)
        listener = Listener(bridge, "alice")
        time.sleep(5)
        check("a listener is not slow", not listener.ended)
        stuck = Stuck(bridge)
        results = []
        thread = write_in_background(bridge, "alice", results)
        time.sleep(5)
        stuck.release()
        thread.join()
        same("nor is one who waits for us", 200, results[0][0])
        statuses = {line["status"] for line in bridge.log_lines()}
        check("logged", 408 in statuses or 499 in statuses, statuses)
        works(bridge, "slow")


def connections():
    with Bridge("--connections", "10") as bridge:
        kept = [bridge.connect() for _ in range(10)]
        for one in kept:
            same("kept", 200, bridge.request("GET", "/", connection=one)[0])
        error("one too many", bridge.post("sync", "alice", sync_body([])), 503, "UNAVAILABLE")
        for one in kept:
            one.close()
        eventually("works again", lambda: bridge.post("sync", "alice", sync_body([]))[0] == 200)


def drain():
    with Bridge("--threads", "2") as bridge:
        works(bridge, "before")
        idle = bridge.connect()
        bridge.request("GET", "/", connection=idle)
        stuck = Stuck(bridge)
        results = []
        thread = write_in_background(bridge, "alice", results)
        eventually("one is under way", lambda: bridge.metric("dunlin_pool_busy") == 1)
        bridge.process.send_signal(signal.SIGTERM)
        eventually("no new connections", lambda: refuses(bridge))
        try:
            error("nor new requests on an old one", bridge.post("sync", "bob", sync_body([]),
                                                                connection=idle), 503, "UNAVAILABLE")
        except (OSError, http.client.HTTPException):
            check("nor new requests on an old one", True)
        check("it waits", bridge.process.poll() is None)
        stuck.release()
        thread.join()
        same("what was under way is answered", 200, results[0][0])
        same("ends well", 0, bridge.process.wait(10))
    with Bridge("--drain-seconds", "1") as bridge:
        works(bridge, "before")
        stuck = Stuck(bridge)
        results = []
        thread = threading.Thread(target=lambda: swallow(bridge, results))
        thread.start()
        eventually("one is under way", lambda: bridge.metric("dunlin_pool_busy") == 1)
        started = time.monotonic()
        same("what takes too long", 1, bridge.stop())
        check("is not waited for", time.monotonic() - started < 5)
        thread.join()
        stuck.release()


def swallow(bridge, results):
    try:
        results.append(bridge.post("sync", "alice", sync_body([{"scope": "user/alice"}],
                                                              [follow("alice", "zoe")])))
    except (OSError, http.client.HTTPException):
        pass


def refuses(bridge):
    try:
        socket.create_connection(("127.0.0.1", bridge.port), timeout=1).close()
        return False
    except OSError:
        return True


def log_file():
    with Bridge() as bridge:
        works(bridge, "before")
        eventually("logged", bridge.log_lines)
        os.rename(bridge.log, bridge.log + ".1")
        bridge.process.send_signal(signal.SIGHUP)
        eventually("a new file", lambda: os.path.exists(bridge.log))
        bridge.request("GET", "/v1/" + "a" * 300 + "?token=secret%22")
        eventually("logged there", bridge.log_lines)
        line = bridge.log_lines()[0]
        same("cut, without what stands behind ?", ("/v1/" + "a" * 124, 404),
             (line["path"], line["status"]))
        same("fields", ["bytes_in", "bytes_out", "code", "duration_ms", "method", "path", "request",
                        "status", "time"], sorted(line))


with Bridge("--prefix", "/up") as prefixed:
    same("below a prefix", 200, prefixed.request("GET", "/up/healthz")[0])
    same("not beside it", 404, prefixed.request("GET", "/healthz")[0])
    same("nor within a word", 404, prefixed.request("GET", "/uphealthz")[0])
with Bridge() as shared:
    for part in (sizes, packed, heads, abrupt):
        part(shared)
under_way()
memory()
slow()
connections()
drain()
log_file()
finish()
