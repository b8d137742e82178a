"""Central's store comes back from an old backup. Whoever has seen more waits and loses nothing, the
operator is told, and after `dunlind restored` everything is there again, from the devices that have
it."""
# ctest: mongo timeout=300

import shutil

import database
from device import DUNLIN, Device
from support import *

EXIT_RETRY = 75


class FileStore:
    """Central in a file."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "central.db")
        self.url = "sqlite:" + self.path

    def back_up(self):
        shutil.copy(self.path, self.path + ".old")

    def restore(self):
        for end in ("-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.remove(self.path + end)
        shutil.copy(self.path + ".old", self.path)

    def stop(self):
        pass


class MongoStore:
    """Central over a MongoDB of its own, whose folder is what is backed up."""

    def __init__(self, folder):
        self.server = database.Database(folder)
        self.url = database.fresh(self.server.uri)

    def back_up(self):
        self.server.stop()
        shutil.copytree(self.server.folder, self.server.folder + ".old")
        self.server.start()

    def restore(self):
        self.server.kill()
        shutil.rmtree(self.server.folder)
        shutil.copytree(self.server.folder + ".old", self.server.folder)
        self.server.start()

    def stop(self):
        self.server.stop()


def sync(device):
    """(exit code, what it said)"""
    done = subprocess.run([DUNLIN, "--db", device.path, "sync", "--remote", device.remote],
                          text=True, capture_output=True, check=False)
    return done.returncode, done.stderr


def follow_all(device, *ids):
    device.batch([{"do": "follow", "kind": "user", "id": i} for i in ids])


def following(device):
    return [json.loads(line)["target"] for line in device.run("--json", "following").splitlines()]


def story(kind, folder, fuzzy):
    store = kind(folder)
    bridge = Bridge(folder=folder, store=store.url)
    url = f"http://127.0.0.1:{bridge.port}"
    ahead, also, behind = (Device(folder, i, url) for i in range(3))
    other = Device(folder, 3, url, user="ben")
    follow_all(ahead, "a1", "a2")
    for device in (ahead, also, behind):
        device.sync()

    same("ends", 0, bridge.stop())
    store.back_up()
    bridge = Bridge(folder=folder, store=store.url, port=bridge.port)
    ahead.run("unfollow", "user", "a2")
    follow_all(ahead, "a3", "a4")
    ahead.sync()
    also.sync()
    follow_all(other, "b1")  # in a scope that the backup does not know
    other.sync()
    before = ahead.run("dump")
    same("two are ahead of the backup", before, also.run("dump"))

    same("ends", 0, bridge.stop())
    store.restore()
    bridge = Bridge(folder=folder, store=store.url, port=bridge.port)
    follow_all(also, "a5")  # made while it is not known yet
    for device in (ahead, also, other):
        code, said = sync(device)
        same("held", (EXIT_RETRY, True), (code, "HELD" in said))
        same("one scope waits", 1, device.status()["held"])
    same("its rows are there", before, ahead.run("dump"))
    same("the edit waits", 1, also.status()["pending"])
    same("ben's too", ["b1"], following(other))
    check("the operator is told", bridge.metric("dunlin_held_total") >= 3)
    eventually("in words", lambda: any("dunlind restored" in x for x in bridge.said))
    follow_all(behind, "a6")
    behind.sync()  # it has seen nothing that is gone; what it writes makes central's history another
    same("whoever is behind goes on", 0, behind.status()["pending"])
    code, said = sync(ahead)
    same("held still", (EXIT_RETRY, True), (code, "HELD" in said))
    same("nothing was deleted", before, ahead.run("dump"))

    done = subprocess.run([DUNLIND, "restored", "--store", store.url, *(["--fuzzy"] if fuzzy else [])],
                          text=True, capture_output=True, check=False)
    same("dunlind restored", (0, ""), (done.returncode, done.stderr))
    for _ in range(2):
        for device in (ahead, also, behind, other):
            device.sync()
    same("all that anybody had is there", ["a1", "a3", "a4", "a5", "a6"], following(behind))
    for device in (ahead, also):
        same("and the same everywhere", behind.run("dump"), device.run("dump"))
    same("at central too", behind.run("dump"), behind.run("dump", "--remote", url))
    same("ben's", ["b1"], following(other))
    same("ben's at central", other.run("dump"), other.run("dump", "--remote", url))
    for device in (ahead, also, behind, other):
        same("nobody waits", (0, 0), (device.status()["held"], device.status()["pending"]))
    same("ends", 0, bridge.stop())
    store.stop()


for store_kind in (FileStore, MongoStore):
    for is_fuzzy in (False, True):
        with tempfile.TemporaryDirectory() as temporary:
            story(store_kind, temporary, is_fuzzy)
finish()
