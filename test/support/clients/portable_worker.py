"""A worker and caller of the portable form, `svc.msgpack.v2`, with Python's standard library and the package `msgpack`.

It registers `python::echo`, which answers its payload, and `python::total`, which calls `node::price` for each item of
an order and adds the prices up. Commands come as lines of JSON on standard input: `{"function_id", "data"}` makes a
call, and its outcome is printed as one line of JSON. Run it with the address of a worker port:

    python3 portable_worker.py 127.0.0.1 49134
"""

import base64
import json
import os
import socket
import struct
import sys
import threading

import msgpack

CONTROL, NAME, CALL, RESULT = 1, 2, 3, 4
PACKED_BYTES_MAX = 256 * 1024
METADATA, TRACEPARENT, BAGGAGE, EXTRA, VOID, PAYLOAD, ERROR, PACKED = 1, 2, 4, 8, 16, 32, 64, 128


class WebSocket:
    """The client's side of one WebSocket connection, for binary messages."""

    def __init__(self, host, port, subprotocol):
        self.socket = socket.create_connection((host, port))
        self.stream = self.socket.makefile("rb")
        self.lock = threading.Lock()
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET / HTTP/1.1",
            f"Host: {host}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: {subprotocol}",
        ]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = self.stream.readline().decode()
        headers = {}
        while (line := self.stream.readline().decode().strip()) != "":
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        if " 101 " not in status or headers.get("sec-websocket-protocol") != subprotocol:
            raise ConnectionError(f"the engine does not speak {subprotocol}: {status.strip()}")

    def send(self, message, opcode=2):
        mask = os.urandom(4)
        if len(message) < 126:
            length = struct.pack("!B", 0x80 | len(message))
        elif len(message) < 65536:
            length = struct.pack("!BH", 0x80 | 126, len(message))
        else:
            length = struct.pack("!BQ", 0x80 | 127, len(message))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(message))
        with self.lock:
            self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def messages(self):
        parts = b""
        while True:
            first, length = self.stream.read(2)
            if length == 126:
                (length,) = struct.unpack("!H", self.stream.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.stream.read(8))
            content = self.stream.read(length)
            opcode = first & 0x0F
            if opcode == 8:
                return
            if opcode == 9:
                self.send(content, 10)
            if opcode in (0, 2):
                parts += content
                if first & 0x80:
                    yield parts
                    parts = b""


class Worker:
    def __init__(self, host, port):
        self.websocket = WebSocket(host, port, "svc.msgpack.v2")
        self.handlers = {}
        self.numbers = {}
        self.names = {}
        self.waiting = {}
        self.last_id = 0
        self.lock = threading.Lock()

    def register(self, function_id, handler):
        self.handlers[function_id] = handler
        self.send(CONTROL, 0, json.dumps({"type": "registerfunction", "id": function_id}).encode())

    def call(self, function_id, data):
        """Returns what `answer` delivers once the engine has answered."""
        with self.lock:
            message = b""
            if function_id not in self.numbers:
                self.numbers[function_id] = len(self.numbers)
                message = encode(NAME, 0, struct.pack("<I", self.numbers[function_id]) + function_id.encode())
            self.last_id += 1
            answer = self.waiting[self.last_id] = Answer()
            header = struct.pack("<IIII", self.last_id, 0, self.numbers[function_id], 5000)
            flags, payload = encode_payload(data)
            self.websocket.send(message + encode(CALL, flags, header + payload))
        return answer

    def run(self):
        for batch in self.websocket.messages():
            at = 0
            while at < len(batch):
                length, kind, flags, depth = struct.unpack_from("<IBBH", batch, at)
                self.receive(kind, flags, batch[at + 8 : at + 4 + length])
                at += 4 + length

    def receive(self, kind, flags, content):
        if kind == NAME:
            (number,) = struct.unpack_from("<I", content)
            self.names[number] = content[4:].decode()
        elif kind == RESULT:
            (number,) = struct.unpack_from("<I", content)
            self.waiting.pop(number).settle(bool(flags & ERROR), read_payload(flags, content[8:]))
        elif kind == CALL:
            number = struct.unpack_from("<I", content, 8)[0]
            at = 16
            for section in (METADATA, TRACEPARENT, BAGGAGE, EXTRA):
                if flags & section:
                    at += 4 + struct.unpack_from("<I", content, at)[0]
            arguments = (content[:8], self.names[number], read_payload(flags, content[at:]))
            threading.Thread(target=self.answer, args=arguments, daemon=True).start()

    def answer(self, call_id, function_id, data):
        try:
            flags, payload = encode_payload(self.handlers[function_id](data))
            self.send(RESULT, flags, call_id + payload)
        except Exception as error:
            body = json.dumps({"code": "python_error", "message": str(error)})
            self.send(RESULT, PAYLOAD | ERROR, call_id + body.encode())

    def send(self, kind, flags, content):
        self.websocket.send(encode(kind, flags, content))


class Answer:
    def __init__(self):
        self.done = threading.Event()

    def settle(self, is_error, value):
        self.is_error, self.value = is_error, value
        self.done.set()

    def wait(self):
        self.done.wait(10)
        if self.is_error:
            raise RuntimeError(self.value["code"])
        return self.value


def encode(kind, flags, content):
    return struct.pack("<IBBH", len(content) + 4, kind, flags, 0) + content


def encode_payload(value):
    packed = msgpack.packb(value)
    if len(packed) > PACKED_BYTES_MAX:
        return PAYLOAD, json.dumps(value).encode()
    return PAYLOAD | PACKED, packed


def read_payload(flags, content):
    if not flags & PAYLOAD:
        return None
    return msgpack.unpackb(content) if flags & PACKED else json.loads(content)


def main():
    worker = Worker(sys.argv[1], int(sys.argv[2]))
    threading.Thread(target=worker.run, daemon=True).start()

    def total(order):
        return sum(worker.call("node::price", item).wait() for item in order["items"])

    worker.register("python::echo", lambda data: data)
    worker.register("python::total", total)
    worker.call("engine::health::check", {}).wait()
    print("ready", flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = worker.call(command["function_id"], command["data"])
        answer.done.wait(10)
        print(json.dumps({"is_error": answer.is_error, "value": answer.value}), flush=True)


if __name__ == "__main__":
    main()
