"""A MongoDB for the scripts of this folder: the one of this run, or one of a script's own that it may
kill."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECANTUS = os.path.join(ROOT, "build", "secantusdb", "bin", "secantusd-py")
EAR = os.environ["DUNLIN_TEST_EAR"]
WITHOUT_EAR = dict(os.environ)

# Every dunlind and dunlin that a script starts is heard: a command to the database that breaks a rule of
# tests/support/mongo_ear.h ends it. The address sanitizer wants to come first, and may come second.
os.environ["LD_PRELOAD"] = EAR
if "ASAN_OPTIONS" in os.environ:
    os.environ["ASAN_OPTIONS"] += ":verify_asan_link_order=0"


def run_server():
    """(uri without a database, whether it scans) of the server that tests/support/mongo_server
    started."""
    with open(os.environ["DUNLIN_TEST_MONGO_FILE"], encoding="utf-8") as file:
        lines = file.read().split("\n")
    return lines[0], "scans" in lines


def fresh(uri):
    """The url of a database of its own."""
    base, _, options = uri.partition("?")
    name = "dunlin_" + secrets.token_hex(6)
    return base.rstrip("/") + "/" + name + ("?" + options if options else "")


class Database:
    """A server of the script's own in a folder, which survives a kill."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "mongo")
        os.makedirs(self.folder, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.uri = f"mongodb://127.0.0.1:{self.port}/"
        self.process = None
        self.start()

    def start(self):
        port = str(self.port)
        if shutil.which("mongod"):
            command = ["mongod", "--bind_ip", "127.0.0.1", "--port", port, "--dbpath", self.folder,
                       "--nounixsocket"]
        else:
            command = [SECANTUS, "--host", "127.0.0.1", "--port", port, "--storage-path",
                       self.folder]
        with open(self.folder + ".log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=WITHOUT_EAR)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError("the database did not start: see " + self.folder + ".log")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
