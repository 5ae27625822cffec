// Memory that reports texts with a possible channel reference, before the value is used.

import { REF_MARK } from '../channels/channel-ref.ts';
import type { PlatformMemory } from '../worker/platform.ts';

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
