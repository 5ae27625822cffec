// Compact payloads in the SDK, during a connection and after it.

import { describe, expect, test } from 'vitest';
import { MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { BinaryReader } from '../../../../src/sdk/wire/binary-reader.ts';
import type { PlatformMemory } from '../../../../src/sdk/worker/platform.ts';
import type { SvcWorker } from '../../../../src/sdk/worker/svc-worker.ts';
import type { FakePlatform } from '../../../support/fakes/fake-platform.ts';
import { startSdkWorker } from '../../../support/fakes/sdk-worker.ts';
import { CompactPair } from '../../../support/random/compact-pair.ts';
import { RecordingReceiver } from '../connection/recording-receiver.ts';

const REF = { channel_id: 'c-1', access_key: 'k', direction: 'read' };

/** Calls and is answered with the payload; returns what the engine got. The engine numbers all requested shapes. */
async function echo(platform: FakePlatform, svc: SvcWorker, payload: unknown): Promise<unknown> {
  const answered = svc.trigger({ function_id: 'a::b', payload });
  await platform.settle();
  const [call] = platform.socket.take();
  platform.socket.say({ type: 'invocationresult', invocation_id: call?.invocation_id, result: call?.data });
  await platform.settle();
  expect(await answered).toEqual(call?.data);
  return call?.data;
}

describe('compact payloads', () => {
  test('[W4] shape numbers end with their connection', async () => {
    const { platform, svc } = startSdkWorker();
    const payload = { order: 1, items: [{ sku: 'a' }, { sku: '€' }] };
    for (const name of ['w-1', 'w-2', 'w-3']) {
      // Each socket of the platform has an engine of its own, which refuses numbers that it did not assign.
      const socket = await platform.connect(name);
      // The reattach of the last connection.
      socket.take();
      for (let round = 0; round < 4; round++) expect(await echo(platform, svc, payload)).toEqual(payload);
      socket.drop();
      await platform.pass(5_000);
    }
  });

  test('[SDK-7] a payload has the value at the time of the call', async () => {
    const { platform, svc } = startSdkWorker();
    await platform.connect();
    const payload = { text: 'as it was', list: [1] };
    const calls = [svc.trigger({ function_id: 'a::b', payload })];
    payload.text = 'changed later';
    payload.list.push(2);
    calls.push(svc.trigger({ function_id: 'a::b', payload }));
    for (const call of calls) call.catch(() => {});
    await platform.settle();
    expect(platform.socket.take()).toMatchObject([
      { data: { text: 'as it was', list: [1] } },
      { data: { text: 'changed later', list: [1, 2] } },
    ]);
  });

  test('[SDK-7] hundreds of payloads of all sizes in one turn arrive in order', async () => {
    const { platform, svc } = startSdkWorker();
    await platform.connect();
    const payloads = Array.from({ length: 400 }, (_, at) => ({ at, text: 'x'.repeat((at * 379) % 3_000) }));
    for (const payload of payloads) svc.trigger({ function_id: 'a::b', payload }).catch(() => {});
    await platform.settle();
    expect(platform.socket.take().map(({ data }) => data)).toEqual(payloads);
  });

  test('[SDK-6] a call refused for its size does not affect the next one', async () => {
    const { platform, svc } = startSdkWorker({ frame_bytes_max: 2_000 });
    await platform.connect();
    const refused = svc.trigger({ function_id: 'a::b', payload: { text: 'x'.repeat(3_000) } });
    await expect(refused).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await expect(svc.trigger({ function_id: 'a::b', payload: { n: 1n } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
    expect(await echo(platform, svc, { text: 'y' })).toEqual({ text: 'y' });
  });

  test('[CH6] only a value that may hold a channel reference is reported, before it is passed on', () => {
    const pair = new CompactPair();
    let noted = 0;
    const memory: PlatformMemory = { ...nodeMemory, noteReference: () => void noted++ };
    const reader = new BinaryReader(memory, new CompactEncoder(memory, () => {}));
    const results = (value: unknown): number => {
      const payload = pair.encode(value);
      if (payload === undefined) throw new Error('given back');
      const messages = new MessageBuffer();
      for (let number = 0; number < pair.shapes.size; number++)
        messages.shape(number, pair.shapes.keyList(number) ?? '');
      messages.result(1, 0, Payload.ofPacked(payload, 0, payload.length, pair.form), false);
      pair.answer();
      const receiver = new RecordingReceiver();
      const before = noted;
      reader.read(messages.view(), receiver);
      expect(receiver.heard).toEqual([['result', 1, value]]);
      return noted - before;
    };
    // At first the payload carries the keys, then they are numbers.
    for (let round = 0; round < 4; round++) {
      expect(results([{ deep: { from: REF } }])).toBe(1);
      expect(results({ from: 'channel_id' })).toBe(0);
    }
  });
});
