"""Who comes in: tokens good and bad, against a secret and against a key set. Whoever does not come in
gets 401 and writes nothing."""

from signing import *
from support import *

NOW = int(time.time())


def write(path, text):
    with open(path, "w" if isinstance(text, str) else "wb") as file:
        file.write(text)


def bearer(text):
    return {"Authorization": "Bearer " + text} if text is not None else {}


def push(bridge, headers, user="alice"):
    return bridge.post("sync", None, sync_body([pull("user/" + user)], [follow(user, "bob")]),
                       headers)


def refused(bridge, what, headers):
    status, got, body = push(bridge, headers)
    same(what, 401, status)
    same(what + ": challenge", True, (got["WWW-Authenticate"] or "").startswith("Bearer"))
    head, _, end = read(body)
    same(what + ": code", ("error", "NEED_LOGIN", 0), (head["kind"], head["code"], end["end"]))


def let_in(bridge, what, headers):
    status, _, body = push(bridge, headers)
    same(what, 200, status)
    return body


def bad_everywhere(key):
    """Tokens that no dunlind takes, made with the right key where there is one."""
    good = key.token(claims("alice"))
    header, payload, signature = good.split(".")
    other = b64(json.dumps(claims("mallory")).encode())
    nothing = b64(json.dumps({"alg": "none"}).encode())
    return {
        "no token": None,
        "no JWT": "hello",
        "empty": "",
        "two parts": header + "." + payload,
        "four parts": good + ".x",
        "too long": "a" * 4000 + "." + "b" * 3000 + "." + "c" * 3000,
        "no base64": "!." + payload + "." + signature,
        "header is no JSON": b64(b"{") + "." + payload + "." + signature,
        "header is an array": b64(b"[]") + "." + payload + "." + signature,
        "header names alg twice":
            b64(b'{"alg":"none","alg":"HS256"}') + "." + payload + "." + signature,
        "another's payload": header + "." + other + "." + signature,
        "cut signature": good[:-4],
        "empty signature": header + "." + payload + ".",
        "alg=none": nothing + "." + payload + ".",
        "alg=none, signed": nothing + "." + payload + "." + signature,
        "alg=NONE": b64(b'{"alg":"NONE"}') + "." + payload + ".",
        "alg is no text": key.token(claims("alice"), alg=5),
        "no alg": token({"typ": "JWT"}, claims("alice"), key.sign),
        "HS512": key.token(claims("alice"), alg="HS512"),
        "crit": key.token(claims("alice"), crit=["exp"]),
        "another kind": key.token(claims("alice"), typ="logout+jwt"),
        "kid is no text": key.token(claims("alice"), kid=7),
        "expired": key.token(claims("alice", exp=NOW - 61)),
        "expires never": key.token({"sub": "alice"}),
        "exp is text": key.token(claims("alice", exp=str(NOW + 600))),
        "exp is null": key.token(claims("alice", exp=None)),
        "exp is endless": key.token(claims("alice", exp=1e300)),
        "not yet valid": key.token(claims("alice", nbf=NOW + 3600)),
        "nbf is text": key.token(claims("alice", nbf="0")),
        "an audience that nobody asked for": key.token(claims("alice", aud="elsewhere")),
        "no subject": key.token({"exp": NOW + 600}),
        "empty subject": key.token(claims("")),
        "subject is a number": key.token(claims(7)),
        "subject too long": key.token(claims("a" * 257)),
        "subject with U+0000": key.token(claims("ali\0ce")),
        "payload is no object": key.token(["alice"]),
    }


def nothing_written(bridge, good):
    body = bridge.post("sync", None, sync_body([pull("user/alice")]), bearer(good))[2]
    same("nothing was written", [], [x for x in read(body)[1] if "collection" in x])


def secret_file():
    key, other = Secret(), Secret()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "secret")
        write(path, key.secret + b"\n")
        with Bridge(auth=("--auth-secret-file", path)) as bridge:
            for what, text in bad_everywhere(key).items():
                refused(bridge, what, bearer(text))
            refused(bridge, "another key", bearer(other.token(claims("alice"))))
            refused(bridge, "forged by RSA", bearer(Rsa("r").token(claims("alice"))))
            refused(bridge, "Basic", {"Authorization": "Basic YWxpY2U6eA=="})
            refused(bridge, "Dunlin-User", {"Dunlin-User": "alice"})
            nothing_written(bridge, key.token(claims("alice")))
            let_in(bridge, "good", bearer(key.token(claims("alice"))))
            let_in(bridge, "within the leeway", bearer(key.token(claims("alice", exp=NOW - 20))))
            let_in(bridge, "begins within it", bearer(key.token(claims("alice", nbf=NOW + 30))))
            let_in(bridge, "fractions", bearer(key.token(claims("alice", exp=NOW + 60.5))))
            let_in(bridge, "some kid", bearer(key.token(claims("alice"), kid="x")))
            let_in(bridge, "scheme in small letters",
                   {"Authorization": "bearer " + key.token(claims("alice"))})
            made = subprocess.run([DUNLIND, "token", "--auth-secret-file", path, "--user", "alice",
                                   "--ttl", "5m"], capture_output=True, text=True, check=True)
            let_in(bridge, "dunlind token", bearer(made.stdout.strip()))
            lines = [x for x in read(let_in(bridge, "x", bearer(key.token(claims("mallory")))))[1]]
            same("another user's scope is closed", ["denied"], [x["state"] for x in lines
                                                                if "state" in x])
            same("and not written", ["NOT_ALLOWED"], [x["code"] for x in lines if "refused" in x])
            with open(bridge.log, encoding="utf-8") as file:
                check("no token in the log", "eyJ" not in file.read())


def audience_and_issuer():
    key = Secret()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "secret")
        write(path, key.secret)
        with Bridge("--audience", "app", "--issuer", "us",
                    auth=("--auth-secret-file", path)) as bridge:
            refused(bridge, "no audience", bearer(key.token(claims("alice", iss="us"))))
            refused(bridge, "wrong audience",
                    bearer(key.token(claims("alice", iss="us", aud="other"))))
            refused(bridge, "wrong audiences",
                    bearer(key.token(claims("alice", iss="us", aud=["other", "apps"]))))
            refused(bridge, "no issuer", bearer(key.token(claims("alice", aud="app"))))
            refused(bridge, "wrong issuer",
                    bearer(key.token(claims("alice", aud="app", iss="them"))))
            nothing_written(bridge, key.token(claims("alice", iss="us", aud="app")))
            let_in(bridge, "one audience", bearer(key.token(claims("alice", iss="us", aud="app"))))
            let_in(bridge, "audiences",
                   bearer(key.token(claims("alice", iss="us", aud=["other", "app"]))))
            log = [line.get("user") for line in bridge.log_lines()]
            check("the log names users", "alice" in log and None in log, log)


def key_set():
    rsa, first, second, stranger = Rsa("r1"), Ec("e1"), Ec("e2"), Ec("e1")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "jwks.json")
        write(path, json.dumps({"keys": [
            rsa.jwk(use="sig", alg="RS256"), first.jwk(), {"kty": "oct", "k": "c2VjcmV0", "kid": "o"},
            {"kty": "unknown"}, second.jwk(use="enc")]}))
        with Bridge(auth=("--auth-jwks", path)) as bridge:
            for name, key in (("RS256", rsa), ("ES256", first)):
                for what, text in bad_everywhere(key).items():
                    refused(bridge, name + ": " + what, bearer(text))
            refused(bridge, "HS256 by the public key",
                    bearer(Secret(public_pem().encode()).token(claims("alice"), kid="r1")))
            refused(bridge, "HS256 by the modulus",
                    bearer(Secret(number64(RSA_N).encode()).token(claims("alice"), kid="r1")))
            refused(bridge, "HS256 by an oct key of the set",
                    bearer(Secret(b"secret").token(claims("alice"), kid="o")))
            refused(bridge, "another key of that kid", bearer(stranger.token(claims("alice"))))
            refused(bridge, "unknown kid", bearer(rsa.token(claims("alice"), kid="r9")))
            refused(bridge, "the other's kid", bearer(rsa.token(claims("alice"), kid="e1")))
            refused(bridge, "a key for encryption", bearer(second.token(claims("alice"))))
            nothing_written(bridge, rsa.token(claims("alice")))
            let_in(bridge, "RS256", bearer(rsa.token(claims("alice"))))
            let_in(bridge, "ES256", bearer(first.token(claims("alice"))))
            let_in(bridge, "no kid, one key", bearer(token({"alg": "RS256"}, claims("alice"),
                                                           rsa.sign)))
            # Rotation: the file is read again, a broken one changes nothing.
            write(path + ".new", "{")
            os.replace(path + ".new", path)
            time.sleep(1.2)
            let_in(bridge, "a broken file", bearer(rsa.token(claims("alice"))))
            write(path + ".new", json.dumps({"keys": [second.jwk()]}))
            os.replace(path + ".new", path)
            time.sleep(1.2)
            refused(bridge, "a key that was taken away", bearer(rsa.token(claims("alice"))))
            let_in(bridge, "a key that was added", bearer(second.token(claims("alice"))))


def starting():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "secret")
        write(path, "short")
        store = ("--store", "sqlite:" + os.path.join(folder, "c.db"), "--listen", "127.0.0.1:0")
        for what, code, options in (
                ("a short secret", 64, ("--auth-secret-file", path)),
                ("no such file", 75, ("--auth-secret-file", path + "s")),
                ("no key set", 64, ("--auth-jwks", path)),
                ("nothing said", 64, ()),
                ("both", 64, ("--insecure", "--auth-secret-file", path)),
                ("insecure elsewhere", 77, ("--insecure", "--listen", "0.0.0.0:0"))):
            done = subprocess.run([DUNLIND, *store, *options], capture_output=True, text=True,
                                  timeout=10)
            same(what, code, done.returncode)
            check(what + ": says why", done.stderr.startswith("dunlind: "), done.stderr)


secret_file()
audience_and_issuer()
key_set()
starting()
finish()
