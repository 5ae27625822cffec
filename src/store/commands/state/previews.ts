// A list of entries as tables show it: keys, sizes and the beginning of each value.

import type { ListEntry } from './replies.ts';
import { type ListRequest, versionOf } from './requests.ts';

/** The limit of entries read for one answer: a search with few results must not block the store. */
export const SCANNED_MAX = 50_000;

/**
 * `{"entries":[{key, type, size, version, updated_at, preview, truncated}],"next":key or null}`. `next` is the key to
 * continue after; a search may have to continue although it has found nothing yet. `entries` may be endless.
 */
export function previewReply(request: ListRequest, entries: Iterable<ListEntry>, hasMore = false): Buffer {
  const limit = request.page.limit ?? SCANNED_MAX;
  const wanted = request.contains?.toString('utf8').toLowerCase();
  const rows: string[] = [];
  let scanned = 0;
  let last: Buffer | undefined;
  let isComplete = true;
  for (const { key, value, writtenMs } of entries) {
    if (rows.length === limit || scanned === SCANNED_MAX) {
      isComplete = false;
      break;
    }
    scanned++;
    last = key;
    const name = key.toString('utf8');
    if (wanted === undefined || name.toLowerCase().includes(wanted)) {
      rows.push(rowOf(name, value, writtenMs, request.previewBytes));
    }
  }
  const next = (isComplete && !hasMore) || last === undefined ? null : last.toString('utf8');
  return Buffer.from(`{"entries":[${rows.join(',')}],"next":${JSON.stringify(next)}}`);
}

function rowOf(key: string, value: Uint8Array, writtenMs: number | undefined, previewBytes: number): string {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  const isTruncated = bytes.length > previewBytes;
  const preview = isTruncated ? beginning(bytes, previewBytes) : bytes.toString('utf8');
  return JSON.stringify({
    key,
    type: typeOf(bytes),
    size: bytes.length,
    version: versionOf(bytes),
    updated_at: writtenMs ?? null,
    preview,
    truncated: isTruncated,
  });
}

/** Whole characters only. */
function beginning(bytes: Buffer, bytesMax: number): string {
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

export function typeOf(json: Uint8Array): 'object' | 'array' | 'string' | 'boolean' | 'null' | 'number' {
  switch (json[0]) {
    case 0x7b:
      return 'object';
    case 0x5b:
      return 'array';
    case 0x22:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return 'number';
  }
}
