"""What the scripts here compare: `entries` and `loaded` as tackroom tells them, and `same` to hold them against the program."""
import json, sys

base = sys.argv[1]
entries = {entry["sessionId"]: entry for entry in json.load(open(base + "/listed"))["result"]["entries"]}
loaded = {}
for line in open(base + "/loaded"):
    result = json.loads(line)["result"]
    assert "nextCursor" not in result and "problems" not in result, result
    loaded[result["session"]["sessionId"]] = result["messages"]


def texts(session):
    """What people and models wrote in a session, in order: (role, text)."""
    said = []
    for message in loaded[session]:
        if message["role"] in ("user", "assistant"):
            said += [(message["role"], block["text"]) for block in message["content"] if block["type"] == "text"]
    return said


def same(what, ours, theirs):
    """Ends with a failure where two tellings differ: each {session: value}."""
    if ours == theirs:
        print(f"ok: {what}: {len(ours)} alike")
        return
    for session in sorted(ours.keys() | theirs.keys()):
        if ours.get(session) != theirs.get(session):
            print(f"failed: {what} of {session}: {ours.get(session)!r}, not {theirs.get(session)!r}", file=sys.stderr)
    sys.exit(1)


def each(member):
    """This member of every entry that has it."""
    return {session: entry[member] for session, entry in entries.items() if member in entry}


def parents():
    return {session: (parent["relation"], parent.get("sessionId")) for session, parent in each("parent").items()}
