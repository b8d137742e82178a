"""Eight writers, half of them through two dunlinds and half over the driver, append to one scope and
to many at once, while readers poll. Each change is there once, each reader has seen every record's last
version, and no cursor ever went back. With DUNLIN_TEST_SOAK set, of as many changes as take minutes."""
# ctest: mongo timeout=7200

import concurrent.futures

import database
from device import Device
from support import *

WRITERS = 8


class Reader(threading.Thread):
    """Polls by the protocol alone."""

    def __init__(self, bridge, scopes):
        super().__init__(daemon=True)
        self.bridge = bridge
        self.epoch = None
        self.cursors = {scope: ("0", "0") for scope in scopes}
        self.records = {}
        self.trouble = []
        self.over = False
        self.polls = 0

    def poll(self):
        """Reads all that is there."""
        more = True
        while more:
            asks = [pull(scope, cursor, self.epoch) if self.epoch else pull(scope)
                    for scope, cursor in self.cursors.items()]
            status, _, body = self.bridge.post("sync", "aoi", sync_body(asks))
            if status != 200:
                self.trouble.append(body.decode())
                return
            head, lines, _ = read(body)
            self.epoch = head["epoch"]
            more = len([x for x in lines if "state" in x]) < len(asks)
            scope = None
            for line in lines:
                if "state" in line:
                    scope = line["scope"]
                    self.take_scope(line)
                    more = more or line.get("more", False)
                elif "collection" in line:
                    self.take_record(scope, line)
            self.polls += 1

    def take_scope(self, line):
        scope = line["scope"]
        if line["state"] not in ("page", "same"):
            self.trouble.append(f"{scope} {line['state']}")
        elif "seq" in line:
            if int(line["seq"]) < int(self.cursors[scope][0]):
                self.trouble.append(f"{scope} went back to {line['seq']}")
            self.cursors[scope] = (line["seq"], line["salt"])

    def take_record(self, scope, line):
        place = (scope, line["collection"], *line["key"])
        if int(self.records.get(place, {"seq": "0"})["seq"]) >= int(line["seq"]):
            self.trouble.append(f"{place} came twice")
        self.records[place] = line

    def run(self):
        while not self.over:
            self.poll()


def prepare(devices, groups):
    devices[0].batch([{"do": "group-create", "group": g, "name": g} for g in groups])
    devices[0].sync()
    for device in devices[1:]:
        device.sync()


def write(device, follows, members, groups, rounds):
    """Its share of both, in rounds."""
    for turn in range(rounds):
        edits = [{"do": "follow", "kind": "user", "id": f"u{device.number}-{i}"}
                 for i in range(turn, follows, rounds)]
        edits += [{"do": "group-add", "group": groups[i % len(groups)],
                   "user": f"m{device.number}-{i}"} for i in range(turn, members, rounds)]
        device.batch(edits)
        device.sync()


def main():
    uri, scans = database.run_server()
    changes, rounds, group_count = 400, 2, 20
    if "DUNLIN_TEST_SOAK" in os.environ:
        changes, rounds, group_count = (4000, 2, 200) if scans else (20000, 5, 200)
    groups = [f"g{i:03}" for i in range(group_count)]
    store = database.fresh(uri)
    with tempfile.TemporaryDirectory() as folder, Bridge("--threads", "4", store=store) as one, \
            Bridge("--threads", "4", store=store) as two:
        remotes = [f"http://127.0.0.1:{one.port}", f"http://127.0.0.1:{two.port}"]
        devices = [Device(folder, i, remotes[i % 2] if i < WRITERS // 2 else store)
                   for i in range(WRITERS)]
        prepare(devices, groups)
        scopes = ["user/aoi"] + ["group/" + g for g in groups]
        readers = [Reader(one, scopes), Reader(two, scopes)]
        for reader in readers:
            reader.start()
        started = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            share = changes // WRITERS
            for done in [pool.submit(write, d, share, share, groups, rounds) for d in devices]:
                done.result()
        seconds = time.monotonic() - started
        for reader in readers:
            reader.over = True
        for reader in readers:
            reader.join(300)
            reader.poll()
            same("trouble of a reader", [], reader.trouble[:5])
            check("polled all the while", reader.polls > 5, reader.polls)
        fresh = Reader(one, scopes)
        fresh.poll()
        same("follows", changes, len([p for p in fresh.records if p[1] == "follow"]))
        same("members", changes, len([p for p in fresh.records if p[1] == "member"]))
        for reader in readers:
            same("a reader has every last version", fresh.records, reader.records)
        last = sum(int(cursor[0]) for cursor in fresh.cursors.values())
        same("each change stands there once", len(fresh.records), last)
        for device in devices:
            device.sync()
        same("devices agree", 1, len({d.run("dump") for d in devices}))
        print(f"{2 * changes} changes in {seconds:.1f} s, "
              f"{sum(r.polls for r in readers)} polls beside them, "
              f"{one.metric('dunlin_conflicts_total'):.0f} and "
              f"{two.metric('dunlin_conflicts_total'):.0f} lost races")
    finish()


main()
