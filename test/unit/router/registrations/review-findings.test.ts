// One test for each defect that a review of the engine found, with the sequence that showed it.

import { describe, expect, test } from 'vitest';
import { BatchReader, FRAME_MESSAGES_MAX, MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { asByteString } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('payloads of the binary form that become text', () => {
  test('[X20] Bytes that are not UTF-8 never reach a text frame', () => {
    expect(payloadOf(Buffer.from([0x22, 0xff, 0x22])).asText()).toBeUndefined();
  });

  test('[PD-8] White space around a value is not part of it', () => {
    expect(payloadOf(Buffer.from(' \n{"a":1}\t ')).asText()).toBe('{"a":1}');
  });

  test.each(['', '1 2', '{', '{"a":1}x'])('[I1] %j is not one value', (text) => {
    expect(payloadOf(Buffer.from(text)).asText()).toBeUndefined();
  });
});

describe('frames of the binary form', () => {
  test('[I7] One frame holds the router no longer than its bound of messages', () => {
    const frame = new MessageBuffer();
    for (let count = 0; count < FRAME_MESSAGES_MAX + 10; count++) frame.control(asByteString('{}'));
    let controls = 0;
    const reasons: string[] = [];
    const note = (reason: string): void => void reasons.push(reason);
    new BatchReader().read(frame.view(), {
      shape: () => {},
      control: () => {
        controls++;
      },
      name: () => {},
      call: () => {},
      result: () => {},
      refuse: note,
      refuseCall: () => {},
      refuseResult: () => {},
    });
    expect(controls).toBe(FRAME_MESSAGES_MAX);
    expect(reasons).toEqual([`more than ${FRAME_MESSAGES_MAX} messages in one frame`]);
  });

  test('[I7] A burst leaves no memory with a connection that has fallen silent', () => {
    const messages = new MessageBuffer();
    messages.control(asByteString('x'.repeat(200_000)));
    messages.clear();
    messages.trim();
    expect(messages.view().buffer.byteLength).toBeGreaterThan(100_000);
    messages.trim();
    expect(messages.view().buffer.byteLength).toBeLessThan(20_000);
  });
});

describe('what a registration may keep', () => {
  test('[guarantees 4] A description of 100 000 bytes is refused with its size and the limit', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f', { description: 'x'.repeat(100_000) });
    expect(worker.receivedOne('registrationrejected').message).toBe(
      'Description, schemas, metadata and invocation take 100000 bytes, over the limit of 65536',
    );
  });

  test('[guarantees 4] A trigger config of 100 000 bytes is refused', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'custom', 'f', { config: { text: 'x'.repeat(100_000) } });
    expect(worker.receivedOne('triggerregistrationresult')).toMatchObject({
      error: { code: 'trigger_registration_failed' },
    });
  });

  test('[PD-57] A trigger in another namespace is refused and not bound to the default one', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'custom', 'f', { namespace: 'billing' });
    const { error } = worker.receivedOne('triggerregistrationresult');
    expect(error).toMatchObject({ message: expect.stringContaining("no namespace 'billing'") });
  });

  test('[guarantees 4] An invocation id longer than an id may be is refused under that id', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = 'x'.repeat(300);
    caller.send({ type: 'invokefunction', invocation_id: id, function_id: 'f', data: {} });
    expect(caller.errorCodeOf(id)).toBe('BAD_REQUEST');
  });
});

describe('the end', () => {
  test('[G2] After the drain nothing is handed out any more, not even calls of running handlers', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    engine.context.isDraining = true;
    engine.context.isStopped = true;
    const id = caller.invoke('f', {}, { baggage: 'svc.depth=1' });
    expect(caller.errorCodeOf(id)).toBe('SHUTTING_DOWN');
    expect(worker.received()).toEqual([]);
  });

  test('[I1] A fire-and-forget call of a built-in function is counted when it fails', () => {
    const engine = new EngineInMemory();
    engine.connect().invokeVoid('engine::workers::register', { pid: 'many' });
    expect(engine.count('invocations.void_failed')).toBe(1);
  });

  test('[K2] Health asks to send nothing here while the engine drains', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    engine.context.isDraining = true;
    expect(caller.ask('engine::health::check')).toMatchObject({ status: 'unhealthy' });
  });
});

function payloadOf(bytes: Buffer): Payload {
  return Payload.ofBytes(bytes, 0, bytes.length);
}
