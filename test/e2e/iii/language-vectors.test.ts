// Frames that the clients of `iii` for Python, Go and Rust sent, replayed in their order. `test/vectors` has them, with
// the outcome of each.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';

const LANGUAGES = ['python', 'go', 'rust'] as const;
type Language = (typeof LANGUAGES)[number];

interface Line {
  readonly path: string;
  readonly handshake?: Record<string, string>;
  readonly frame?: string;
}

const folder = new URL('../../vectors/', import.meta.url);
const OUTCOMES: Record<Language, [shape: string, outcome: string][]> = JSON.parse(
  readFileSync(new URL('outcomes.json', folder), 'utf8'),
);

const linesOf = (language: Language): Line[] =>
  readFileSync(new URL(`${language}.jsonl`, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const framesOf = (language: Language, path: string): Frame[] =>
  linesOf(language).flatMap((line) => (line.frame !== undefined && line.path === path ? [JSON.parse(line.frame)] : []));

/** The keys of every object, also of those inside, in another order. */
function reordered(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, order));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(order(Object.keys(value)).map((key) => [key, reordered(Reflect.get(value, key), order)]));
}

const ORDERS: Readonly<Record<string, (keys: string[]) => string[]>> = {
  'as recorded': (keys) => keys,
  sorted: (keys) => [...keys].sort(),
  reversed: (keys) => [...keys].reverse(),
  'with the type first': (keys) => [...keys].sort((a, b) => Number(b === 'type') - Number(a === 'type')),
  'with the type last': (keys) => [...keys].sort((a, b) => Number(a === 'type') - Number(b === 'type')),
};

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';

function startEngine(top = ''): Promise<TestEngine> {
  return startTestEngine({
    // Whether a result came too late shows in a count, which other routers report late.
    threads: 1,
    yaml: [
      'compat: iii',
      top,
      'workers:',
      '  - {name: svc-worker-manager, config: {port: 0}}',
      '  - {name: svc-http, config: {port: 0}}',
      `  - {name: svc-state, config: {${IN_MEMORY}}}`,
      `  - {name: svc-stream, config: {port: 0, ${IN_MEMORY}}}`,
      '  - {name: svc-pubsub}',
      '',
    ].join('\n'),
  });
}

const shapeOf = (frame: Frame): string => {
  const { type, trigger_type: triggerType, id, function_id: functionId } = frame;
  const subject = type === 'registertrigger' ? `${triggerType} → ${functionId}` : (functionId ?? id);
  return `${type} ${subject}${frame.action == null ? '' : ', void'}`;
};

async function outcomeOf(engine: TestEngine, worker: RawWorker, frame: Frame): Promise<string> {
  const lateBefore = engine.counters.get('invocations.late_results');
  worker.send(frame);
  await worker.settled();
  switch (frame.type) {
    case 'invokefunction': {
      if (frame.invocation_id == null) return 'no answer';
      const { error } = await worker.next('invocationresult', (other) => other.invocation_id === frame.invocation_id);
      return error == null ? 'result' : (error as { code: string }).code;
    }
    case 'invocationresult':
      return engine.counters.get('invocations.late_results') > lateBefore ? 'late' : 'accepted';
    case 'registerfunction': {
      const { result } = await worker.call('engine::functions::info', { function_id: frame.id });
      if (result != null) return 'registered';
      const { message } = await worker.next('registrationrejected');
      return String(message);
    }
    case 'registertrigger': {
      const { result } = await worker.call('engine::registered-triggers::info', { id: frame.id });
      return (result as { status: string }).status;
    }
    case 'unregisterfunction':
    case 'unregistertrigger': {
      const what = frame.type === 'unregisterfunction' ? 'functions' : 'registered-triggers';
      const { error } = await worker.call(`engine::${what}::info`, { id: frame.id, function_id: frame.id });
      return error == null ? 'still there' : 'gone';
    }
    case 'registertriggertype': {
      const { result } = await worker.call('engine::triggers::info', { id: frame.id });
      return result == null ? 'missing' : 'registered';
    }
    default:
      return 'ignored';
  }
}

describe.each(LANGUAGES)('the client for %s', (language) => {
  const handshake = linesOf(language).find((line) => line.handshake !== undefined && line.path === '/')?.handshake;

  test.each(Object.entries(ORDERS))(
    '[wire 10] every frame has the outcome that is listed, keys %s',
    async (_, order) => {
      await using engine = await startEngine();
      await using worker = await RawWorker.connect(engine.url, { headers: handshake ?? {} });
      const outcomes: [string, string][] = [];
      for (const frame of framesOf(language, '/')) {
        outcomes.push([shapeOf(frame), await outcomeOf(engine, worker, reordered(frame, order) as Frame)]);
      }
      expect(outcomes).toEqual(OUTCOMES[language]);
      expect(engine.counters.get('frames.refused')).toBe(0);
      const { result } = await worker.call('engine::workers::list', { worker_id: worker.workerId });
      expect(result).toMatchObject({ workers: [{ status: 'connected', version: '0.22.1' }] });
    },
  );

  test('[wire 10] frames on a channel pass through as they are', async () => {
    await using engine = await startEngine();
    await using worker = await RawWorker.connect(engine.url, { headers: handshake ?? {} });
    const { result } = await worker.call('engine::channels::create', { buffer_size: null });
    const { reader, writer } = result as Record<'reader' | 'writer', { channel_id: string; access_key: string }>;
    const at = ({ channel_id: id, access_key: key }: typeof reader, dir: string): string =>
      `${engine.url}/ws/channels/${id}?key=${key}&dir=${dir}`;
    const reading = new WebSocket(at(reader, 'read'));
    const received: unknown[] = [];
    const ended = new Promise<void>((resolve) => {
      reading.on('message', (data) => received.push(JSON.parse(String(data))));
      reading.on('close', () => resolve());
    });
    const sent = framesOf(language, '/ws/channels/ID');
    const writing = new WebSocket(at(writer, 'write'));
    await new Promise((resolve) => writing.once('open', resolve));
    for (const frame of sent) writing.send(JSON.stringify(frame));
    writing.close(1000);
    await ended;
    expect(received).toEqual(sent);
  });

  test('the page of the specification lists the fields that it sends', () => {
    const page = readFileSync(new URL('../../docs/spec/clients.md', folder), 'utf8');
    const sections = page.split('\n### `').slice(1);
    for (const type of new Set(framesOf(language, '/').map((frame) => frame.type))) {
      const frames = framesOf(language, '/').filter((frame) => frame.type === type);
      const section = sections.find((text) => text.startsWith(`${type}\``)) ?? '';
      const listed = section
        .split('\n')
        .map((row) => /^\| `(\w+)` \| (\S+) \| (\S+) \| (\S+) \|/.exec(row))
        .filter((row) => row !== null)
        .map((row) => [row[1], row[2 + LANGUAGES.indexOf(language)]] as const);
      expect(Object.fromEntries(listed), type).toEqual({
        ...Object.fromEntries(listed.map(([field]) => [field, 'no'])),
        ...Object.fromEntries(fieldsOf(frames).map((field) => [field, frequencyOf(frames, field)])),
      });
    }
  });
});

const fieldsOf = (frames: readonly Frame[]): string[] =>
  [...new Set(frames.flatMap((frame) => Object.keys(frame)))].filter((field) => field !== 'type');

function frequencyOf(frames: readonly Frame[], field: string): string {
  const values = frames.filter((frame) => Object.hasOwn(frame, field)).map((frame) => frame[field]);
  if (values.every((value) => value === null)) return '`null`';
  return values.length === frames.length ? 'always' : 'sometimes';
}

test('[X18] functions at a private address are registered once outgoing.allow lists it', async () => {
  await using engine = await startEngine('outgoing: {allow: ["127.0.0.1"]}');
  await using worker = await RawWorker.connect(engine.url);
  const urls = LANGUAGES.flatMap((language) => framesOf(language, '/')).filter(({ invocation }) => invocation != null);
  expect(urls).toHaveLength(2);
  for (const frame of urls) expect(await outcomeOf(engine, worker, frame)).toBe('registered');
});
