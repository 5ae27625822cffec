import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configurationSchema } from '../../../src/config/json-schema.ts';
import { declareModules } from '../../../src/engine/start-checks.ts';
import { compileJsonSchema } from '../../../src/protocol/json-schema/compile.ts';

const check = compileJsonSchema(configurationSchema(declareModules().declarations));
const problemsOf = (yaml: string) => check(parse(yaml));

test('the schema accepts the configuration of this repository', () => {
  expect(problemsOf(readFileSync(new URL('../../../svc-config.yaml', import.meta.url), 'utf8'))).toEqual([]);
});

test.each([
  ['an adapter with its settings', 'workers: [{name: svc-state, config: {adapter: {name: kv, config: {}}}}]'],
  ['a module by its class', 'modules: [{class: "modules::stream::StreamModule"}]'],
  ['a worker of the project', 'workers: [{name: orders, path: ./orders, env: {A: b}}]'],
  ['a variable in place of a number', `drain_timeout_ms: '$${'{DRAIN:100}'}'`],
  ['a key without a value', 'limits:\nworkers: [{name: svc-http, config: }]'],
])('it accepts %s', (_what, yaml) => {
  expect(problemsOf(yaml)).toEqual([]);
});

test.each([
  ['an unknown key', 'worker: []'],
  ['an empty group whose presence has a meaning', 'workers: [{name: svc-worker-manager, config: {rbac: }}]'],
  ['a number out of range', 'drain_timeout_ms: -1'],
  ['an unknown module', 'workers: [{name: svc-nothing}]'],
  ['a misspelt setting of a module', 'workers: [{name: svc-http, config: {prot: 3111}}]'],
  ['an unknown adapter', 'workers: [{name: svc-state, config: {adapter: {name: paper}}}]'],
])('it refuses %s', (_what, yaml) => {
  expect(problemsOf(yaml)).not.toEqual([]);
});
