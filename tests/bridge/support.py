"""What the scripts of this folder share: a dunlind of one's own, requests, checks that go on after a
failure. Nothing of dunlin's code is used: docs/protocol.md is what these scripts are written from."""

import gzip
import http.client
import json
import os
import re
import secrets
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import database

DUNLIND = os.environ["DUNLIND"]
TLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tls")
passed = 0
failed = 0
stamping = threading.Lock()


def check(what, good, more=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what} {more}", flush=True)


def memory_bound(kib):
    """A bound of a process's memory. The address sanitizer holds back 256 MiB of what was freed, which
    is added there, and doubles what is in use; the thread sanitizer keeps some eight bytes for each."""
    if "TSAN_OPTIONS" in os.environ:
        return 8 * kib + 64 * 1024
    return 2 * kib + 256 * 1024 if "ASAN_OPTIONS" in os.environ else kib


def same(what, expected, actual):
    check(what, expected == actual, f"\n  expected {expected!r}\n  actual   {actual!r}")


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def new_store(folder):
    """The url of a store that is not there yet, on the engine of this run."""
    if os.environ.get("DUNLIN_TEST_ENGINE") == "mongo":
        return database.fresh(database.run_server()[0])
    return "sqlite:" + os.path.join(folder, "central.db")


class Bridge:
    """A dunlind on a free port, or a given one, over a store in a folder that goes with it."""

    def __init__(self, *options, folder=None, auth=("--insecure",), store=None, port=0):
        self.temporary = None if folder else tempfile.TemporaryDirectory()
        self.folder = folder or self.temporary.name
        self.store = store or new_store(self.folder)
        self.log = os.path.join(self.folder, "access.log")
        self.process = subprocess.Popen(
            [DUNLIND, "--store", self.store, "--listen", f"127.0.0.1:{port}", "--log", self.log,
             *auth, *options], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "DUNLIN_TEST_EAR_SAYS": "1"})
        self.said = []
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"listening on (https?)://127\.0\.0\.1:(\d+)", line)
            if found:
                self.scheme, self.port = found.group(1), int(found.group(2))
                break
        else:
            raise RuntimeError("dunlind did not start: " + "".join(self.said))
        if self.store.startswith("mongodb"):
            check("what it sends to the database is heard", "the ear hears\n" in self.said)
        threading.Thread(target=self._drink, daemon=True).start()

    def _drink(self):
        for line in self.process.stderr:
            self.said.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        if self.temporary:
            self.temporary.cleanup()

    def stop(self, number=signal.SIGTERM, timeout=30):
        """Ends it; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout)

    def connect(self, timeout=30):
        if self.scheme == "https":
            trust = ssl.create_default_context(cafile=os.path.join(TLS, "authority.pem"))
            return http.client.HTTPSConnection("localhost", self.port, timeout=timeout,
                                               context=trust)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, connection=None):
        """Returns (status, headers, body), unpacked where it was gzip."""
        own = connection or self.connect()
        try:
            own.request(method, path, body=body, headers=headers or {})
            answer = own.getresponse()
            data = answer.read()
            if answer.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            return answer.status, answer.headers, data
        finally:
            if not connection:
                own.close()

    def post(self, kind, user, body, headers=None, connection=None):
        sent = {"Content-Type": "application/x-ndjson", **({"Dunlin-User": user} if user else {}),
                **(headers or {})}
        return self.request("POST", "/v1/" + kind, body, sent, connection)

    def log_lines(self):
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def metric(self, name):
        text = self.request("GET", "/metrics")[2].decode()
        values = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", text, re.M)
        if not values:
            raise KeyError(name)
        return sum(float(value) for value in values)


def eventually(what, test, seconds=10):
    """Waits until the test holds; a check that it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return check(what, True)
        time.sleep(0.02)
    return check(what, False, f"not within {seconds} s")


def nonce():
    return secrets.token_hex(16)


def lines_of(*objects):
    return "".join(json.dumps(o, ensure_ascii=False, separators=(",", ":")) + "\n"
                   for o in objects).encode()


last_stamp = 0


def stamp():
    """A stamp of now, as the wire has it, above every earlier one."""
    global last_stamp
    with stamping:
        last_stamp = max(int(time.time() * 1000) << 16, last_stamp + 1)
        return str(last_stamp)


def sync_body(scopes, records=(), n=None, page=1000):
    n = n or nonce()
    return lines_of({"dunlin": 1, "kind": "sync", "nonce": n, "page": page, "scopes": len(scopes)},
                    *scopes, *records, {"end": len(scopes) + len(records)})


def read(body):
    """An answer's head, lines, end."""
    lines = [json.loads(line) for line in body.decode().split("\n")[:-1]]
    return lines[0], lines[1:-1], lines[-1]


def follow(user, whom, kind="user", present=True, at=None):
    return {"scope": "user/" + user, "collection": "follow", "key": [kind, whom],
            "fields": {"present": [at or stamp(), present]}}


def pull(scope, cursor=None, epoch=None):
    line = {"scope": scope, "pull": True}
    if cursor:
        line.update(epoch=epoch, seq=cursor[0], salt=cursor[1])
    return line


class Listener:
    """A live stream, read on a thread of its own."""

    def __init__(self, bridge, user, headers=None):
        self.connection = bridge.connect(timeout=60)
        sent = headers or {"Dunlin-User": user}
        self.connection.request("GET", "/v1/live", headers=sent)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        self.events = []  # (when, name, data)
        self.comments = 0
        self.ended = False
        if self.status == 200:
            self.thread = threading.Thread(target=self._listen, daemon=True)
            self.thread.start()

    def _listen(self):
        name = data = None
        try:
            while line := self.answer.readline().decode():
                if line.startswith("event: "):
                    name = line[7:-1]
                elif line.startswith("data: "):
                    data = json.loads(line[6:])
                elif line.startswith(":"):
                    self.comments += 1
                elif line == "\n" and name:
                    self.events.append((time.monotonic(), name, data))
                    name = data = None
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        self.ended = True

    def scopes(self, since=0.0):
        return sorted({scope for when, name, data in self.events if name == "news" and when >= since
                       for scope in data["scopes"]})

    def close(self):
        try:
            self.connection.sock.shutdown(2)
        except (OSError, AttributeError):
            pass
        self.connection.close()
