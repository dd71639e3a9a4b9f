#!/usr/bin/env python3
"""rpc.py TACKROOM < REQUESTS: asks `tackroom serve` one {"method", "params"} a line, and prints each answer as a line."""
import json, subprocess, sys

server = subprocess.Popen([sys.argv[1], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")


def ask(number, method, params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    print(json.dumps(message), file=server.stdin, flush=True)
    for line in server.stdout:
        if json.loads(line).get("id") == number:
            return line
    raise EOFError("tackroom ended")


ask(0, "initialize", {"clientInfo": {"name": "real"}})
for number, line in enumerate(sys.stdin, 1):
    print(ask(number, **json.loads(line)), end="")
server.stdin.close()
sys.exit(server.wait())
