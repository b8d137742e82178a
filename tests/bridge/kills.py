"""kill -9 of dunlind and of its database, fifty times, while devices write and keep themselves in step:
what was acknowledged to anybody is there in the end, and the devices come to it by themselves."""
# ctest: mongo timeout=1800

import random

import database
from device import Device
from support import *

KILLS = int(os.environ.get("DUNLIN_KILLS", "50"))
SEED = int(os.environ.get("DUNLIN_SEED", "1"))
PAUSE_S = 0.15  # between two edits of a device
CATCH_UP_S = 15 * 60  # the longest pause of a device that failed often


class Writer(threading.Thread):
    """Edits a device, whose watching process brings them to central."""

    def __init__(self, device):
        super().__init__(daemon=True)
        self.device = device
        self.acknowledged = []
        self.trouble = []
        self.over = threading.Event()

    def run(self):
        number = 0
        while not self.over.wait(PAUSE_S):
            ids = [f"d{self.device.number}-{number + i}" for i in range(3)]
            number += 3
            try:
                self.device.batch([{"do": "follow", "kind": "user", "id": i} for i in ids])
                self.acknowledged += ids
            except RuntimeError as error:
                self.trouble.append(str(error))
                return


class Asker(threading.Thread):
    """Pushes by the protocol alone; what central answered is acknowledged."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port = port
        self.acknowledged = []
        self.failed = 0
        self.over = threading.Event()

    def run(self):
        number = 0
        while not self.over.wait(PAUSE_S):
            number += 1
            whom = f"asked-{number}"
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                connection.request("POST", "/v1/sync",
                                   sync_body([{"scope": "user/ben"}], [follow("ben", whom)]),
                                   {"Content-Type": "application/x-ndjson", "Dunlin-User": "ben"})
                answer = connection.getresponse()
                _, lines, end = read(answer.read())
                if answer.status == 200 and "end" in end and any("ack" in x for x in lines):
                    self.acknowledged.append(whom)
            except (OSError, http.client.HTTPException, ValueError, IndexError):
                self.failed += 1
            finally:
                connection.close()


def kill_and_start(what, server, bridge, rest):
    """Kills one, the other, or both, and starts what was killed; returns the bridge of then."""
    if what != "bridge":
        server.kill()
    if what != "database":
        bridge.stop(signal.SIGKILL)
    time.sleep(rest)
    if what != "bridge":
        server.start()
    if what != "database":
        bridge = Bridge(folder=bridge.folder, store=bridge.store, port=bridge.port)
    return bridge


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        server = database.Database(folder)
        store = database.fresh(server.uri)
        bridge = Bridge(folder=folder, store=store)
        url = f"http://127.0.0.1:{bridge.port}"
        devices = [Device(folder, 0, url), Device(folder, 1, url), Device(folder, 2, store),
                   Device(folder, 3, url, user="ben")]
        with open(os.path.join(folder, "watch.log"), "ab") as log:
            watching = [device.watch(log) for device in devices]
        writers = [Writer(device) for device in devices]
        asker = Asker(bridge.port)
        for thread in [*writers, asker]:
            thread.start()

        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 1.5))
            what = chance.choice(["bridge", "database", "both"])
            bridge = kill_and_start(what, server, bridge, chance.uniform(0, 0.5))

        for thread in [*writers, asker]:
            thread.over.set()
        for thread in [*writers, asker]:
            thread.join(60)
        for writer in writers:
            same("edits went well all the while", [], writer.trouble)
            check("there were some", len(writer.acknowledged) > KILLS, len(writer.acknowledged))
        check("the asker was answered, and was not", asker.acknowledged and asker.failed,
              f"{len(asker.acknowledged)} {asker.failed}")
        eventually("all devices are through by themselves",
                   lambda: not any(device.status()["pending"] for device in devices), CATCH_UP_S)
        for process in watching:
            same("still watching", None, process.poll())
            process.send_signal(signal.SIGINT)
        for process in watching:
            same("ended well", 0, process.wait(60))
        for device in devices:
            device.sync()

        for user, own in (("aoi", devices[:3]), ("ben", devices[3:])):
            central = subprocess.run([DUNLIND, "dump", "--store", store, "--user", user], text=True,
                                     capture_output=True, check=True).stdout
            for device in own:
                same(f"{user}'s device {device.number} has what central has", True,
                     device.run("dump") == central)
            wanted = {i for writer in writers if writer.device in own for i in writer.acknowledged}
            wanted.update(asker.acknowledged if user == "ben" else ())
            there = {line["key"][1] for line in map(json.loads, central.splitlines())
                     if line.get("collection") == "follow"}
            same(f"{user}'s acknowledged edits that are lost", set(), wanted - there)
            print(f"{user}: {len(wanted)} acknowledged, {len(there)} at central")
        print(f"{KILLS} kills, {len(asker.acknowledged)} pushes answered, {asker.failed} cut")
        same("ends", 0, bridge.stop())
        server.stop()
    finish()


main()
