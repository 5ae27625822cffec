// What the SDK writes in the binary form, as hex.

import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { BinaryWriter } from '../../../../src/sdk/wire/binary-writer.ts';
import { FakeSocket } from '../../../support/fakes/fake-platform.ts';

export function written(write: (writer: BinaryWriter) => void): string {
  const writer = new BinaryWriter(nodeMemory, new CompactEncoder(nodeMemory, () => {}));
  write(writer);
  let hex = '';
  const socket = new FakeSocket(
    { purpose: 'worker', url: 'ws://x', subprotocols: [], headers: {}, messageBytesMax: 1 },
    { onMessage() {}, onAlive() {}, onClose() {} },
  );
  socket.sendBytes = (memory, start, end) => {
    hex = Buffer.from(memory.subarray(start, end)).toString('hex');
    return true;
  };
  writer.send(socket);
  return hex;
}
