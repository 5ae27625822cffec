"""What runs: a connection to the engine, and the functions on it. The engine says where it is in SVC_URL."""

import os

from svc_client import Worker


def count(payload):
    """How often each word comes."""
    words = payload.get("text", "").lower().split()
    return {word: words.count(word) for word in sorted(set(words))}


def page(request):
    """The same over HTTP: http://127.0.0.1:3111/count/to be or not to be"""
    return {"body": count({"text": request["path_params"]["text"]})}


def register(worker):
    worker.register_function("words::count", count, description="Counts words")
    worker.register_function("words::page", page, description="Counts words over HTTP")
    worker.register_trigger("http", "words::page", {"api_path": "/count/:text", "http_method": "GET"})


if __name__ == "__main__":
    svc = Worker(os.environ.get("SVC_URL", "ws://127.0.0.1:49134"), name="words")
    register(svc)
    svc.start()
    svc.wait_until_ready()
    print("words is ready")
    svc.wait()
