"""2,000 listeners that hear nothing, and 64 clients that sync, on one dunlind: what it costs. Beyond the
limits 429 and 503, and then it works again."""
# ctest: serial

import resource
import selectors
import socket

from support import *

LISTENERS, CLIENTS, ROUNDS = 2000, 64, 5
MEMORY_KIB_EACH = 32  # an idle listener
MEMORY_KIB_BUSY = 128 * 1024
DESCRIPTORS_BESIDE = 120  # the store's, logs, the library's own

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
needed = LISTENERS + 500
if hard != resource.RLIM_INFINITY and hard < needed:
    print(f"only {hard} descriptors are allowed here")
    sys.exit(77)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))


class Crowd:
    """Listeners without a thread each."""

    def __init__(self, bridge):
        self.bridge = bridge
        self.selector = selectors.DefaultSelector()
        self.lines = {}
        self.heard = {}

    def join(self, user):
        line = socket.create_connection(("127.0.0.1", self.bridge.port), timeout=30)
        line.sendall(f"GET /v1/live HTTP/1.1\r\nHost: x\r\nDunlin-User: {user}\r\n\r\n".encode())
        line.setblocking(False)
        self.lines[user] = line
        self.heard[user] = b""
        self.selector.register(line, selectors.EVENT_READ, user)

    def listen(self, seconds, until=lambda: False):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            for key, _ in self.selector.select(0.2):
                piece = key.fileobj.recv(65536)
                self.heard[key.data] += piece
                if not piece:
                    self.selector.unregister(key.fileobj)

    def count(self, what):
        return sum(what in heard for heard in self.heard.values())

    def close(self):
        for line in self.lines.values():
            line.close()


def busy(bridge, number, statuses):
    connection = bridge.connect(60)
    for i in range(ROUNDS):
        user = f"busy{number}"
        records = [follow(user, f"x{i}-{j}") for j in range(20)]
        status = bridge.post("sync", user, sync_body([pull("user/" + user)], records),
                             connection=connection)[0]
        statuses.append(status)
    connection.close()


with Bridge("--connections", str(LISTENERS + CLIENTS + 10), "--listeners", str(LISTENERS)) as bridge:
    bridge.request("GET", "/healthz")
    memory, descriptors = bridge.memory_kib(), bridge.descriptors()
    crowd = Crowd(bridge)
    for number in range(LISTENERS):
        crowd.join(f"u{number}")
    crowd.listen(30, lambda: crowd.count(b"event: hello") == LISTENERS)
    same("everybody was welcomed", LISTENERS, crowd.count(b"event: hello"))
    idle = bridge.memory_kib() - memory
    print(f"{LISTENERS} listeners: {idle} KiB, {idle / LISTENERS:.1f} KiB each, "
          f"{bridge.descriptors() - descriptors} descriptors")
    check("memory of listeners", idle < memory_bound(LISTENERS * MEMORY_KIB_EACH), idle)
    check("descriptors", bridge.descriptors() - descriptors <= LISTENERS + 2)
    status, headers, _ = bridge.request("GET", "/v1/live", headers={"Dunlin-User": "late"})
    same("one too many", (503, True), (status, int(headers["Retry-After"]) > 0))

    statuses = []
    threads = [threading.Thread(target=busy, args=(bridge, i, statuses)) for i in range(CLIENTS)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    crowd.listen(60, lambda: not any(thread.is_alive() for thread in threads))
    for thread in threads:
        thread.join()
    same("everybody was served", [200] * CLIENTS * ROUNDS, statuses)
    grown = bridge.memory_kib() - memory
    print(f"with {CLIENTS} busy clients: {grown} KiB, {bridge.descriptors()} descriptors, "
          f"{CLIENTS * ROUNDS / (time.monotonic() - started):.0f} requests/s")
    check("memory",
          grown < memory_bound(LISTENERS * MEMORY_KIB_EACH + MEMORY_KIB_BUSY), grown)
    check("descriptors", bridge.descriptors() < LISTENERS + CLIENTS + DESCRIPTORS_BESIDE,
          bridge.descriptors())
    same("nobody heard what is not his", 0, crowd.count(b"event: news"))

    started = time.monotonic()
    bridge.post("sync", "u77", sync_body([{"scope": "user/u77"}], [follow("u77", "x")]))
    crowd.listen(5, lambda: b"event: news" in crowd.heard["u77"])
    check("one hears", b"user/u77" in crowd.heard["u77"])
    check("within a second", time.monotonic() - started < 1, time.monotonic() - started)
    crowd.listen(20, lambda: crowd.count(b"\n:\n") == LISTENERS)
    check("and the others that it lives", crowd.count(b"\n:\n") >= LISTENERS - 1,
          crowd.count(b"\n:\n"))

    crowd.close()

    def forgotten():
        return bridge.metric("dunlin_listeners") == 0
    eventually("they are forgotten", forgotten, 40)
    eventually("and their descriptors", lambda: bridge.descriptors() <= descriptors + 5, 10)
    same("works again", 200, bridge.post("sync", "u1", sync_body([pull("user/u1")]))[0])
    same("ends", 0, bridge.stop())
finish()
