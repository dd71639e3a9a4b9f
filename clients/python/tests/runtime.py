"""A small live runtime: a receipt, and a door on loopback that speaks what real ones speak."""

import json
import os
import queue
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support import Home, uuid

TOKEN = "5e47" * 16
TTL_MS = 30_000
SOURCE = {"harness": "supercode", "session_id": uuid(900), "workspace": "/p"}


def publish(home: Home, runtime_id: str, port: int) -> str:
    """Writes the receipt of a runtime of this process: its endpoint."""
    number = secrets.token_hex(16)
    receipt = {
        "schema": "supercode.live-runtime.v1",
        "receipt_id": number,
        "runtime_session_id": runtime_id,
        "source": SOURCE,
        "base_url": f"http://127.0.0.1:{port}",
        "token": TOKEN,
        "pid": os.getpid(),
        "created_at_ms": time.time_ns() // 1_000_000,
        "metadata": {"profile": None, "persistence_location": None, "endpoint_capabilities": ["http"]},
    }
    directory = home.path / ".config" / "supercode" / "live-runtimes"
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    directory.chmod(0o700)
    written = directory / f".{number}.tmp"
    with open(os.open(written, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        json.dump(receipt, file)
    written.rename(directory / f"{number}.json")
    return f"supercode-live://{number}"


class Runtime:
    """Its turns ask for an approval if the prompt says `ask`, and last until they are interrupted if it says `wait`."""

    def __init__(self, home: Home, runtime_id: str = "rt-1") -> None:
        self.id = runtime_id
        self._changed = threading.Condition()
        self._events: list[dict[str, Any]] = []
        self._listeners: list[queue.Queue[dict[str, Any] | None]] = []
        self._observers: dict[str, int] = {}
        self._controller: str | None = None
        self._interrupted = False
        self._answer: dict[str, Any] | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self.endpoint = publish(home, runtime_id, self._server.server_port)

    def __enter__(self) -> "Runtime":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def end(self) -> None:
        """Ends its streams."""
        for listener in self._listeners:
            listener.put(None)

    def tell(self, kind: str, **payload: Any) -> None:
        with self._changed:
            event = {"sequence": len(self._events) + 1, "kind": kind, "payload": {"type": kind, **payload}}
            self._events.append(event)
            for listener in self._listeners:
                listener.put(event)

    def _turn(self, prompt: str) -> str:
        self._interrupted, self._answer = False, None
        self.tell("user_message", text=prompt)
        self.tell("turn_started")
        if "ask" in prompt:
            request = {"id": 7, "kind": "approval", "payload": {"tool": "bash", "subject": None, "raw_args": "{}"}}
            self.tell("request", request=request)
            with self._changed:
                self._changed.wait_for(lambda: self._answer is not None)
            self.tell("request_resolved", request_id=7, response=self._answer)
        if "wait" in prompt:
            with self._changed:
                self._changed.wait_for(lambda: self._interrupted)
            self.tell("turn_interrupted")
            raise RuntimeError("turn interrupted")
        self.tell("text_delta", text="Mended.")
        self.tell("turn_succeeded", reply="Mended.")
        return "Mended."

    def _lease(self) -> dict[str, Any]:
        now = time.time_ns() // 1_000_000
        controller = self._controller and {"client_id": self._controller, "expires_at_ms": now + TTL_MS}
        seen = [{"client_id": name, "last_seen_ms": at} for name, at in sorted(self._observers.items())]
        return {"controller": controller, "observers": seen, "lease_ttl_ms": TTL_MS}

    def _descriptor(self) -> dict[str, Any]:
        actions = ["submit", "interrupt", "steer", "respond", "detach", "close"]
        return {
            "schema_version": 2,
            "session_id": self.id,
            "source_harness": "supercode",
            "emulation_profile": None,
            "active_modules": [],
            "commands": [],
            "operations": [{"id": "context:usage", "kind": "context", "command": None}],
            "actions": {action: True for action in actions},
            "display": {"event_kinds": [], "opaque_fallback": True},
            "model": "fake-model",
            "turn_state": "idle",
            "connection_state": "connected",
        }

    def call(self, method: str, params: dict[str, Any], client: str) -> Any:
        name = method.rsplit(".", 1)[-1]
        if name in ("submit", "send_input", "interrupt", "respond", "acquire_control", "steer", "invoke"):
            if self._controller not in (None, client):
                raise PermissionError(self._controller)
            self._controller = client
        if name == "submit":
            return {"reply": self._turn(params["prompt"])}
        if name == "send_input":
            threading.Thread(target=self._turn, args=(params["prompt"],), daemon=True).start()
            return {"accepted": True}
        if name == "attach":
            history = [{"role": "user", "content": "Earlier."}]
            return {"descriptor": self._descriptor(), "history": history, "history_cursor": 0, "replay": self._events}
        with self._changed:
            if name == "interrupt":
                self._interrupted = True
            elif name == "respond":
                self._answer = params["response"]
            elif name == "take_control":
                self._controller = client
            elif name == "detach":
                self._forget(client)
            self._changed.notify_all()
        results = {
            "describe": self._descriptor(),
            "interrupt": {"interrupted": True},
            "respond": {"accepted": True},
            "steer": {"queued": True},
            "invoke": {"kind": "context", "usage": {}},
            "close": {"closed": True},
        }
        return results.get(name, self._lease())

    def _forget(self, client: str) -> None:
        self._observers.pop(client, None)
        if self._controller == client:
            self._controller = None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        runtime = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                assert self.headers["Authorization"] == f"Bearer {TOKEN}"
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer: dict[str, Any] = {"id": asked["id"]}
                try:
                    client = self.headers["x-supercode-client-id"]
                    answer["result"] = runtime.call(asked["method"], asked.get("params") or {}, client)
                except PermissionError as held:
                    message = {"code": -32032, "name": "controller_required", "operation": None, "message": "held"}
                    answer["error"] = {**message, "holder": str(held)}
                except RuntimeError as error:
                    message = {"code": -32001, "name": "execution", "operation": None, "message": str(error)}
                    answer["error"] = message
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                listener: queue.Queue[dict[str, Any] | None] = queue.Queue()
                client = self.headers["x-supercode-client-id"]
                self.close_connection = True
                with runtime._changed:
                    runtime._observers[client] = time.time_ns() // 1_000_000
                    runtime._listeners.append(listener)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                while (event := listener.get()) is not None:
                    try:
                        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                    except OSError:
                        break
                with runtime._changed:
                    runtime._listeners.remove(listener)
                    runtime._forget(client)

        return Handler
