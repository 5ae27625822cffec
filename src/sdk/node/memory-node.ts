// Text in memory, through Buffer; and the same memory with an observer of channel references.

import { asBuffer, nodeText } from '../../protocol/json/node-bytes.ts';
import { REF_MARK } from '../channels/channel-ref.ts';
import type { PlatformMemory } from '../worker/platform.ts';

export const nodeMemory: PlatformMemory = {
  allocate: (bytes) => Buffer.allocUnsafeSlow(bytes),
  write: (target, text, at) => asBuffer(target).write(text, at),
  writeNarrow: (target, text, at) => void asBuffer(target).write(text, at, 'latin1'),
  writeWide: (target, text, at) => void asBuffer(target).write(text, at, 'utf16le'),
  copy: (source, start, end, target, at) => void asBuffer(source).copy(target, at, start, end),
  byteLength: (text) => Buffer.byteLength(text),
  read: nodeText.read,
  readNarrow: nodeText.readNarrow,
  readWide: nodeText.readWide,
  noteReference: () => {},
};

/** The memory, which reports texts with a possible channel reference before the value is used. */
export function watchMemory(memory: PlatformMemory, noteReference: () => void): PlatformMemory {
  return {
    allocate: (bytes) => memory.allocate(bytes),
    write: (target, text, at) => memory.write(target, text, at),
    writeNarrow: (target, text, at) => memory.writeNarrow(target, text, at),
    writeWide: (target, text, at) => memory.writeWide(target, text, at),
    copy: (source, start, end, target, at) => memory.copy(source, start, end, target, at),
    byteLength: (text) => memory.byteLength(text),
    readNarrow: (source, start, end) => memory.readNarrow(source, start, end),
    readWide: (source, start, end) => memory.readWide(source, start, end),
    noteReference,
    read: (source, start, end) => {
      const text = memory.read(source, start, end);
      if (text.includes(REF_MARK)) noteReference();
      return text;
    },
  };
}
