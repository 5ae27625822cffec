// The version of an entry: a tag of its stored bytes. A caller that read an entry can ask that it be changed only if it
// has not changed since. The comparison is part of the write.

import { createHash } from 'node:crypto';
import { Refusal } from '../../../core/calls/refusal.ts';
import type { CommandInput } from '../../thread/command-input.ts';

export interface WriteCondition {
  readonly ifVersion: string | undefined;
  readonly ifAbsent: boolean;
}

export function versionOf(value: Uint8Array): string {
  return createHash('sha1').update(value).digest('base64url').slice(0, TAG_CHARS);
}

/** 108 bits: two values do not get the same tag by accident, and there is no gain in forging one. */
const TAG_CHARS = 18;

export function conditionIn(input: CommandInput): WriteCondition {
  const json = input.json('if_version');
  const version: unknown = json === undefined ? undefined : JSON.parse(json.toString('utf8'));
  if (version !== undefined && version !== null && typeof version !== 'string') {
    throw input.refusal("field 'if_version' must be string");
  }
  return { ifVersion: version ?? undefined, ifAbsent: input.flag('if_absent') };
}

/** Throws `CONFLICT` unless the entry meets the condition. */
export function checkCondition({ ifVersion, ifAbsent }: WriteCondition, before: Uint8Array | undefined): void {
  if (ifAbsent && before !== undefined) {
    throw new Refusal('CONFLICT', 'There is an entry already; nothing was written');
  }
  if (ifVersion === undefined) return;
  if (before === undefined) throw new Refusal('CONFLICT', 'The entry was deleted since it was read');
  if (versionOf(before) !== ifVersion) throw new Refusal('CONFLICT', 'The entry changed since it was read');
}
