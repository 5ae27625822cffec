// The JSON schemas of the functions of modules: shown in lists, and true.

import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';
const YAML = [
  'workers:',
  '  - {name: svc-worker-manager, config: {port: 0}}',
  `  - {name: svc-state, config: {${IN_MEMORY}}}`,
  `  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, ${IN_MEMORY}}}`,
  '  - {name: svc-pubsub}',
  '  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}',
  '',
].join('\n');

const DESCRIBED = ['state::', 'stream::', 'publish', 'enqueue'];

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Row {
  readonly function_id: string;
  readonly request_format?: Schema;
  readonly response_format?: Schema;
}

/** A value with the members that the schema requires, or with all but conditions. */
function example({ properties = {}, required = [], $defs = {} }: Schema, withAll: boolean): Record<string, unknown> {
  // Conditions on a version exclude each other, and hold for no entry here.
  const names = withAll ? Object.keys(properties).filter((name) => !name.startsWith('if_')) : required;
  return Object.fromEntries(names.map((name) => [name, exampleOf(name, properties[name] ?? {}, $defs)]));
}

/** One of the several forms of an operation. */
const UPDATE = { type: 'set', path: 'n', value: 1 };

function exampleItem({ $ref, ...item }: Schema, defs: Readonly<Record<string, Schema>>): unknown {
  const { properties, ...rest } = $ref === undefined ? item : (defs[$ref.replace('#/$defs/', '')] ?? {});
  return properties === undefined ? UPDATE : example({ ...rest, properties, $defs: defs }, false);
}

function exampleOf(name: string, schema: Schema, defs: Readonly<Record<string, Schema>>): unknown {
  const { type, oneOf: [first] = [], const: value, $ref } = schema;
  if ($ref !== undefined) return exampleOf(name, defs[$ref.replace('#/$defs/', '')] ?? {}, defs);
  if (first !== undefined) return exampleOf(name, first, defs);
  if (value !== undefined) return value;
  if (type === 'array') return [name === 'ops' ? UPDATE : exampleItem(schema.items ?? {}, defs)];
  if (type === 'boolean') return false;
  // The limit of a page is at least one.
  if (type === 'integer' || type === 'number') return 1;
  return type === 'string' ? `a-${name}` : { n: 1 };
}

test('[modules 2.2] [modules 4.2] what the schemas of state, streams and topics allow is accepted', async () => {
  await using engine = await startTestEngine({ yaml: YAML });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::functions::list', { include_internal: true });
  const rows = (result as { functions: Row[] }).functions.filter(({ function_id: id }) =>
    DESCRIBED.some((start) => id.startsWith(start)),
  );
  expect(rows).toHaveLength(16);
  for (const { function_id: id, request_format: format, response_format: answers } of rows) {
    expect(format, id).toHaveProperty('type', 'object');
    for (const withAll of [false, true]) {
      const { error, result: answer } = await worker.call(id, example(format ?? {}, withAll));
      expect(error ?? undefined, `${id} ${withAll}`).toBeUndefined();
      if (answers?.required)
        expect(Object.keys(Object(answer)), id).toEqual(expect.arrayContaining([...answers.required]));
    }
  }
});

test('[SDK-1] every function of the engine has a schema of what it takes', async () => {
  await using engine = await startTestEngine({ yaml: YAML });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::functions::list', { include_internal: true });
  const rows = (result as { functions: Row[] }).functions;
  expect(rows.length).toBeGreaterThan(80);
  for (const { function_id: id, request_format: format } of rows) expect(format, id).toHaveProperty('type', 'object');
});

/** Whose effects would reach beyond the call. */
const NOT_CALLED = /^(worker::|engine::(config::reload|stores::backup|workers::revoke|workers::register)|svc::queue::)/;

test('[SDK-1] what the schemas of the functions of the engine describe is accepted', async () => {
  await using engine = await startTestEngine({ yaml: YAML });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::functions::list', { include_internal: true });
  const rows = (result as { functions: Row[] }).functions.filter(({ function_id: id }) => id.startsWith('engine::'));
  const called = rows.filter((row) => !NOT_CALLED.test(row.function_id));
  const answered = [];
  for (const { function_id: id, request_format: format, response_format: answers } of called) {
    const { error, result: answer } = await worker.call(id, example(format ?? {}, false));
    expect(MALFORMED, `${id} takes what its schema requires`).not.toContain(Object(error).code);
    if (error !== undefined && error !== null) continue;
    answered.push(id);
    expect(offencesOf(answers, answer), `${id} answers what its schema describes`).toEqual([]);
  }
  // The others need a queue, a job, a trigger or a rule of that name.
  expect(answered.length).toBeGreaterThan(40);
});

/** The payload of a job is any value. */
const ANSWERS_ANYTHING = ['engine::queue::job_payload'];

function offencesOf(schema: Schema | undefined, value: unknown): unknown {
  if (schema === undefined) return 'no schema';
  const check = new Ajv({ strict: false, allErrors: true }).compile(schema);
  return check(value) ? [] : check.errors;
}

test('[SDK-1] every function of the engine has a schema of what it answers', async () => {
  await using engine = await startTestEngine({ yaml: YAML });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::functions::list', { include_internal: true });
  const rows = (result as { functions: Row[] }).functions.filter(
    ({ function_id: id }) => !/^(state|stream)::/.test(id) && !ANSWERS_ANYTHING.includes(id),
  );
  for (const { function_id: id, response_format: format } of rows) expect(format, id).toBeDefined();
});

test('[SDK-1] what lists and descriptions answer is what their schemas describe', async () => {
  await using engine = await startTestEngine({ yaml: YAML });
  await using worker = await RawWorker.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'a::b', metadata: { team: 'x' } });
  await worker.settled();
  const { result } = await worker.call('engine::functions::list', { include_internal: true });
  const schemas = new Map((result as { functions: Row[] }).functions.map((row) => [row.function_id, row]));
  const bound = await worker.call('engine::register_trigger', { type: 'state', function_id: 'a::b', config: {} });
  const trigger = Object(bound.result);
  const { result: own } = await worker.call('engine::workers::list', {});
  const workerId = (own as { workers: { id: string; runtime: string }[] }).workers.find(
    ({ runtime }) => runtime !== 'engine',
  )?.id;
  const calls: [string, object][] = [
    ['engine::functions::info', { function_id: 'a::b' }],
    ['engine::functions::info', { function_ids: ['a::b', 'a::c'] }],
    ['engine::functions::list', { include_internal: true }],
    ['engine::workers::list', {}],
    ['engine::workers::info', { worker_id: workerId }],
    ['engine::registered-triggers::list', {}],
    ['engine::registered-triggers::info', { id: trigger.id }],
    ['engine::triggers::info', { id: 'state' }],
    ['engine::triggers::fire', { id: trigger.id }],
    ['engine::unregister_trigger', { id: trigger.id }],
  ];
  for (const [id, payload] of calls) {
    const { error, result: answer } = await worker.call(id, payload);
    expect(error ?? undefined, id).toBeUndefined();
    expect(offencesOf(schemas.get(id)?.response_format, answer), id).toEqual([]);
  }
});

/** Codes that say that a payload is not of the form that the function takes. */
const MALFORMED = ['BAD_REQUEST', 'deserialization_error'];
