"""What README.md says of the server is run; and what dunlind dumps is what a device dumps."""

import shlex

from support import *

BIN = os.path.dirname(os.path.abspath(DUNLIND))
DUNLIN = os.path.join(BIN, "dunlin")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PATH = BIN + ":" + os.environ["PATH"]


def commands():
    """The lines of README.md's block that starts dunlind."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```console\n(.*?)^```", file.read(), re.M | re.S)
    block, = [block for block in blocks if "dunlind --store" in block]
    return [line[2:] for line in block.splitlines()]


def run(folder, words, **more):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PATH": PATH}, check=False, **more)


with tempfile.TemporaryDirectory() as folder:
    server = None
    try:
        for line in commands():
            if "--listen" in line:
                line = line.replace(":8765", ":0")
                server = subprocess.Popen(shlex.split(line), cwd=folder, text=True,
                                          stderr=subprocess.PIPE, env={**os.environ, "PATH": PATH})
                url = re.search(r"http://\S+", server.stderr.readline()).group(0)
            else:
                done = run(folder, line, shell=True)
                same(line, 0, done.returncode)
        token = done.stdout.strip()
        check("the last line prints a token", token.count(".") == 2, token)

        def dunlin(*words, code=0):
            done = run(folder, [DUNLIN, "--db", "phone.dunlin", *words])
            same(f"dunlin {words}", (code, ""), (done.returncode, done.stderr))
            return done.stdout
        dunlin("init", "--user", "alice")
        dunlin("follow", "user", "bob/%")
        dunlin("follow", "group", "tea")
        dunlin("group", "create", "tea", "--name", "Tea")
        dunlin("group", "add", "tea", "carol")
        for name in ("見逃し", "later"):
            dunlin("list", "create", name)
        listed = json.loads(dunlin("list", "ls", "--json").splitlines()[0])["list"]
        dunlin("list", "add", listed, "case", "a/b", "--title", "One")
        dunlin("list", "add", listed, "case", "a", "--title", "Two")
        dunlin("list", "remove", listed, "case", "a")
        dunlin("sync", "--remote", url, "--token", token)
        dump = dunlin("dump")
        check("there is something to dump", dump.count("\n") == 8, dump)
        same("dunlind dump", (0, dump), (lambda d: (d.returncode, d.stdout))(
            run(folder, [os.path.join(BIN, "dunlind"), "dump", "--store", "sqlite:central.db", "--user", "alice"])))
        same("somebody else's", (0, ""), (lambda d: (d.returncode, d.stdout))(
            run(folder, [os.path.join(BIN, "dunlind"), "dump", "--store", "sqlite:central.db", "--user", "eve"])))
        same("nobody's", 64, run(folder, [os.path.join(BIN, "dunlind"), "dump", "--store", "sqlite:central.db"]).returncode)
    finally:
        if server:
            server.terminate()
            same("ends", 0, server.wait(20))
finish()
