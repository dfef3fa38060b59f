"""A forwarder of a few lines, as a subject file, with one weakness."""

import json
from pathlib import Path

# Forwards one request at a time to its upstream, on a connection of its own. Its weakness, which it always has, only
# once in the life of its folder, or every other time: it dies of a 500, and passes a 503 on as a 502.
FORWARDER = r"""
import os, socket
def message(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more: return data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0]) if lengths else 0
    while len(body) < length:
        more = sock.recv(65536)
        if not more: break
        body += more
    return head + b"\r\n\r\n" + body
def is_weak():
    if "{weak}" == "always": return True
    try: os.close(os.open("{here}/was-weak", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        if "{weak}" == "alternately": os.unlink("{here}/was-weak")
        return False
    return True
host, _, port = "{upstreams[0]}".rpartition(":")
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("{host}", {port}))
listener.listen()
while True:
    caller, _ = listener.accept()
    with caller:
        request = message(caller)
        if request:
            with socket.create_connection((host, int(port))) as router:
                router.sendall(request)
                reply = message(router)
            if b" 500 " in reply[:16] and is_weak(): os._exit(7)
            if b" 503 " in reply[:16] and is_weak(): reply = reply.replace(b" 503 ", b" 502 ", 1)
            caller.sendall(reply)
"""
SUBJECT = """\
name = "weak"
command = ["{{python}}", "-I", "-S", "{{dir}}/forwarder.py"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 50
values.weak = "{weak}"
files."forwarder.py" = {forwarder}
"""


def write_weak_forwarder(folder: Path, weak: str) -> str:
    """`weak` is "always", "once" or "alternately". Returns the subject file's name."""
    (folder / "weak.toml").write_text(SUBJECT.format(weak=weak, forwarder=json.dumps(FORWARDER)))
    return "weak.toml"
