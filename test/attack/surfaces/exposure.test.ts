// Ways around `expose_functions`: a function that a port does not expose runs for none of its connections. Each way is
// tried with an exposed function, which shows that it works, and with a hidden one.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BinaryClient } from '../../support/clients/binary-client.ts';
import { ChannelClient, channelUrl, isTurnedAway, type Ref } from '../../support/clients/channel-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage, restrictedUrl } from '../restricted-page.ts';

const OPEN = 'api::open';
const SECRET = 'secret::x';
const TYPES = ['http', 'state', 'durable:subscriber', 'engine::functions-available', 'event'];

const YAML = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - name: svc-worker-manager
    config:
      port: 0
      rbac:
        allow_trigger_types: [${TYPES.map((type) => `'${type}'`).join(', ')}]
        expose_functions:
          - match("api::*")
          - match("*:free")
          - match("engine::register_trigger")
          - match("engine::functions::*")
          - match("engine::registered-triggers::*")
          - {metadata: {public: true}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-pubsub}
  - {name: svc-http, config: {port: 0}}
  - name: svc-queue
    config:
      queue_configs: {default: {max_retries: 0}}
      adapter: {name: builtin, config: {store_method: in_memory}}
`;

let engine: TestEngine;
let backend: RawWorker;
const ran: string[] = [];

beforeAll(async () => {
  engine = await startTestEngine({ yaml: YAML });
  backend = await RawWorker.connect(engine.url);
  for (const id of [OPEN, SECRET, 'api::yes', 'api', 'public::one']) await backend.serve(id, () => ran.push(id) > 0);
});

afterAll(async () => {
  await backend?.[Symbol.asyncDispose]();
  await engine?.drain();
});

type Way = (page: RawWorker, id: string, name: string) => Promise<void>;

let bindings = 0;

async function bind(page: RawWorker, trigger_type: string, function_id: string, config: object): Promise<void> {
  page.send({ type: 'registertrigger', id: `w-${++bindings}`, trigger_type, function_id, config });
  await page.settled();
}

/** The ways in which a connection can reach a function, in either form of the wire. */
const WAYS: Readonly<Record<string, Way>> = {
  'a call': async (page, id) => void (await page.call(id)),
  'a call without an id': async (page, id) => page.send({ type: 'invokefunction', function_id: id, data: 1 }),
  'fire and forget': async (page, id) => void page.startCall(id, 1, { action: { type: 'void' } }),
  'a job': async (page, id) => void (await page.call(id, 1, { action: { type: 'enqueue', queue: 'default' } })),
  'the binary form': async (_page, id) => {
    await using client = await BinaryClient.connect(restrictedUrl(engine));
    await client.call(OPEN, 1);
    // The number now names another function: the check of the first one must not count.
    await client.call(id, 1);
  },
  'the compact form': async (_page, id) => {
    await using client = await BinaryClient.connect(restrictedUrl(engine), 'svc.compact.v1');
    await client.call(id, 1);
  },
  'a trigger of the state': async (page, id, name) => {
    await bind(page, 'state', id, { scope: name });
    await backend.call('state::set', { scope: name, key: 'k', value: 1 });
  },
  'the condition of a trigger': async (page, id, name) => {
    await bind(page, 'state', 'api::yes', { scope: name, condition_function_id: id });
    await backend.call('state::set', { scope: name, key: 'k', value: 1 });
  },
  'a trigger that makes jobs': async (page, id, name) => {
    await bind(page, 'state', id, { scope: name, queue: 'default' });
    await backend.call('state::set', { scope: name, key: 'k', value: 1 });
  },
  'a subscription of a topic': async (page, id, name) => {
    await bind(page, 'durable:subscriber', id, { topic: name });
    await backend.call('svc::durable::publish', { topic: name, data: 1 });
  },
  'an event': async (page, id, name) => {
    await bind(page, 'event', id, { topic: name });
    await backend.call('publish', { topic: name, data: 1 });
  },
  'a route': async (page, id, name) => {
    await bind(page, 'http', id, { api_path: `/${name}` });
    await fetch(`${httpUrl()}/${name}`);
  },
  'the middleware of a route': async (page, id, name) => {
    await bind(page, 'http', 'api::yes', { api_path: `/${name}`, middleware_function_ids: [id] });
    await fetch(`${httpUrl()}/${name}`);
  },
  'the condition of a route': async (page, id, name) => {
    await bind(page, 'http', 'api::yes', { api_path: `/${name}`, condition_function_id: id });
    await fetch(`${httpUrl()}/${name}`);
  },
  'a trigger of the engine itself': async (page, id, name) => {
    await bind(page, 'engine::functions-available', id, {});
    await backend.register(`api::${name}`);
  },
};

describe('a hidden function is not reached by', () => {
  test.each(Object.entries(WAYS))('%s', async (way, go) => {
    for (const [id, expected] of [
      [OPEN, [OPEN]],
      [SECRET, []],
    ] as const) {
      ran.length = 0;
      await using page = await connect();
      await go(page, id, `${way} ${expected.length}`.replaceAll(/[^a-z0-9]+/g, '-'));
      if (expected.length > 0) await waitFor(`${way} leads to ${id}`, () => ran.includes(id));
      await atRest(page);
      expect(ran.filter((one) => one === SECRET)).toEqual([]);
    }
  });
});

/** Ids that a pattern, a comparison or a lookup may mistake for another one. */
const SPELLINGS: readonly string[] = [
  'SECRET::X',
  ' secret::x',
  'secret::x\n',
  'api::\nsecret::x',
  'api::\u2028secret::x',
  'secret::x\u0000api::open',
  'api::open\u0000secret::x',
  'secret::x\u200b',
  '\ufeffsecret::x',
  'ſecret::x',
  'ｓｅｃｒｅｔ：：ｘ',
  'secret%3A%3Ax',
  'secret::x:free\n',
  'api::../secret::x',
  'api::open,secret::x',
  'default/secret::x',
  'secret::x@default',
  '*',
  'secret::*',
  'match("secret::x")',
  '__proto__',
  'constructor',
  'api',
  'state::get',
  'stream::get',
  'publish',
  'svc::durable::publish',
  'engine::workers::list',
  'engine::triggers::judged',
  'engine::workers::replace',
  'engine::workers::revoke',
  'engine::queue::stats',
  'engine::queue::recovery',
  'svc::queue::recover',
  'engine::logs::list',
  'engine::unregister_trigger',
  'Engine::functions::list',
  'worker::list',
  'worker::start',
];

describe.each(['JSON', 'binary'])('over the %s form the id', (form) => {
  test.each(SPELLINGS)('%j runs no function', async (id) => {
    ran.length = 0;
    await using page = await connect();
    if (form === 'JSON') {
      const answer = await page.call(id, 1);
      expect(answer).toMatchObject({ error: { code: expect.stringMatching(MISSED) } });
      await page.call(id, 1, { action: { type: 'enqueue', queue: 'default' } });
    } else if (!CONTROL.test(id)) {
      await using client = await BinaryClient.connect(restrictedUrl(engine));
      expect(await client.call(id, 1)).toMatchObject({ isError: true });
    }
    await atRest(page);
    expect(ran).toEqual([]);
  });
});

/** Some of the ids match an exposed pattern, and no worker has them. */
const MISSED = /^(FORBIDDEN|function_not_found|BAD_REQUEST)$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the binary form has no way to write such an id
const CONTROL = /[\u0000-\u001f]/;

/** Frames that two parsers may read as different functions, or that claim rights. */
const DOUBLE_MEANINGS: Readonly<Record<string, string>> = {
  'two ids, the hidden one last': `"function_id":"${OPEN}","function_id":"${SECRET}"`,
  'two ids, the hidden one first': `"function_id":"${SECRET}","function_id":"${OPEN}"`,
  'an id in escapes': `"function_id":"\\u0073ecret\\u003a:x"`,
  'a key in escapes': `"function_id":"${OPEN}","\\u0066unction_id":"${SECRET}"`,
  'an id in the prototype': `"__proto__":{"function_id":"${SECRET}"},"function_id":"api"`,
  'an id that is a list': `"function_id":["${SECRET}"]`,
  'an id that is an object': `"function_id":{"toString":"${SECRET}"}`,
  'another namespace': `"function_id":"${SECRET}","namespace":"engine"`,
  'the namespace of all': `"function_id":"${SECRET}","namespace":"default"`,
  'a worker id of a trusted worker': `"function_id":"${SECRET}","data":{"_caller_worker_id":"engine"}`,
  'rights in the metadata': `"function_id":"${SECRET}","metadata":{"public":true,"rights":null,"trusted":true}`,
  'a grant in the frame': `"function_id":"${SECRET}","access":null,"guard":null,"rights":null,"allowed_functions":["${SECRET}"]`,
  'the depth of a handler': `"function_id":"${SECRET}","baggage":"svc.depth=1"`,
  'a mark of the engine': `"function_id":"${SECRET}","baggage":"svc.depth=1,svc.trusted=true,svc.builtin=1","traceparent":"00-${'0'.repeat(31)}1-${'0'.repeat(15)}1-01"`,
  'an origin of a trigger': `"function_id":"${SECRET}","trigger":{"id":"t","type":"state"},"binding":{}`,
  'an unknown action': `"function_id":"${SECRET}","action":{"type":"builtin"}`,
  'a queue of the engine': `"function_id":"${SECRET}","action":{"type":"enqueue","queue":"__engine"}`,
};

describe('a frame with', () => {
  test.each(Object.entries(DOUBLE_MEANINGS))('%s runs no hidden function', async (_name, members) => {
    ran.length = 0;
    await using page = await connect();
    page.sendText(`{"type":"invokefunction","invocation_id":"i",${members}}`);
    await atRest(page);
    expect(ran).not.toContain(SECRET);
  });
});

describe('with its registrations a connection', () => {
  test('neither replaces nor removes a hidden function', async () => {
    await using page = await connect();
    for (const id of [SECRET, OPEN]) {
      page.send({ type: 'registerfunction', id, metadata: { public: true } });
      page.send({ type: 'unregisterfunction', id });
    }
    await page.settled();
    expect(await page.call(SECRET)).toMatchObject({ error: { code: 'FORBIDDEN' } });
    expect(await backend.call(SECRET)).toMatchObject({ result: true });
  });

  test('does not make the function of another worker public by its metadata', async () => {
    await using page = await connect();
    await using other = await RawWorker.connect(engine.url);
    other.send({ type: 'registerfunction', id: 'public::one', metadata: { public: true } });
    await other.settled();
    expect(await page.call('public::one')).toMatchObject({ error: { code: 'FORBIDDEN' } });
  });

  test('registers no URL function and no trigger type', async () => {
    await using page = await connect();
    const invocation = { url: engine.url.replace('ws:', 'http:'), method: 'POST' };
    page.send({ type: 'registerfunction', id: 'api::mine', invocation });
    page.send({ type: 'registertriggertype', id: 'state', description: 'Mine' });
    page.send({ type: 'registertriggertype', id: 'mine', description: 'Mine' });
    await page.settled();
    expect(await backend.call('api::mine')).toMatchObject({ error: { code: 'function_not_found' } });
    const { result } = await backend.call('engine::triggers::list');
    expect(JSON.stringify(result)).not.toContain('"mine"');
  });

  test('does not answer the call of another worker', async () => {
    await using page = await connect();
    await using slow = await RawWorker.connect(engine.url);
    await slow.register('slow::one');
    const asked = backend.startCall('slow::one');
    const call = await slow.next('invokefunction');
    page.answer(call, { result: 'forged' });
    await page.settled();
    slow.answer(call, { result: 'true' });
    expect(await backend.answerTo(asked)).toMatchObject({ result: 'true' });
  });
});

describe('the answers to a connection', () => {
  test('name no hidden function in lists, details and triggers', async () => {
    backend.send({ type: 'registertrigger', id: 'hers', trigger_type: 'state', function_id: SECRET, config: {} });
    await backend.settled();
    await using page = await connect();
    const asked = [
      ['engine::functions::list', {}],
      ['engine::functions::list', { prefix: 'secret' }],
      ['engine::registered-triggers::list', {}],
      ['engine::registered-triggers::info', { id: 'hers' }],
    ] as const;
    for (const [id, data] of asked) expect(JSON.stringify(await page.call(id, data))).not.toContain(SECRET);
    const details = await Promise.all(
      [SECRET, 'secret::none'].map((function_id) => page.call('engine::functions::info', { function_id })),
    );
    const [there, absent] = details.map((answer) => JSON.stringify(answer.error).replaceAll(/secret::\w+/g, 'ID'));
    expect(there).toBe(absent);
  });

  test('are the same for a hidden function and a missing one', async () => {
    await using page = await connect();
    const answers = await Promise.all([SECRET, 'secret::none', 'none'].map((id) => page.call(id)));
    const texts = answers.map(({ error, function_id }) => JSON.stringify(error).replace(String(function_id), 'ID'));
    expect(new Set(texts).size).toBe(1);
  });
});

describe('an end of a channel', () => {
  const WRONG: Readonly<Record<string, (ref: Ref, other: Ref) => Ref>> = {
    'without a key': (ref) => ({ ...ref, access_key: '' }),
    'with the key of another channel': (ref, other) => ({ ...ref, access_key: other.access_key }),
    'with a part of the key': (ref) => ({ ...ref, access_key: ref.access_key.slice(0, -1) }),
    'with the key in capitals': (ref) => ({ ...ref, access_key: ref.access_key.toUpperCase() }),
    'with the key and a space': (ref) => ({ ...ref, access_key: `${ref.access_key} ` }),
    'with another channel id': (ref) => ({ ...ref, channel_id: `${ref.channel_id}/../${ref.channel_id}x` }),
  };

  test.each(Object.entries(WRONG))('%s does not open', async (_name, change) => {
    const [mine, theirs] = await Promise.all([channel(await connect()), channel(backend)]);
    expect(await isTurnedAway(channelUrl(restrictedUrl(engine), change(theirs, mine)))).toBe(true);
    await using end = await ChannelClient.dial(channelUrl(engine.url, theirs));
    expect(end.socket.readyState).toBe(end.socket.OPEN);
  });

  async function channel(worker: RawWorker): Promise<Ref> {
    const { result } = await worker.call('engine::channels::create', {});
    return Reflect.get(Object(result), 'writer');
  }
});

function connect(): Promise<RawWorker> {
  return connectPage(engine);
}

function httpUrl(): string {
  const url = engine.urls.find((one) => one.startsWith('http:'));
  if (url === undefined) throw new Error('There is no HTTP port');
  return url;
}

/** Several round trips of both connections: the engine has sent every call that was due. */
async function atRest(page: RawWorker): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await Promise.all([page.settled(), backend.settled()]);
}

const ROUNDS = 5;
