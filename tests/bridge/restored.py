"""Central's store comes back from an old backup. Whoever has seen more waits and loses nothing, the
operator is told, and after `dunlind restored` everything is there again, from the devices that have
it. So it is too where `dunlind restored` is run before any device has come."""
# ctest: mongo timeout=900

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


def lines(dump):
    return set(dump.splitlines())


def keeps(what, lines_before, dump):
    """A dump has each of those lines: records with all their stamps and values."""
    same(what, [], sorted(lines_before - lines(dump)))


def central_dump(store, user):
    """What the store holds for that user, past the bridge."""
    done = subprocess.run([DUNLIND, "dump", "--store", store.url, "--user", user],
                          text=True, capture_output=True, check=False)
    same("dunlind dump", (0, ""), (done.returncode, done.stderr))
    return done.stdout


def declare_restored(store, fuzzy):
    done = subprocess.run([DUNLIND, "restored", "--store", store.url, *(["--fuzzy"] if fuzzy else [])],
                          text=True, capture_output=True, check=False)
    same("dunlind restored", (0, ""), (done.returncode, done.stderr))


def same_everywhere(store, url, devices):
    """All devices of one user, and central, whichever way it is asked."""
    dump = devices[0].run("dump")
    for device in devices[1:]:
        same("the same on every device", dump, device.run("dump"))
    same("at central too", dump, devices[0].run("dump", "--remote", url))
    same("and past the bridge", dump, central_dump(store, devices[0].user))


def nobody_waits(devices):
    for device in devices:
        same("nobody waits", (0, 0), (device.status()["held"], device.status()["pending"]))
        same("nothing was refused", "", device.run("rejected"))


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
    restored = central_dump(store, "aoi")
    same("central is back at what the backup has", behind.run("dump"), restored)
    bridge = Bridge(folder=folder, store=store.url, port=bridge.port)
    follow_all(also, "a5")  # made while it is not known yet
    for device in (ahead, also, other):
        code, said = sync(device)
        same("held", (EXIT_RETRY, True), (code, "HELD" in said))
        same("one scope waits", 1, device.status()["held"])
    same("its rows are there", before, ahead.run("dump"))
    same("the edit waits", 1, also.status()["pending"])
    same("ben's too", ["b1"], following(other))
    same("central took and removed nothing", restored, central_dump(store, "aoi"))
    same("of ben neither", "", central_dump(store, "ben"))
    check("the operator is told", bridge.metric("dunlin_held_total") >= 3)
    eventually("in words", lambda: any("dunlind restored" in x for x in bridge.said))
    follow_all(behind, "a6")
    behind.sync()  # it has seen nothing that is gone; what it writes makes central's history another
    same("whoever is behind goes on", 0, behind.status()["pending"])
    code, said = sync(ahead)
    same("held still", (EXIT_RETRY, True), (code, "HELD" in said))
    same("nothing was deleted", before, ahead.run("dump"))
    same("nor at central", lines(restored) | lines(behind.run("dump")),
         lines(central_dump(store, "aoi")))

    declare_restored(store, fuzzy)
    for _ in range(2):
        for device in (ahead, also, behind, other):
            device.sync()
    same("all that anybody had is there", ["a1", "a3", "a4", "a5", "a6"], following(behind))
    same_everywhere(store, url, (behind, ahead, also))
    same("ben's", ["b1"], following(other))
    same_everywhere(store, url, (other,))
    nobody_waits((ahead, also, behind, other))
    same("ends", 0, bridge.stop())
    store.stop()


def before_the_backup(ahead):
    follow_all(ahead, "a2")
    ahead.batch([{"do": "list-create", "list": "l1", "name": "Later"},
                 {"do": "list-add", "list": "l1", "type": "video", "id": "v1", "title": "One"},
                 {"do": "list-add", "list": "l1", "type": "video", "id": "v2", "title": "Two"},
                 {"do": "group-create", "group": "tea", "name": "Tea", "join": "open"}])


def after_the_backup(ahead):
    """New records, changed ones, and deletions."""
    ahead.run("unfollow", "user", "a2")
    follow_all(ahead, "a3", "a4")
    ahead.batch([{"do": "list-rename", "list": "l1", "name": "Sooner"},
                 {"do": "list-remove", "list": "l1", "type": "video", "id": "v1"},
                 {"do": "list-create", "list": "l2", "name": "New"},
                 {"do": "list-add", "list": "l2", "type": "video", "id": "v3", "title": "Three"},
                 {"do": "group-set", "group": "tea", "name": "Cha"},
                 {"do": "group-add", "group": "tea", "user": "ben"},
                 {"do": "group-create", "group": "run", "name": "Run", "join": "closed"}])


def early_story(kind, folder, fuzzy, ahead_first):
    """The operator is quick: no device comes before `dunlind restored`, so nobody is ever held."""
    store = kind(folder)
    bridge = Bridge(folder=folder, store=store.url)
    url = f"http://127.0.0.1:{bridge.port}"
    ahead, also, behind = (Device(folder, i, url) for i in range(3))
    other = Device(folder, 3, url, user="ben")
    follow_all(ahead, "a1")
    for device in (ahead, also, behind):
        device.sync()
    before_the_backup(ahead)
    ahead.sync()
    same("ends", 0, bridge.stop())
    store.back_up()
    bridge = Bridge(folder=folder, store=store.url, port=bridge.port)
    after_the_backup(ahead)
    follow_all(other, "b1")
    for device in (ahead, also, other):
        device.sync()
    before = {device: lines(device.run("dump")) for device in (ahead, also, behind, other)}
    same("two are ahead of the backup", before[ahead], before[also])
    check("one is behind it", len(before[behind]) == 1 and before[behind] < before[ahead])

    same("ends", 0, bridge.stop())
    store.restore()
    declare_restored(store, fuzzy)
    stays = lines(central_dump(store, "aoi")) & before[ahead]  # what nobody has changed since
    check("central lacks something", stays and stays < before[ahead])
    bridge = Bridge(folder=folder, store=store.url, port=bridge.port)
    follow_all(also, "a5")
    follow_all(behind, "a6")
    for device in (ahead, also, behind, other) if ahead_first else (behind, other, also, ahead):
        device.sync()
        keeps("a device keeps what it had", before[device], device.run("dump"))
        keeps("so does central", stays, central_dump(store, "aoi"))
    for device in (ahead, also, behind, other):
        device.sync()
        keeps("nothing is lost", before[device], device.run("dump"))
    keeps("everybody has it", before[ahead], behind.run("dump"))
    same("and what waited", ["a1", "a3", "a4", "a5", "a6"], following(behind))
    same("what was deleted stays so", False, "v1" in behind.run("list", "show", "l1"))
    same_everywhere(store, url, (behind, ahead, also))
    same_everywhere(store, url, (other,))
    nobody_waits((ahead, also, behind, other))
    same("nobody was held", 0, bridge.metric("dunlin_held_total"))
    same("ends", 0, bridge.stop())
    store.stop()


for store_kind in (FileStore, MongoStore):
    for is_fuzzy in (False, True):
        with tempfile.TemporaryDirectory() as temporary:
            story(store_kind, temporary, is_fuzzy)
        for is_ahead_first in (False, True) if store_kind is FileStore else (is_fuzzy,):
            with tempfile.TemporaryDirectory() as temporary:
                early_story(store_kind, temporary, is_fuzzy, is_ahead_first)
finish()
