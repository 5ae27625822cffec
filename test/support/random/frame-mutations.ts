// Frames of workers, valid and then damaged in one of many ways, all chosen by a seed.

import type { SeededRandom } from './seeded-random.ts';

/** One frame of every kind, and a call of every engine function that reads its payload. */
const CORPUS: readonly string[] = [
  {
    type: 'registerfunction',
    id: 'fuzz::one',
    description: 'd',
    request_format: { type: 'object' },
    metadata: { a: 1 },
  },
  { type: 'registerfunction', id: 'fuzz::two', response_format: null, invocation: { url: 'http://127.0.0.1:1/' } },
  { type: 'unregisterfunction', id: 'fuzz::one' },
  { type: 'registerservice', id: 'svc', name: 'n', description: 'd', parent_service_id: 'p' },
  {
    type: 'registertriggertype',
    id: 'fuzz-type',
    description: 'd',
    trigger_request_format: {},
    call_request_format: {},
  },
  { type: 'unregistertriggertype', id: 'fuzz-type' },
  { type: 'registertrigger', id: 'tr-1', trigger_type: 'fuzz-type', function_id: 'fuzz::one', config: { a: [1, 2] } },
  { type: 'registertrigger', id: 'tr-2', trigger_type: 'engine::functions-available', function_id: 'fuzz::one' },
  { type: 'draining' },
  { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'fuzz-type' },
  { type: 'triggerregistrationresult', id: 'tr-1', trigger_type: 'fuzz-type', function_id: 'fuzz::one', error: null },
  { type: 'invokefunction', invocation_id: 'c-1', function_id: 'fuzz::one', data: { x: [1, { y: 'é\u{1f600}' }] } },
  { type: 'invokefunction', function_id: 'fuzz::one', data: null, action: { type: 'void' }, metadata: [1] },
  { type: 'invokefunction', invocation_id: 'c', function_id: 'f', action: { type: 'enqueue', queue: 'q' }, data: 1 },
  {
    type: 'invokefunction',
    invocation_id: 'c',
    function_id: 'fuzz::one',
    baggage: 'svc.depth=3,a=b',
    timeout_ms: 5000,
  },
  { type: 'invocationresult', invocation_id: '00000000-0000-4000-8000-000000000000', result: { a: 1 } },
  {
    type: 'invocationresult',
    invocation_id: 'x',
    function_id: 'f',
    error: { code: 'c', message: 'm', stacktrace: 's' },
  },
  { type: 'reattach', previous_worker_id: '00000000-0000-4000-8000-000000000000', reattach_token: 'guess' },
  { type: 'ping' },
  { type: 'pong' },
  ...(
    [
      ['engine::workers::register', { name: 'n', description: 'd', runtime: 'node', version: '1', os: 'o', pid: 1 }],
      ['engine::functions::list', { search: 'a', prefix: 'f', worker: 'w', workers: ['w'], include_internal: true }],
      ['engine::functions::info', { function_ids: ['fuzz::one', 'engine::health::check'] }],
      ['engine::workers::list', { search: 'a', runtime: 'node', status: 'available' }],
      ['engine::workers::info', { name: 'n' }],
      ['engine::triggers::list', { search: 'a', prefix: 'e', include_internal: true }],
      ['engine::triggers::info', { id: 'engine::functions-available' }],
      ['engine::registered-triggers::list', { trigger_type: 'fuzz-type', function_id: 'fuzz::one' }],
      ['engine::registered-triggers::info', { id: 'tr-1' }],
      ['engine::register_trigger', { trigger_type: 'no-such-type', function_id: 'fuzz::one', config: { a: 1 } }],
      ['engine::unregister_trigger', { id: 'tr-1' }],
      ['engine::health::check', {}],
    ] as const
  ).map(([function_id, data]) => ({ type: 'invokefunction', invocation_id: 'b', function_id, data })),
].map((frame) => JSON.stringify(frame));

/** Values of another type than the expected one. */
const STRANGE_VALUES: readonly string[] = [
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '" "',
  '-0',
  '1e999',
  '-1e-999',
  '9'.repeat(400),
  '0.1e+1000000',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  `"${'x'.repeat(300)}"`,
  `"${'ü'.repeat(5_000)}"`,
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '[[[[[[[[[[]]]]]]]]]]',
  '{"toString":1,"hasOwnProperty":2,"length":-1}',
  'NaN',
  'undefined',
  "'single'",
  '01',
  '1.',
  '.5',
  '+1',
];

const MUTATIONS: readonly ((text: string, random: SeededRandom) => Buffer)[] = [
  // Undamaged: damaged frames must not affect valid ones among them.
  (text) => Buffer.from(text),
  (text, random) => Buffer.from(text).subarray(0, random.below(text.length)),
  (text, random) => Buffer.from(text).subarray(random.below(text.length)),
  replaceValue,
  replaceValue,
  replaceValue,
  flipBytes,
  insertBytes,
  (text, random) => Buffer.from(text + random.pick(['}', '{}', text, '\0', '\n', ',', 'x', '\ufeff'])),
  (text, random) => Buffer.from(random.pick(['\ufeff', '\0', ' \n\t', '//', '[']) + text),
  (text, random) => repeatMember(text, random),
  (text, random) => nest(text, random),
  (_text, random) => Buffer.from(random.pick(STRANGE_VALUES)),
  (_text, random) => Buffer.from(random.pick(['', ' ', '\n', '{', '}', '{"', '{"type"', '{"type":', '{"type":"'])),
  (text, random) => Buffer.from(random.pick(['OTLP', 'MTRC', 'LOGS', 'OTL', 'XXXX']) + text),
  (_text, random) => Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256))),
];

export function mutatedFrame(random: SeededRandom): Buffer {
  return mutated(random, CORPUS);
}

/** One of the given texts, damaged or not. Each ends with a JSON object of at least one member. */
export function mutated(random: SeededRandom, corpus: readonly string[]): Buffer {
  return random.pick(MUTATIONS)(random.pick(corpus), random);
}

/** Replaces the value of a member. */
function replaceValue(text: string, random: SeededRandom): Buffer {
  const colons = [...text.matchAll(/":/g)].map((match) => match.index + 2);
  const start = random.pick(colons);
  const end = text.slice(start).search(/[,}]/) + start;
  return Buffer.from(text.slice(0, start) + random.pick(STRANGE_VALUES) + text.slice(end));
}

function flipBytes(text: string, random: SeededRandom): Buffer {
  const bytes = Buffer.from(text);
  for (let flips = random.between(1, 4); flips > 0; flips--) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

function insertBytes(text: string, random: SeededRandom): Buffer {
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length);
  const inserted = Buffer.from(Array.from({ length: random.between(1, 8) }, () => random.below(256)));
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]);
}

/** Repeats a key with another value. */
function repeatMember(text: string, random: SeededRandom): Buffer {
  const keys = [...text.matchAll(/"\w+"(?=:)/g)].map(([key]) => key);
  return Buffer.from(`${text.slice(0, -1)},${random.pick(keys)}:${random.pick(STRANGE_VALUES)}}`);
}

/** Depths on both sides of the limit of 128, and far beyond what a recursive parser survives. */
function nest(text: string, random: SeededRandom): Buffer {
  const depth = random.pick([120, 126, 127, 128, 129, 1_000, 10_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  const closing = random.chance(70) ? close.repeat(depth) : '';
  return Buffer.from(`${text.slice(0, -1)},"data":${open.repeat(depth)}1${closing}}`);
}
