// State in another engine: each function is the one of the same name there.

import { parseRawJson, type RawJson } from '../../protocol/json/byte-string.ts';
import { rawMember } from '../../protocol/json/json-member.ts';
import type { StoreEvent } from '../thread/contract.ts';
import { BridgeStore, bytesOf, type Done } from './store.ts';

export class BridgedState extends BridgeStore {
  watch(): () => void {
    throw new Error('State has no groups to watch');
  }

  protected carryOut(command: string, input: RawJson, _isBare: boolean, done: Done): void {
    this.call(command, input, ({ result, error }) => {
      if (error !== undefined) done({ error });
      else done(result === undefined ? {} : { result: bytesOf(result) });
    });
  }

  protected listen(): void {
    this.link.bind(this.listener, 'state', this.listener, {});
  }

  protected eventsIn(payload: RawJson): readonly StoreEvent[] {
    const [scope, key, kind] = ['scope', 'key', 'event_type'].map((name) => textIn(payload, name));
    if (scope === undefined || key === undefined || kind === undefined) return [];
    return [{ path: [scope, key], kind, seq: 0, body: bytesOf(payload) }];
  }
}

export function textIn(object: RawJson, name: string): string | undefined {
  const raw = rawMember(object, name);
  const value: unknown = raw === undefined ? undefined : parseRawJson(raw);
  return typeof value === 'string' ? value : undefined;
}
