import { describe, expect, test } from 'vitest';
import type { Executor } from '../../../../src/core/calls/select-worker.ts';
import { distinctBindings, type TriggerBinding } from '../../../../src/core/registry/trigger-table.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { newExecutor } from '../../../support/engine/numbered-executor.ts';

const [FIRST, SECOND] = [newExecutor(1), newExecutor(2)];

describe('replicas of one worker', () => {
  test('[PD-26] Equal bindings of two connections fire once', () => {
    expect(fired([bound('a', FIRST), bound('b', SECOND)])).toEqual(['a']);
  });

  test('[PD-26] The second fires after the first has left', () => {
    expect(fired([bound('b', SECOND)])).toEqual(['b']);
  });

  test('[PD-26] An equal durable trigger and trigger of a worker fire once', () => {
    expect(fired([bound('a', undefined), bound('b', FIRST)])).toEqual(['a']);
  });

  test.each([
    ['function', { functionId: 'other' }],
    ['config', { config: rawJson({ x: 2 }) }],
    ['metadata', { metadata: rawJson({ tenant: 'b' }) }],
  ])('[PD-26] Bindings that differ in their %s both fire', (_field, difference) => {
    expect(fired([bound('a', FIRST), bound('b', SECOND, difference)])).toEqual(['a', 'b']);
  });
});

describe('one worker that binds twice', () => {
  test('[PD-26] It gets every event twice', () => {
    expect(fired([bound('a', FIRST), bound('b', FIRST)])).toEqual(['a', 'b']);
  });

  test('[PD-26] Two replicas of it get every event twice together, not four times', () => {
    const bindings = [bound('a', FIRST), bound('b', FIRST), bound('c', SECOND), bound('d', SECOND)];
    expect(fired(bindings)).toEqual(['a', 'b']);
  });
});

describe('inactive bindings', () => {
  test('[wire 4.1] A binding that waits for its provider or was refused does not fire', () => {
    const [parked, refused] = [bound('a', FIRST), bound('b', FIRST)];
    parked.state = 'parked';
    refused.state = 'refused';
    expect(fired([parked, refused, bound('c', SECOND)])).toEqual(['c']);
  });
});

test('Large configs are compared by their digests', () => {
  const large = 'x'.repeat(60_000);
  const bindings = ['a', 'b', 'b'].map((end, index) =>
    bound(String(index), newExecutor(index), { metadata: rawJson(large + end) }),
  );
  expect(fired(bindings)).toEqual(['0', '1']);
  expect(bindings.map(({ face }) => face?.length)).toEqual([44, 44, 44]);
});

function fired(bindings: TriggerBinding<Executor>[]): string[] {
  return distinctBindings(bindings).map(({ id }) => id);
}

function bound(
  id: string,
  owner: Executor | undefined,
  fields: Partial<TriggerBinding<Executor>> = {},
): TriggerBinding<Executor> {
  return {
    id,
    type: 'hook',
    functionId: 'f',
    config: rawJson({ x: 1 }),
    settings: fields.config ?? rawJson({ x: 1 }),
    metadata: undefined,
    owner,
    conditionFunctionId: undefined,
    isDisplaced: false,
    state: 'bound',
    error: undefined,
    lastFiredAtMs: undefined,
    face: undefined,
    order: undefined,
    ...fields,
  };
}
