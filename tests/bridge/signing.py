"""Tokens of every kind, good and bad: HS256, RS256 and ES256 in plain Python."""

import base64
import hashlib
import hmac
import json
import secrets
import time


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number64(value, size=None):
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def claims(user, **more):
    now = int(time.time())
    return {"sub": user, "iat": now, "exp": now + 600, **more}


def token(header, payload, sign):
    text = b64(json.dumps(header).encode()) + "." + b64(json.dumps(payload).encode())
    return text + "." + b64(sign(text.encode()))


class Secret:
    """HS256."""

    def __init__(self, secret=None):
        self.secret = secret or secrets.token_bytes(32)

    def sign(self, data):
        return hmac.new(self.secret, data, hashlib.sha256).digest()

    def token(self, payload, **header):
        return token({"alg": "HS256", "typ": "JWT", **header}, payload, self.sign)


# A key for tests only.
RSA_N = int(
    "eaa9f74d0df93dd7f31a46fc0f476438fb2b0e4fdf518fbeeb732c00aa4e24b9fb2f1bdbb0b313fead318fde"
    "a5ba6c2863b395aa699e6298fa36966920a143696e1bba95dc1bf12f8e3635723815239d1c5acb1017fff007"
    "7f784a60995901c1b80ce2fb958a82a9eefa1b53ba34554898756f9d7254c69513f16b85e109069eeb806470"
    "5d61df05a31fb997487416639a12160df7f5247dd76a0a4648edd199dee2763e961d34006e3672a05b005a9b"
    "404bdd523eb08da5cad58ae3e71568cc923684560a0afd8a6ea00cfbad18bcb42c4fcd1890f106c8c70202b0"
    "37f1c3b36c170ab8c19c26f42c870487d87cb45f510c799a474e453f979b16097d9b76b5", 16)
RSA_D = int(
    "393320698b262d9db1af7e4d8b10e11c6596d7687f3c23908b5659cbb8b78f0ab970407762c127f6cc733809"
    "32b6f80db94dc945ce7471beadc0f8155c838a89ccb1dc1f92d549cb487c2cb77075b0a66786b7182f6d6ead"
    "f9339257ad116dd4f13ecce63bcb95318463b91d05d6a3522c7d75ad3874f329dc005d2ff74c4aad23237df3"
    "96672f59fc4242d037c894571e0471a886137ad1fac3d7f22512b6034e0139aa09755f0a7a74c5eeef236cd6"
    "dbdddd71b6b793226b22bd91c60951b98c8779b5991d43126e0c7d042c1f2a1033e2cc857c5275484eb555f3"
    "27ae6261a319818924617f58dd2047e0c62ef1d1e1b7540bdc676d1d0c8c0221712a7b91", 16)
RSA_E = 65537
SHA256_DER = bytes.fromhex("3031300d060960864801650304020105000420")


class Rsa:
    """RS256: PKCS #1 v1.5."""

    def __init__(self, kid):
        self.kid = kid

    def sign(self, data):
        digest = SHA256_DER + hashlib.sha256(data).digest()
        block = b"\0\1" + b"\xff" * (256 - 3 - len(digest)) + b"\0" + digest
        return pow(int.from_bytes(block, "big"), RSA_D, RSA_N).to_bytes(256, "big")

    def jwk(self, **more):
        return {"kty": "RSA", "kid": self.kid, "n": number64(RSA_N), "e": number64(RSA_E), **more}

    def token(self, payload, **header):
        return token({"alg": "RS256", "kid": self.kid, **header}, payload, self.sign)


P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    if a == b:
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def times(k, point):
    total = None
    while k:
        if k & 1:
            total = add(total, point)
        point = add(point, point)
        k >>= 1
    return total


class Ec:
    """ES256."""

    def __init__(self, kid):
        self.kid = kid
        self.private = secrets.randbelow(ORDER - 1) + 1
        self.public = times(self.private, G)

    def sign(self, data):
        e = int.from_bytes(hashlib.sha256(data).digest(), "big")
        k = secrets.randbelow(ORDER - 1) + 1
        r = times(k, G)[0] % ORDER
        s = pow(k, -1, ORDER) * (e + r * self.private) % ORDER
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def jwk(self, **more):
        return {"kty": "EC", "crv": "P-256", "kid": self.kid, "x": number64(self.public[0], 32),
                "y": number64(self.public[1], 32), **more}

    def token(self, payload, **header):
        return token({"alg": "ES256", "kid": self.kid, **header}, payload, self.sign)


def public_pem():
    """The RSA key as an operator would have it in a file."""
    def der(tag, body):
        size = len(body)
        length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
        return bytes([tag]) + length + body

    def integer(value):
        return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))

    key = der(0x30, integer(RSA_N) + integer(RSA_E))
    whole = der(0x30, bytes.fromhex("300d06092a864886f70d0101010500") + der(3, b"\0" + key))
    text = base64.b64encode(whole).decode()
    lines = "\n".join(text[i:i + 64] for i in range(0, len(text), 64))
    return f"-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n"
