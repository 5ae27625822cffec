"""The functions alone, and the client against an engine of this test's own, where `svc` is installed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "workers" / "words"))

from svc_client import SvcError, Worker  # noqa: E402
from worker import count, register  # noqa: E402

SVC = ROOT / "node_modules" / "svc" / "bin" / "svc.js"
CONFIG = "workers: [{name: svc-worker-manager, config: {port: 0}}]"


class Words(unittest.TestCase):
    def test_counts_words(self):
        self.assertEqual(count({"text": "to be or not to be"}), {"be": 2, "not": 1, "or": 1, "to": 2})


@unittest.skipUnless(SVC.exists(), "needs npm install")
class OnAnEngine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "svc-config.yaml").write_text(CONFIG)
        command = [os.environ.get("npm_node_execpath", "node"), str(SVC), "start", "--json"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        engine = subprocess.Popen(command, cwd=folder.name, text=True, **streams)
        self.addCleanup(engine.stdout.close)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        self.worker = Worker(json.loads(engine.stdout.readline())["listeners"][0]["address"])
        register(self.worker)
        self.worker.start()
        self.addCleanup(self.worker.stop)
        self.assertTrue(self.worker.wait_until_ready(10))

    def test_calls_through_the_engine(self):
        self.assertEqual(self.worker.trigger("words::count", {"text": "ä ä b"}), {"b": 1, "ä": 2})
        long = "x" * 100_000
        self.assertEqual(self.worker.trigger("words::count", {"text": long}), {long: 1})

    def test_tells_the_caller_what_failed(self):
        with self.assertRaises(SvcError) as failure:
            self.worker.trigger("words::count", {"text": 7})
        self.assertEqual(failure.exception.code, "invocation_failed")


if __name__ == "__main__":
    unittest.main()
