// Text in memory, through Buffer.

import { asBuffer, nodeText } from '../../protocol/json/node-text.ts';
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
