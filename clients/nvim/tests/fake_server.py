"""A server that says what real ones say only in rare cases. Its word on the command line is which case."""

import json
import sys

CASE = sys.argv[1]
ENTRY = {"id": "demo-1", "harness": "supercode", "sessionId": "demo-1", "state": "idle", "title": "Mend the roof" + " again" * (50 if CASE == "titled" else 0), "peer": {"name": "roofer"},
         "doors": ["runtime", "peer"]}
METHODS = ["registry/list", "registry/watch", "runtime/attach", "runtime/lease", "peer/message"]
attached = 0


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tell(method, **params):
    send(method=method, params=params)


def result(method, params):
    if method == "initialize":
        granted = {"permissions": ["observe"] if CASE == "observe" else ["observe", "message"]}
        version = 2 if CASE == "version" else 1
        return {"protocolVersion": version, "serverInfo": {"name": "tackroom", "version": "0.0.1"},
                "authority": granted, "methods": METHODS}
    if method == "registry/list":
        return {"entries": [ENTRY], "total": 1, "revision": "r"}
    if method == "registry/watch":
        return {"subscription": "w", "revision": "r"}
    if method == "runtime/attach":
        descriptor = {"model": "fake-model", "turn_state": "idle", "actions": {"submit": True, "respond": True}}
        replay = [] if attached == 1 else [event(int(params["after"]) + 1, "again")]
        return {"attachment": f"a{attached}", "clientId": "me", "descriptor": descriptor, "history": [],
                "historyCursor": 0, "replay": replay, "lease": {"observers": [], "leaseTtlMs": 30000}}
    if method == "peer/message":
        # The text says what becomes of it.
        return {"peer": {"name": "roof"}, "outcome": params["text"].split()[0], "detail": params["text"]}
    return {}


def event(sequence, text):
    return {"sequence": sequence, "kind": "text_delta", "payload": {"type": "text_delta", "text": text + "\n"}}


def after(method):
    if method == "runtime/attach" and attached == 1:
        tell("runtime/event", attachment="a1", event=event(5, "first"))
        tell("runtime/event", attachment="a1", event={"kind": "lagged", "cursor": 41})
    if method == "registry/watch":
        title = "long " * (1 << 20) if CASE == "long" else "A"
        for entry in [{**ENTRY, "id": "a", "title": title}, {**ENTRY, "id": "b", "title": "B"}]:
            tell("registry/event", subscription="w", revision="r", event={"kind": "added", "entry": entry})
        tell("registry/event", subscription="w", revision="r", event={"kind": "synced"})
        if CASE == "resync":
            tell("registry/event", subscription="w", revision="r", event={"kind": "resync"})
            entry = {**ENTRY, "id": "b", "title": "B again"}
            tell("registry/event", subscription="w", revision="r", event={"kind": "added", "entry": entry})
            tell("registry/event", subscription="w", revision="r", event={"kind": "synced"})


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message:
        continue
    if method == "runtime/attach":
        attached += 1
    send(id=message["id"], result=result(method, message.get("params") or {}))
    after(method)
