// Preloaded into each thread of an engine by `files-on-the-way.js`: counts the functions that run, and reports on request
// which did since the last report.

import inspector from 'node:inspector';
import { BroadcastChannel, isMainThread, receiveMessageOnPort, threadId } from 'node:worker_threads';

/** How often a thread that waits looks for questions. */
const LOOK_MS = 5;

const session = new inspector.Session();
session.connect();
post('Profiler.enable');
post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const threads = new BroadcastChannel('coverage');
// A thread that waits for this channel alone may end.
threads.unref();

if (isMainThread) {
  const known = new Set([threadId]);
  let reports;
  process.on('message', ({ id, take: isAsked }) => {
    if (isAsked !== true) return;
    reports = { id, waiting: new Set(known), ran: [] };
    threads.postMessage({ take: id });
    add({ report: id, threadId, ran: take() });
  });
  threads.onmessage = ({ data }) => {
    if (data.hello !== undefined) known.add(data.hello);
    else if (data.report !== undefined) add(data);
  };
  function add({ report, threadId: from, ran }) {
    if (report !== reports?.id) return;
    reports.waiting.delete(from);
    reports.ran.push(...ran);
    if (reports.waiting.size === 0) process.send({ id: report, ran: reports.ran, threads: known.size });
  }
} else {
  threads.postMessage({ hello: threadId });
  const answer = (data) => {
    if (data.take !== undefined) threads.postMessage({ report: data.take, threadId, ran: take() });
  };
  threads.onmessage = ({ data }) => answer(data);
  keepAnswering(answer);
}

/** A thread that blocks until it has work turns no event loop: it looks for questions while it waits. */
function keepAnswering(answer) {
  const { wait } = Atomics;
  Atomics.wait = (memory, index, value, timeoutMs = Number.POSITIVE_INFINITY) => {
    for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += LOOK_MS) {
      const outcome = wait(memory, index, value, Math.min(LOOK_MS, timeoutMs - waitedMs));
      if (outcome !== 'timed-out') return outcome;
      const question = receiveMessageOnPort(threads);
      if (question !== undefined) answer(question.message);
    }
    return 'timed-out';
  };
}

/** The functions that ran since the last call: the address of their script, and where they begin in it. */
function take() {
  const { result } = post('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) =>
    url.startsWith('file:')
      ? functions.flatMap(({ ranges: [{ count, startOffset }], functionName }) =>
          // The range of a whole module has no name, and counts as soon as it is loaded.
          count > 0 && !(functionName === '' && startOffset === 0) ? [[url, startOffset]] : [],
        )
      : [],
  );
}

function post(method, params) {
  let answer;
  session.post(method, params, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}
