// Fills an engine for the benchmark of the console: a scope of many keys, large values, and traces.

import type { ConsoleScene } from '../../test/browser/support/console-scene.ts';

const KEYS = 100_000;
const IN_FLIGHT = 64;
const MIB = 1_024 * 1_024;

export interface Filled {
  readonly scope: string;
  readonly keys: number;
}

export async function fillEngine(scene: ConsoleScene, scale: number): Promise<Filled> {
  const scope = 'bench';
  const keys = Math.round(KEYS * scale);
  let next = 0;
  const fill = async (): Promise<void> => {
    for (let at = next++; at < keys; at = next++) {
      await set(scene, scope, `key-${String(at).padStart(6, '0')}`, { at, text: `value ${at}` });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, fill));
  await set(scene, 'values', 'one-mib', listOf(MIB));
  await set(scene, 'values', 'four-mib', listOf(4 * MIB));
  return { scope, keys };
}

/** JSON of about this many bytes, with many members. */
function listOf(bytes: number): unknown {
  const member = { id: 123_456, name: 'a member of a long list', tags: ['a', 'b', 'c'] };
  const each = JSON.stringify(member).length + 1;
  // A little less, because the engine limits the size of a value.
  return Array.from({ length: Math.floor((bytes * 0.98) / each) }, (_none, id) => ({ ...member, id: 100_000 + id }));
}

/** Asks the engine directly, because the console's server is being measured. */
export function invokeAddress({ ports }: ConsoleScene): string {
  return `http://127.0.0.1:${ports.http}/_console/v1/invoke`;
}

async function set(scene: ConsoleScene, scope: string, key: string, value: unknown): Promise<void> {
  const body = JSON.stringify({ function_id: 'state::set', payload: { scope, key, value } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(invokeAddress(scene), { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`state::set ${key}: ${answer.status} ${await answer.text()}`);
}
