"""A device of a person, driven by the command `dunlin`."""

import json
import os
import subprocess
import time

DUNLIN = os.environ["DUNLIN"]


class Device:
    def __init__(self, folder, number, remote, user="aoi"):
        self.path = os.path.join(folder, f"device{number}.db")
        self.number = number
        self.remote = remote
        self.user = user
        self.run("init", "--user", user)

    def run(self, *arguments, text=None):
        done = subprocess.run([DUNLIN, "--db", self.path, *arguments], input=text, text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"dunlin {arguments}: {done.returncode} {done.stderr}")
        return done.stdout

    def batch(self, edits):
        """All or nothing; what it returns from is acknowledged."""
        self.run("batch", "-", text="".join(json.dumps(edit) + "\n" for edit in edits))

    def status(self):
        return json.loads(self.run("--json", "status"))

    def sync(self):
        """Until it went through: a lost race is a reason to come again, not a failure."""
        for attempt in range(20):
            done = subprocess.run([DUNLIN, "--db", self.path, "sync", "--remote", self.remote],
                                  text=True, capture_output=True, check=False)
            if done.returncode == 0:
                return
            if done.returncode != 75:
                break
            time.sleep(0.2 * attempt)
        raise RuntimeError(f"sync of device {self.number}: {done.returncode} {done.stderr}")

    def watch(self, log):
        """Keeps it in step, on a process of its own."""
        return subprocess.Popen([DUNLIN, "--db", self.path, "sync", "--remote", self.remote,
                                 "--watch"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
