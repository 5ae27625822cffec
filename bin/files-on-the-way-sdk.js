// The two ends of the SDK that `files-on-the-way.js` measures: a worker that serves functions, and a caller.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, port] = process.argv.slice(2);
const { Enqueue, registerWorker } = await import(pathToFileURL(join(root, 'src/sdk/dist/sdk/index.js')).href);

const connection = () => registerWorker(`ws://127.0.0.1:${port}`, { otel: { enabled: false } });
let serving;
let caller;
let jobDone = () => {};

const operations = {
  call: () => caller.trigger({ function_id: 'way::echo', payload: { text: 'hello' } }),
  state: () => caller.trigger({ function_id: 'state::set', payload: { scope: 'way', key: 'k', value: 1 } }),
  async http(httpPort) {
    const response = await fetch(`http://127.0.0.1:${httpPort}/way`, { method: 'POST', body: '{"text":"hello"}' });
    await response.text();
    if (response.status !== 200) throw new Error(`The route answered ${response.status}`);
  },
  async job() {
    const done = new Promise((resolve) => {
      jobDone = resolve;
    });
    await caller.trigger({
      function_id: 'way::job',
      payload: { text: 'hello' },
      action: Enqueue({ queue: 'default' }),
    });
    await done;
  },
};

process.on('message', async ({ id, connect, run, times, httpPort }) => {
  if (connect === true) await begin();
  else if (run !== undefined) for (let time = 0; time < times; time++) await operations[run](httpPort);
  else return;
  process.send({ id, ran: [] });
});

async function begin() {
  serving = connection();
  caller = connection();
  serving.registerFunction('way::echo', async (input) => input);
  serving.registerFunction('way::job', async () => jobDone());
  serving.registerFunction('way::http', async () => ({ status_code: 200, body: { ok: true } }));
  serving.registerTrigger({
    type: 'http',
    function_id: 'way::http',
    config: { api_path: '/way', http_method: 'POST' },
  });
  // The engine may not listen yet: both connect again until it does.
  await serving.ready?.();
  await operations.call();
}

process.send({ id: 'started' });
