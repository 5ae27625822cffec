// Payloads in MessagePack on their way through the engine: passed on unread where the other side reads MessagePack, and
// converted once everywhere else.

import { describe, expect, test } from 'vitest';
import { SUBPROTOCOL_COMPACT, SUBPROTOCOL_MSGPACK } from '../../../../src/protocol/frames/subprotocols.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { MessagePackForm } from '../../../../src/protocol/payload/message-pack.ts';
import { MESSAGE_PACK_BYTES_MAX } from '../../../../src/protocol/payload/message-pack-check.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { type Heard, Peer } from './binary-peer.ts';

const ORDER = { id: 'o-1', items: [{ sku: 'größe', price: 9.5 }], note: null };
const form = new MessagePackForm();

function packed(value: unknown): Payload {
  const bytes = Buffer.isBuffer(value) ? value : form.write(value);
  if (bytes === undefined) throw new Error('not for MessagePack');
  return Payload.ofPacked(bytes, 0, bytes.length, form);
}

function setUp() {
  const engine = new EngineInMemory({
    builtins: [{ id: 'engine::echo', description: '', handle: (payload: unknown) => ({ got: payload }) }],
  });
  const [caller, worker] = [new Peer(engine, SUBPROTOCOL_MSGPACK), new Peer(engine, SUBPROTOCOL_MSGPACK)];
  const compact = new Peer(engine, SUBPROTOCOL_COMPACT);
  worker.register('portable');
  compact.register('compact');
  const json = engine.connect();
  json.register('json');
  for (const peer of [caller, worker, compact]) peer.take();
  const calledOf = (peer: Peer): Heard => peer.take().at(-1) ?? { kind: 'refused' };
  return { engine, caller, worker, compact, json, calledOf };
}

describe('a payload in MessagePack', () => {
  test('[wire 2.5] reaches a worker of the same form unread, and the answer its caller', () => {
    const { caller, worker, calledOf } = setUp();
    caller.call('portable', packed(ORDER));
    const call = calledOf(worker);
    expect(call).toMatchObject({ kind: 'call', isPacked: true, value: ORDER });
    worker.answer(call, packed(ORDER));
    expect(caller.take()).toEqual([{ kind: 'result', idLow: 7, idHigh: 0, isPacked: true, value: ORDER }]);
    // Binary data, which JSON does not have.
    caller.call('portable', packed(Buffer.from('c40101', 'hex')));
    expect(calledOf(worker)).toMatchObject({ kind: 'call', isPacked: true });
  });

  test('[wire 2.5] becomes JSON for a worker of the JSON form, of the compact form, and for the engine', () => {
    const { caller, compact, json, calledOf } = setUp();
    caller.call('json', packed(ORDER));
    expect(json.nextCall()).toMatchObject({ function_id: 'json', data: ORDER });
    caller.call('compact', packed(ORDER));
    expect(calledOf(compact)).toMatchObject({ kind: 'call', isPacked: false, value: ORDER });
    caller.call('engine::echo', packed(ORDER));
    expect(caller.take()).toMatchObject([{ kind: 'result', isPacked: false, value: { got: ORDER } }]);
  });

  test('[wire 2.5] is what a compact payload becomes, once', () => {
    const { worker, compact, calledOf, caller } = setUp();
    compact.call('portable', compact.compact(ORDER));
    const call = calledOf(worker);
    expect(call).toMatchObject({ kind: 'call', isPacked: true, value: ORDER });
    caller.call('compact', packed(1));
    compact.answer(calledOf(compact), compact.compact(ORDER));
    expect(caller.take()).toMatchObject([{ kind: 'result', isPacked: true, value: ORDER }]);
  });

  test('[wire 2.5] does not replace JSON text, nor half of a surrogate pair', () => {
    const { engine, worker, compact, json, calledOf } = setUp();
    compact.call('portable', Payload.ofText(rawJson(ORDER)));
    expect(calledOf(worker)).toMatchObject({ kind: 'call', isPacked: false, value: ORDER });
    compact.call('portable', compact.compact({ half: '\ud800' }));
    expect(calledOf(worker)).toMatchObject({ kind: 'call', isPacked: false, value: { half: '\ud800' } });
    json.invoke('portable', ORDER);
    engine.flush();
    expect(calledOf(worker)).toMatchObject({ kind: 'call', isPacked: false, value: ORDER });
  });

  test('[I1] that cannot be read where it has to be ends only its call', () => {
    const { caller, worker, engine, calledOf } = setUp();
    for (const functionId of ['json', 'compact', 'engine::echo']) {
      for (const hex of ['c40101', 'c1', '', 'd4720191a161']) {
        caller.call(functionId, packed(Buffer.from(hex, 'hex')));
        expect(caller.take()).toMatchObject([{ kind: 'error', idLow: 7, value: { code: 'BAD_REQUEST' } }]);
      }
    }
    caller.call('portable', packed(Buffer.alloc(MESSAGE_PACK_BYTES_MAX + 1)));
    expect(caller.take()).toMatchObject([{ kind: 'error', value: { code: 'BAD_REQUEST' } }]);
    caller.call('portable', packed(ORDER));
    expect(calledOf(worker)).toMatchObject({ kind: 'call', value: ORDER });
    expect(engine.context.calls.openCount).toBe(1);
  });
});
