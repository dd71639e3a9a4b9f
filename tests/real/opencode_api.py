"""Speaks to `opencode serve` as clients of its newest API do: python3 opencode_api.py BASE_URL DIRECTORY
Makes sessions of the second engine, of both, and one whose prompt waits; prints `NAME ID` for each."""
import json, sys, time, urllib.request

base, directory = sys.argv[1:]


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, method=method, data=data, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.loads(answer.read() or "null")


def new():
    model = {"id": "fake-model", "providerID": "fake"}
    return call("POST", "/api/session", {"location": {"directory": directory}, "model": model})["data"]["id"]


def messages(session):
    """The messages of the second engine, the oldest first."""
    return call("GET", f"/api/session/{session}/message?limit=200")["data"][::-1]


def say(session, text, patience=90, **more):
    """Prompts, and waits for the end of the turn; answers whether it came."""
    before = len(messages(session))
    call("POST", f"/api/session/{session}/prompt", {"prompt": {"text": text}, **more})
    deadline = time.time() + patience
    while time.time() < deadline:
        last = messages(session)[before:][-1:]
        if any(m["type"] == "assistant" and "completed" in m["time"] and m.get("finish") == "stop" for m in last):
            return True
        time.sleep(0.2)
    assert not patience or patience < 90, (text, messages(session))
    return False


def warm():
    """The first turn of the second engine in a server gets no answer (1.18.33)."""
    for _ in range(6):
        session = new()
        answered = say(session, "warm", patience=10)
        call("DELETE", f"/session/{session}")
        if answered:
            return
    raise SystemExit("the second engine does not answer")


def say_to_first(session, text):
    model = {"providerID": "fake", "modelID": "fake-model"}
    call("POST", f"/session/{session}/message", {"model": model, "parts": [{"type": "text", "text": text}]})


def main():
    warm()
    second = new()
    say(second, "Second engine: paint the fence")
    say(second, "USE_TOOL please run a command")
    print("second", second)
    both = call("POST", "/session", {})["id"]
    say_to_first(both, "First engine: wash the car")
    say(both, "Second engine: wax the car")
    say_to_first(both, "First engine again: dry the car")
    print("both", both)
    waiting = new()
    say(waiting, "This prompt waits", patience=0, resume=False)
    print("waiting", waiting)
    reverted = new()
    say(reverted, "Keep: sweep the yard")
    say(reverted, "Take back: burn the leaves")
    taken_back = [m["id"] for m in messages(reverted) if m.get("text") == "Take back: burn the leaves"]
    call("POST", f"/api/session/{reverted}/revert/stage", {"messageID": taken_back[0]})
    print("reverted", reverted)
    print("fork", call("POST", f"/session/{both}/fork", {})["id"])


if __name__ == "__main__":
    main()
