"""A relay in a process of its own: it passes one request a connection on, and its answer back, as bytes.

Its arguments: where to listen, its upstreams, and `passes` or `dies`: what an answer does to it whose body is no JSON.
"""

import json
import os
import socket
import sys
import threading

TIMEOUT_S = 0.3
EXIT_STATUS = 70


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def request_of(caller: socket.socket) -> bytes:
    """A whole request with a Content-Length; empty when the caller went before that."""
    request = b""
    while True:
        head, end, body = request.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if end and len(body) >= int(lengths[0].partition(b":")[2]):
            return head + b"\r\nConnection: close" + end + body
        data = caller.recv(65_536)
        if not data:
            return b""
        request += data


def router_of(upstreams: list[tuple[str, int]]) -> socket.socket | None:
    """A connection to the first upstream that takes one."""
    for upstream in upstreams:
        try:
            return socket.create_connection(upstream, TIMEOUT_S)
        except (ConnectionRefusedError, TimeoutError):
            continue  # nothing was sent
        except OSError:
            break  # it had been accepted
    return None


def answer_of(router: socket.socket, request: bytes) -> tuple[bytes, bool]:
    """All that came, and whether its end was an EOF."""
    answer = b""
    try:
        router.sendall(request)
        while data := router.recv(65_536):
            answer += data
    except OSError:
        return answer, False
    return answer, True


def serve(caller: socket.socket, upstreams: list[tuple[str, int]], garbage: str) -> None:
    with caller:
        request = request_of(caller)
        if not request:
            return
        router = router_of(upstreams)
        if router is None:
            caller.sendall(b"HTTP/1.1 502 -\r\nContent-Length: 0\r\n\r\n")
            return
        with router:
            answer, ended = answer_of(router, request)
        if ended and answer and garbage == "dies":
            try:
                json.loads(answer.partition(b"\r\n\r\n")[2])
            except ValueError:
                os._exit(EXIT_STATUS)
        caller.sendall(answer)


def main(listen: str, *arguments: str) -> None:
    *upstreams, garbage = arguments
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address(listen))
        listener.listen()
        while True:
            caller, _ = listener.accept()
            threading.Thread(target=serve, args=(caller, list(map(address, upstreams)), garbage), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
