// The description of the routes is true: generated requests to the `http-api` project are answered as its own OpenAPI
// document says. `SVC_OPENAPI_REQUESTS=5000` sends more.

import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileJsonSchema } from '../../../src/protocol/json-schema/compile.ts';
import { describeIssues } from '../../../src/sdk/functions/checked-handler.ts';
import { freePort } from '../../support/free-port.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';
import { waitFor } from '../../support/wait-for.ts';
import { makeFolder, runSvc, spawnSvc } from '../cli/cli-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const REQUESTS = Number(process.env.SVC_OPENAPI_REQUESTS ?? '400');

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly Error: object } };
}

const folder = await makeFolder();
let http = '';
let api: Document;
let stop = async (): Promise<void> => {};

beforeAll(async () => {
  await runSvc(['create', 'shop', '--template', 'http-api', '--no-git'], { cwd: folder.path });
  const cwd = join(folder.path, 'shop');
  await mkdir(join(cwd, 'node_modules'));
  await symlink(join(ROOT, 'src/sdk'), join(cwd, 'node_modules/svc-sdk'));
  const port = await freePort();
  const env = { SVC_PORT: String(await freePort()), SVC_HTTP_PORT: String(port) };
  const child = spawnSvc(['start'], { cwd, env });
  stop = () => new Promise((resolve) => child.once('close', () => resolve()) && child.kill('SIGTERM'));
  child.stderr?.resume();
  http = `http://127.0.0.1:${port}`;
  const isReady = async () => (await fetch(`${http}/orders`).catch(() => undefined))?.status === 200;
  await waitFor('the routes are registered', isReady, 50_000);
  api = JSON.parse(await (await fetch(`${http}/_console/v1/openapi.json`)).text());
});
afterAll(async () => {
  await stop();
  await folder.remove();
});

test('Every answer is one that the document describes', { timeout: 120_000 }, async () => {
  const seen = new Set<string>();
  await forEachSeedInTurn(REQUESTS, async (random) => {
    const [path, operations] = random.pick(Object.entries(api.paths));
    const [method, operation] = random.pick(Object.entries(operations));
    const known = random.chance(50) ? await newOrder(random) : undefined;
    const address = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(known ?? randomText(random)));
    const body = operation.requestBody === undefined ? undefined : randomBody(random);
    const answer = await fetch(http + address, {
      method: method.toUpperCase(),
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    const where = `${method} ${address} ${body ?? ''} → ${answer.status} ${text}`;
    seen.add(`${method} ${path} ${answer.status}`);
    expect(answer.status, where).toBeLessThan(500);
    const described = operation.responses[String(answer.status)];
    // Only what the engine itself says about a request may be in no list: a path that is none of the routes.
    if (described === undefined) return expect(answer.status, where).toBe(404);
    const schema = described.content?.['application/json']?.schema;
    if (schema === undefined || text === '') return;
    const whole = { ...schema, components: api.components };
    expect(describeIssues(compileJsonSchema(whole)(JSON.parse(text))), where).toBe('');
  });
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      'delete /orders/{id} 204',
      'delete /orders/{id} 400',
      'get /orders 200',
      'get /orders/{id} 200',
      'get /orders/{id} 400',
      'post /orders 201',
      'post /orders 400',
    ]),
  );
});

async function newOrder(random: SeededRandom): Promise<string | undefined> {
  const answer = await fetch(`${http}/orders`, {
    method: 'POST',
    body: JSON.stringify({ sku: 'a', quantity: random.between(1, 9) }),
    headers: { 'content-type': 'application/json' },
  });
  const { id } = JSON.parse(await answer.text());
  return typeof id === 'string' ? id : undefined;
}

function randomBody(random: SeededRandom): string {
  const values: unknown[] = [null, true, 0, -1, 1.5, 7, '', 'a1', randomText(random), [], {}, { sku: 1 }];
  const sku = random.chance(70) ? 'a1' : random.pick(values);
  const quantity = random.chance(60) ? random.between(1, 9) : random.pick(values);
  const object = {
    ...(random.chance(90) && { sku }),
    ...(random.chance(70) && { quantity }),
    extra: random.pick(values),
  };
  return JSON.stringify(random.chance(80) ? object : random.pick(values));
}

const PIECES = ['a', 'ä', '\u0000', '\u0007', '\n', '%', '..', '/', '?', '#', '☃', '😀', ' ', '"', '{', '\\', '0-9'];

function randomText(random: SeededRandom): string {
  return Array.from({ length: random.between(1, 8) }, () => random.pick(PIECES)).join('');
}
