"""Hosts a real agent with `tackroom host`, joins it through `tackroom serve`, and plays prompts.

usage: host.py TACKROOM WORKSPACE LOAD [PROMPT...] -- COMMAND...

A prompt is HOW!TEXT: what is asked in it is answered `allow` or `deny`, a form with `answer=TEXT`, or the turn is interrupted
(`interrupt`) once it runs. `background` allows everything and waits for what the agent does after the turn. What the runtime reports is printed, an event a line; then the history as a client that attaches
later receives it; last the entry, and the agent's own id of the session.
"""
import json, queue, subprocess, sys, threading, time

tackroom, workspace, load, *rest = sys.argv[1:]
prompts, command = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
ids = iter(range(1, 1_000_000))


class Server:
    def __init__(self):
        permissions = "observe,interact,approve,terminate"
        self.process = subprocess.Popen([tackroom, "serve", "--allow", permissions], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.events, self.answers = queue.Queue(), {}
        self.come = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message:
                with self.come:
                    self.answers[message["id"]] = message
                    self.come.notify_all()
            elif message["method"] == "runtime/event":
                self.events.put(message["params"]["event"])

    def ask(self, method, **params):
        number = next(ids)
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=self.process.stdin, flush=True)
        return number

    def call(self, method, **params):
        number = self.ask(method, **params)
        with self.come:
            assert self.come.wait_for(lambda: number in self.answers, 120), method
            answer = self.answers.pop(number)
        assert "result" in answer, answer
        return answer["result"]


more = ["--load", load] if load else []
hosted = subprocess.run([tackroom, "host", "--detach", "--json", "--workspace", workspace, *more, "--", *command], capture_output=True, text=True)
if hosted.returncode:
    sys.exit(f"not hosted: {hosted.stderr}")
told = json.loads(hosted.stdout)
server = Server()
server.call("initialize", clientInfo={"name": "real"})
attached = server.call("runtime/attach", id=told["runtimeId"])
attachment = attached["attachment"]
for message in attached["history"]:
    print("history", message["role"], json.dumps(message.get("content") or [call["function"]["name"] for call in message.get("tool_calls", [])]))
server.call("runtime/acquireControl", attachment=attachment)


def report(event):
    """Prints an event."""
    kind, payload = event["kind"], event.get("payload", {})
    said = payload.get("text") or payload.get("name") or payload.get("kind") or payload.get("message") or ""
    if kind.startswith("tool_call_"):
        print("call", kind, json.dumps(said), payload.get("arguments", ""))
    print(kind, json.dumps(said), payload.get("output", ""), payload.get("is_error", ""))


def respond(request, how):
    """Answers what the agent asks."""
    print("asked", json.dumps({name: value for name, value in request["payload"].items() if name != "raw"}))
    if request["kind"] == "elicitation":
        content = how.removeprefix("answer=")
        answer = {"kind": "elicitation", "requestId": request["id"], "action": "accept", "content": content}
    else:
        decision = how if how in ("allow", "deny") else "allow"
        answer = {"kind": "approval", "requestId": request["id"], "decision": decision}
    server.call("runtime/respond", attachment=attachment, response=answer)


def play(how, until):
    """Reports events and answers questions until one of these kinds comes."""
    while True:
        event = server.events.get(timeout=120)
        kind = event["kind"]
        report(event)
        if how == "background" and kind in OUTSIDE:
            print("state at", kind, server.call("registry/describe", id=told["runtimeId"])["entry"]["state"])
        if kind == "turn_started" and how == "interrupt":
            time.sleep(2)
            server.call("runtime/interrupt", attachment=attachment)
        if kind == "request":
            respond(event["payload"]["request"], how)
        if kind in until:
            break


OUTSIDE = ("text_delta", "tool_call_started", "request", "turn_completed")
for prompt in prompts:
    how, text = prompt.split("!", 1)
    print("prompt", text)
    server.call("runtime/sendInput", attachment=attachment, prompt=text)
    play("allow" if how == "background" else how, ("turn_succeeded", "turn_interrupted", "turn_failed"))
    if how == "background":
        print("outside the turn")
        play(how, ("turn_completed",))
later = Server()
later.call("initialize", clientInfo={"name": "later"})
snapshot = later.call("runtime/attach", id=told["runtimeId"])
for event in snapshot["replay"]:
    print("later event", event["kind"], json.dumps(event.get("payload", {}).get("text", "")))
for message in snapshot["history"]:
    print("later", message["role"], json.dumps(message.get("content")))
    for call in message.get("tool_calls", []):
        print("later call", call["function"]["name"], call["function"]["arguments"])
    if message["role"] == "tool":
        print("later output", json.dumps(message.get("content")))
entry = server.call("registry/describe", id=told["runtimeId"])["entry"]
ours = server.call("runtime/describe", runtimeId=told["runtimeId"])["descriptor"]["extensions"]["tackroom"]
print("entry", json.dumps({name: entry.get(name) for name in ("harness", "agent", "title", "model")}))
print("usage", json.dumps(ours.get("usage")))
server.call("runtime/close", attachment=attachment)
print("session", entry["harness"], entry["sessionId"])
