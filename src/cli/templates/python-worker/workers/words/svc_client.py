"""A worker for the svc engine in plain Python: JSON over WebSocket (RFC 6455), the standard library alone.

One thread reads, handlers run in a pool, a thread that sends takes the lock. When the connection breaks it is made again, and
everything is registered again; calls that were in flight then fail with ConnectionError.
"""

import base64
import hashlib
import json
import os
import random
import signal
import socket
import ssl
import struct
import threading
import traceback
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x8, 0x9, 0xA
_MESSAGE_BYTES_MAX = 16 * 1024 * 1024
_PING_SECONDS = 10
_SILENCE_SECONDS = 30
_RETRY_SECONDS_MAX = 10


class SvcError(Exception):
    """What a call ended with."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Worker:
    """Offers functions, calls functions. Register first, then `start`."""

    def __init__(self, url, name="python-worker", threads=8):
        self.url, self.name = url, name
        self._functions, self._triggers = {}, []
        self._calls = {}
        self._pool = ThreadPoolExecutor(max_workers=threads)
        self._lock = threading.Lock()
        self._socket = None
        self._ready, self._stopped = threading.Event(), threading.Event()

    def register_function(self, function_id, handler, description=None):
        self._functions[function_id] = (handler, description)

    def register_trigger(self, trigger_type, function_id, config):
        self._triggers.append((str(uuid.uuid4()), trigger_type, function_id, config))

    def trigger(self, function_id, payload=None, timeout=30):
        """Calls a function and returns its result."""
        call_id, answer = str(uuid.uuid4()), Future()
        self._calls[call_id] = answer
        try:
            self._send(
                {
                    "type": "invokefunction",
                    "invocation_id": call_id,
                    "function_id": function_id,
                    "data": payload,
                    "timeout_ms": int(timeout * 1000),
                }
            )
            return answer.result(timeout)
        finally:
            self._calls.pop(call_id, None)

    def start(self):
        threading.Thread(target=self._run, daemon=True).start()
        threading.Thread(target=self._ping, daemon=True).start()

    def wait_until_ready(self, timeout=None):
        return self._ready.wait(timeout)

    def wait(self):
        """Until SIGTERM or Ctrl-C; handlers that run may finish."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stopped.set())
        self._stopped.wait()
        for function_id in self._functions:
            self._send({"type": "unregisterfunction", "id": function_id})
        self.stop()

    def stop(self):
        self._stopped.set()
        self._pool.shutdown(wait=True)
        self._close()

    # The connection.

    def _run(self):
        delay = 0.25
        while not self._stopped.is_set():
            try:
                self._socket = _dial(self.url)
                delay = 0.25
                self._announce()
                while True:
                    self._receive(json.loads(_read_message(self._socket, self._write)))
            except (OSError, ValueError) as error:
                self._ready.clear()
                self._close()
                self._fail_calls(error)
                if self._stopped.wait(delay * (1 + random.random())):
                    return
                print(f"connecting again: {error}", flush=True)
                delay = min(delay * 2, _RETRY_SECONDS_MAX)

    def _announce(self):
        about = {"name": self.name, "runtime": "python", "pid": os.getpid()}
        self._send({"type": "invokefunction", "function_id": "engine::workers::register", "data": about})
        for function_id, (_handler, description) in self._functions.items():
            self._send({"type": "registerfunction", "id": function_id, "description": description})
        for trigger_id, trigger_type, function_id, config in self._triggers:
            about = {"id": trigger_id, "trigger_type": trigger_type, "function_id": function_id, "config": config}
            self._send({"type": "registertrigger", **about})
        # Frames are taken in order: when this is answered, all the others have been taken.
        call_id, answer = str(uuid.uuid4()), Future()
        self._calls[call_id] = answer
        answer.add_done_callback(lambda done: done.exception() is None and self._ready.set())
        list_functions = {"function_id": "engine::functions::list", "data": {}, "invocation_id": call_id}
        self._send({"type": "invokefunction", **list_functions})

    def _receive(self, frame):
        kind = frame.get("type")
        if kind == "invokefunction":
            self._pool.submit(self._answer, frame)
        elif kind == "invocationresult":
            self._settle(frame)
        elif kind == "ping":
            self._send({"type": "pong"})
        elif kind == "registrationrejected":
            print(f"rejected: {frame.get('function_id')}: {frame.get('message')}", flush=True)
        elif kind == "triggerregistrationresult" and frame.get("error") is not None:
            print(f"rejected: trigger of {frame.get('function_id')}: {frame['error'].get('message')}", flush=True)

    def _answer(self, frame):
        function_id, call_id = frame["function_id"], frame.get("invocation_id")
        reply = {"type": "invocationresult", "invocation_id": call_id, "function_id": function_id}
        try:
            reply["result"] = self._functions[function_id][0](frame.get("data"))
        except Exception as error:
            traceback.print_exc()
            reply["error"] = {
                "code": "invocation_failed",
                "message": str(error),
                "stacktrace": traceback.format_exc(),
            }
        if call_id is not None:
            try:
                self._send(reply)
            except OSError:
                pass  # The engine reports to the caller that this worker was lost.

    def _settle(self, frame):
        answer = self._calls.pop(frame.get("invocation_id"), None)
        if answer is None:
            return
        error = frame.get("error")
        if error is None:
            answer.set_result(frame.get("result"))
        else:
            answer.set_exception(SvcError(error.get("code", "unknown"), error.get("message", "")))

    def _fail_calls(self, error):
        for call_id in list(self._calls):
            answer = self._calls.pop(call_id, None)
            if answer is not None:
                answer.set_exception(ConnectionError(str(error)))

    def _ping(self):
        while not self._stopped.wait(_PING_SECONDS):
            try:
                self._write(_PING, b"")
            except OSError:
                pass  # The reading thread notices as well, and connects again.

    def _send(self, frame):
        self._write(_TEXT, json.dumps(frame).encode())

    def _write(self, opcode, payload):
        with self._lock:
            if self._socket is None:
                raise ConnectionError("not connected")
            self._socket.sendall(_frame(opcode, payload))

    def _close(self):
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            self._socket = None


def _dial(url):
    place = urlsplit(url)
    is_secure = place.scheme == "wss"
    port = place.port or (443 if is_secure else 80)
    connection = socket.create_connection((place.hostname, port), timeout=_SILENCE_SECONDS)
    if is_secure:
        # The engine names its authority, and the name in its certificate if it is not the host.
        trust = ssl.create_default_context(cafile=os.environ.get("SVC_CA_FILE") or None)
        name = os.environ.get("SVC_SERVER_NAME") or place.hostname
        connection = trust.wrap_socket(connection, server_hostname=name)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode()
    token = os.environ.get("SVC_TOKEN")
    lines = [
        f"GET {place.path or '/'} HTTP/1.1",
        f"Host: {place.hostname}:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Protocol: svc.json.v1",
        *([f"Authorization: Bearer {token}"] if token else []),
    ]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if byte == b"" or len(head) > 16384:
            raise ConnectionError("no answer to the handshake")
        head += byte
    status, *headers = head.decode("latin-1").split("\r\n")
    if " 101 " not in status + " ":
        raise ConnectionError(f"refused: {status}")
    accept = base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()
    if not any(line.lower().startswith("sec-websocket-accept:") and line.endswith(accept) for line in headers):
        raise ConnectionError("the handshake was answered by something that is no WebSocket server")
    return connection


def _frame(opcode, payload):
    """One whole message. What a client sends is masked."""
    size = len(payload)
    head = bytes([0x80 | opcode])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += struct.pack("!BH", 0x80 | 126, size)
    else:
        head += struct.pack("!BQ", 0x80 | 127, size)
    mask = os.urandom(4)
    return head + mask + _masked(payload, mask)


def _masked(payload, mask):
    size = len(payload)
    repeated = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")


def _read_message(connection, write):
    """The next text, put together from its frames; pings in between are answered."""
    parts = []
    while True:
        first, second = _read(connection, 2)
        opcode, size = first & 0x0F, second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", _read(connection, 2))
        elif size == 127:
            (size,) = struct.unpack("!Q", _read(connection, 8))
        if size + sum(map(len, parts)) > _MESSAGE_BYTES_MAX:
            raise ConnectionError("a message over 16 MiB")
        payload = _read(connection, size)
        if opcode == _PING:
            write(_PONG, payload)
        elif opcode == _CLOSE:
            raise ConnectionError(f"closed by the engine: {payload[2:].decode(errors='replace') or 'no reason given'}")
        elif opcode in (_TEXT, _CONTINUATION):
            parts.append(payload)
            if first & 0x80:
                return b"".join(parts)


def _read(connection, size):
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if piece == b"":
            raise ConnectionError("the connection ended")
        data += piece
    return bytes(data)
