import { describe, expect, test } from 'vitest';
import { BatchReader, FRAME_MESSAGES_MAX, MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { asByteString } from '../../../../src/protocol/json/byte-string.ts';

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
