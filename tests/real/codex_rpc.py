#!/usr/bin/env python3
"""Speaks with `codex app-server`: one JSON request a line on stdin, answers one a line on stdout.

    codex_rpc.py CODEX [LOG] < requests

A request is {"method", "params"}; a string "$2.thread.id" in its params stands for that member of the second answer.
{"sleep": SECONDS} waits. CUT in the environment shortens the lines printed; LOG gets them whole.
"""
import json, os, queue, subprocess, sys, threading, time

server = subprocess.Popen([sys.argv[1], "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, encoding="utf-8")
log = open(sys.argv[2], "a") if len(sys.argv) > 2 else None
cut = int(os.environ.get("CUT", 0)) or None
lines, answers, number = queue.Queue(), [], 0


def read():
    for line in server.stdout:
        lines.put(json.loads(line))
    lines.put(None)


def ask(method, params):
    global number
    number += 1
    print(json.dumps({"id": number, "method": method, "params": params}), file=server.stdin, flush=True)
    while True:
        message = lines.get(timeout=60)
        if message is None:
            raise SystemExit("codex app-server ended")
        if message.get("id") == number and "method" not in message:
            return message


def resolve(value):
    if isinstance(value, dict):
        return {name: resolve(member) for name, member in value.items()}
    if isinstance(value, list):
        return [resolve(member) for member in value]
    if isinstance(value, str) and value.startswith("$"):
        index, *path = value[1:].split(".")
        value = answers[int(index) - 1]["result"]
        for name in path:
            value = value[name]
    return value


threading.Thread(target=read, daemon=True).start()
ask("initialize", {"clientInfo": {"name": "check", "version": "1"}, "capabilities": {"experimentalApi": True}})
print(json.dumps({"method": "initialized"}), file=server.stdin, flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "sleep" in request:
        time.sleep(request["sleep"])
        continue
    answers.append(ask(request["method"], resolve(request.get("params", {}))))
    text = json.dumps(answers[-1])
    print(text[:cut])
    if log:
        print(text, file=log, flush=True)
server.stdin.close()
try:
    server.wait(10)
except subprocess.TimeoutExpired:
    server.kill()
