"""dunlind speaks TLS itself."""

import socket

from support import *

FILES = ("--tls-cert", os.path.join(TLS, "server.pem"), "--tls-key", os.path.join(TLS, "server.key"))


def handshake(bridge, version):
    context = ssl.create_default_context(cafile=os.path.join(TLS, "authority.pem"))
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    try:
        with socket.create_connection(("127.0.0.1", bridge.port), timeout=10) as line:
            with context.wrap_socket(line, server_hostname="localhost") as secure:
                return secure.version()
    except (ssl.SSLError, OSError):
        return None


with Bridge(*FILES) as bridge:
    same("scheme", "https", bridge.scheme)
    same("a sync", 200, bridge.post("sync", "alice", sync_body(
        [pull("user/alice")], [follow("alice", f"x{i}") for i in range(1000)]))[0])
    kept = bridge.connect()
    for _ in range(3):
        status, _, body = bridge.post("sync", "alice", sync_body([pull("user/alice")]),
                                      connection=kept)
        same("a page over one connection", (200, 1001), (status, read(body)[2]["end"]))
    listener = Listener(bridge, "alice")
    eventually("hello", lambda: listener.events)
    since = time.monotonic()
    bridge.post("sync", "alice", sync_body([{"scope": "user/alice"}], [follow("alice", "y")]))
    eventually("news", lambda: listener.scopes(since) == ["user/alice"], 3)
    same("1.3", "TLSv1.3", handshake(bridge, ssl.TLSVersion.TLSv1_3))
    same("1.2", "TLSv1.2", handshake(bridge, ssl.TLSVersion.TLSv1_2))
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    same("nothing older", None, handshake(bridge, ssl.TLSVersion.TLSv1_1))
    with socket.create_connection(("127.0.0.1", bridge.port), timeout=10) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            check("no plain HTTP", b"200" not in plain.recv(4096))
        except OSError:
            check("no plain HTTP", True)
    same("ends", 0, bridge.stop())
for what, code, options in (("the key is missing", 64, FILES[:2]),
                            ("no such file", 75, ("--tls-cert", "none", *FILES[2:])),
                            ("not a key", 75, (*FILES[:3], FILES[1]))):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([DUNLIND, "--store", "sqlite:" + os.path.join(folder, "c.db"),
                               "--listen", "127.0.0.1:0", "--insecure", *options],
                              capture_output=True, text=True, timeout=10)
        same(what, code, done.returncode)
        check(what + ": says why", done.stderr.startswith("dunlind: "), done.stderr)
finish()
