"""A small live runtime: publishes a receipt in a home and plays turns over loopback HTTP, as real ones do."""

import json
import os
import queue
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOME = sys.argv[1]
TOKEN = secrets.token_hex(32)
NASTY = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eback\x08 end"


class Fault(Exception):
    def __init__(self, code, name, message, **more):
        self.error = {"code": code, "name": name, "operation": None, "message": message, **more}


class Runtime:
    def __init__(self):
        self.lock = threading.Condition()
        self.sequence = self.cursor = 0
        self.ring, self.streams = [], {}
        self.history = [{"role": "system", "content": "You are an agent of the tests."}]
        self.controller, self.observers = None, set()
        self.running = self.interrupted = False
        self.answers, self.requests, self.steered = {}, 0, []

    def publish(self, kind, **members):
        self.sequence += 1
        event = {"sequence": self.sequence, "kind": kind, "payload": {"type": kind, **members}}
        self.ring.append(event)
        for stream in self.streams.values():
            stream.put(event)

    def say(self, text):
        for at in range(0, len(text), 5):
            self.publish("text_delta", text=text[at : at + 5])
        self.history.append({"role": "assistant", "content": text})

    def ask(self, kind, payload):
        self.requests += 1
        number = 2**53 - 2 + self.requests if payload.get("tool") == "big" else self.requests
        self.publish("request", request={"id": number, "kind": kind, "payload": payload})
        self.answers[number] = None
        self.lock.wait_for(lambda: self.answers[number] or self.interrupted)
        return self.answers.pop(number)

    def play(self, prompt):
        with self.lock:
            self.publish("user_message", text=prompt)
            self.publish("turn_started", schema_version=1)
            self.history.append({"role": "user", "content": prompt})
            word, _, rest = prompt.partition(" ")
            if word in ("run", "long", "stolen"):
                if word == "long":
                    rest = "echo " + "x" * int(rest)
                elif word == "stolen":
                    self.controller = "other"
                arguments = json.dumps({"command": rest})
                self.publish("tool_call_started", id="c1", name="bash", arguments=arguments)
                answer = self.ask("approval", {"tool": rest if rest == "big" else "bash", "raw_args": {"command": rest}})
                denied = not answer or answer["decision"] == "deny"
                self.publish("tool_call_completed", id="c1", name="bash", is_error=denied,
                             output="not approved" if denied else "it ran")
                self.say("Done: " + (answer or {}).get("decision", "nothing"))
            elif word == "ask":
                answer = self.ask("elicitation", {"message": "Which port?", "requested_schema": {"type": "object"}})
                self.say("Told: " + json.dumps([answer["action"], answer.get("content")]))
            elif word == "named":
                self.ask("approval", {"tool": rest, "raw_args": {}})
            elif word == "twice":
                for tool in ("first", "second"):
                    self.ask("approval", {"tool": tool, "raw_args": {}})
            elif word == "wait":
                self.say("waiting")
                self.lock.wait_for(lambda: self.interrupted or self.steered)
                self.say("steered by " + self.steered.pop() if self.steered else "")
            elif word == "nasty":
                self.say(NASTY)
            elif word == "flood":
                for number in range(2000):
                    self.publish("text_delta", text=f"line {number}\n")
            else:
                self.say("echo: " + prompt)
            self.cursor, self.ring = self.sequence, []
            if self.interrupted:
                self.publish("turn_interrupted", schema_version=1)
            else:
                self.publish("turn_succeeded", schema_version=1, reply="")
            self.running = self.interrupted = False
            if word == "steal":
                self.controller = "other"

    def drive(self, client, forced=False):
        if self.controller not in (None, client) and not forced:
            raise Fault(-32032, "controller_required", f"{self.controller} drives",
                        holder=self.controller, expiresAtMs=int(time.time() * 1000) + 30000)
        self.controller = client

    def lease(self):
        now = int(time.time() * 1000)
        controller = self.controller and {"client_id": self.controller, "expires_at_ms": now + 30000}
        seen = [{"client_id": one, "last_seen_ms": now} for one in sorted(self.observers)]
        return {"controller": controller, "observers": seen, "lease_ttl_ms": 30000}

    def descriptor(self):
        on = dict.fromkeys(["submit", "interrupt", "steer", "respond", "detach", "close"], True)
        return {"schema_version": 2, "session_id": "demo-1", "source_harness": None, "emulation_profile": None,
                "active_modules": [], "commands": [], "operations": [], "actions": on,
                "display": {"event_kinds": [], "opaque_fallback": True}, "model": "fake-model",
                "turn_state": "busy" if self.running else "idle", "connection_state": "connected"}

    def call(self, client, method, params):
        name = method.removeprefix("frontend.v2.").removeprefix("frontend.")
        if name == "describe":
            return self.descriptor()
        if name == "attach":
            self.observers.add(client)
            replay = [event for event in self.ring if event["sequence"] > self.cursor]
            return {"descriptor": self.descriptor(), "history": self.history, "history_cursor": self.cursor, "replay": replay}
        if name == "detach":
            self.leave(client)
        elif name in ("acquire_control", "take_control"):
            self.drive(client, name == "take_control")
        elif name in ("send_input", "interrupt", "steer", "respond"):
            self.drive(client)
            return getattr(self, name)(**params)
        elif name not in ("lease", "heartbeat"):
            raise Fault(-32601, "unsupported_action", f"unknown method `{method}`")
        return self.lease()

    def leave(self, client):
        self.observers.discard(client)
        if self.controller == client:
            self.controller = None

    def send_input(self, prompt, **_):
        if self.running:
            raise Fault(-32000, "busy", "a turn is already in progress")
        self.running = True
        threading.Thread(target=self.play, args=(prompt,), daemon=True).start()
        return {"accepted": True}

    def interrupt(self):
        self.interrupted = self.running
        self.lock.notify_all()
        return {"interrupted": self.running}

    def steer(self, prompt):
        self.steered.append(prompt)
        self.lock.notify_all()
        return {"queued": True}

    def respond(self, response):
        number = response["request_id"]
        if self.answers.get(number, 0) is not None:
            raise Fault(-32022, "not_found", f"SDK request {number} is not pending")
        self.answers[number] = response
        self.publish("request_resolved", request_id=number, response=response)
        self.lock.notify_all()
        return {"accepted": True}


runtime = Runtime()


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_known(self):
        if self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.answer(401, {"error": "missing or invalid bearer token"})
        return False

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.is_known():
            return
        answer = {"id": body["id"]}
        with runtime.lock:
            try:
                client = self.headers.get("x-supercode-client-id", "legacy-owner")
                answer["result"] = runtime.call(client, body["method"], body.get("params") or {})
            except Fault as fault:
                answer["error"] = fault.error
        self.answer(200, answer)

    def do_GET(self):
        if not self.is_known():
            return
        client, stream = self.headers.get("x-supercode-client-id", "legacy-owner"), queue.Queue()
        with runtime.lock:
            runtime.observers.add(client)
            runtime.streams[id(stream)] = stream
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                try:
                    data = f"data: {json.dumps(stream.get(timeout=0.2))}\n\n"
                except queue.Empty:
                    data = ": keep-alive\n\n"
                self.wfile.write(data.encode())
        except OSError:
            pass
        with runtime.lock:
            del runtime.streams[id(stream)]
            runtime.leave(client)


class Server(ThreadingHTTPServer):
    daemon_threads = True


def publish_receipt(port):
    directory = os.path.join(HOME, ".config/supercode/live-runtimes")
    os.makedirs(directory, mode=0o700)
    os.chmod(directory, 0o700)
    name = secrets.token_hex(16)
    receipt = {"schema": "supercode.live-runtime.v1", "receipt_id": name, "runtime_session_id": "demo-1",
               "source": {"harness": "supercode", "session_id": "demo-1", "workspace": HOME},
               "base_url": f"http://127.0.0.1:{port}", "token": TOKEN, "pid": os.getpid(),
               "created_at_ms": int(time.time() * 1000) + 1000, "metadata": {}}
    partial = os.path.join(directory, f".{name}.tmp")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(receipt, file)
    os.rename(partial, os.path.join(directory, f"{name}.json"))


server = Server(("127.0.0.1", 0), Door)
publish_receipt(server.server_address[1])
server.serve_forever()
