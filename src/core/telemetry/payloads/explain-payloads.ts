// What is kept of a call, and what is missing of it, in words for a person. Console and CLI use the same ones.

import { parseExactJson } from '../../calls/exact-json.ts';
import { REDACTED } from '../../config-fields/redaction.ts';
import type { PayloadsAnswer } from './payloads-answer.ts';
import { type StoredPayload, valueAt } from './stored-payload.ts';

/** Why nothing is shown, and what changes it, for a person. */
export function explainMissing({ function_id: id, mode, missing }: PayloadsAnswer): string {
  switch (missing) {
    case null:
      return '';
    case 'not_a_call':
      return 'This span is no call of a function: it has no input and output.';
    case 'of_the_engine':
      return "Inputs and outputs of the engine's own functions are not kept.";
    case 'off':
      return `Inputs and outputs of ${id} are not kept. Set payloads of svc-observability to errors, sampled or all.`;
    case 'succeeded':
      return `Of ${id} those of failed calls are kept, and this call succeeded. With payloads: all, they all are.`;
    case 'not_chosen':
      return (
        `Of ${id} those of failed calls and of a share of the traces are kept, and this call is neither. ` +
        'Raise payload_sampling_ratio of svc-observability to keep more.'
      );
    case 'running':
      return 'The call runs. Its input and output are shown when it has ended.';
    case 'gone':
      return (
        `They are not kept any more, or the call began before payloads was ${mode}. ` +
        'Raise payload_memory_max_bytes of svc-observability to keep more.'
      );
  }
}

const GAPS = {
  no_room: 'Not kept: too many calls were running. Raise payload_memory_max_bytes of svc-observability.',
  too_large: 'Too large to keep a part of it. Raise payload_max_bytes of svc-observability.',
  unreadable: 'Not kept: it cannot be read as JSON.',
} as const;

/** What of it is missing, in sentences; none: nothing is. */
export function explainGaps({ gap, redacted, channels, cut_at: cutAt, bytes }: StoredPayload): string[] {
  if (gap !== null) return [GAPS[gap]];
  const at = (pointer: string): string => (pointer === '' ? 'the beginning' : pointer);
  return [
    ...(redacted.length > 0 ? [`Secrets are redacted at ${redacted.map(at).join(', ')}.`] : []),
    ...(channels.length > 0
      ? [`Channels at ${channels.map(at).join(', ')} ended with the call. They are left out when it runs again.`]
      : []),
    ...(cutAt === null ? [] : [`The end is missing from ${at(cutAt)} on: the whole value has ${bytes} bytes.`]),
  ];
}

/** Whether it can be sent as it was. */
export function isComplete({ gap, redacted, cut_at: cutAt }: StoredPayload): boolean {
  return gap === null && redacted.length === 0 && cutAt === null;
}

/** The input as it can be sent again: without the channels of the first call. Valid JSON, for an input that is kept. */
export function inputForAgain(json: string, channels: readonly string[]): string {
  if (channels.length === 0) return json;
  const value: unknown = parseExactJson(json);
  for (const place of channels) {
    const slash = place.lastIndexOf('/');
    const parent = valueAt(value, place.slice(0, Math.max(0, slash)));
    const key = place
      .slice(slash + 1)
      .replaceAll('~1', '/')
      .replaceAll('~0', '~');
    if (slash < 0 || typeof parent !== 'object' || parent === null) return 'null';
    if (Array.isArray(parent)) parent[Number(key)] = null;
    else Reflect.deleteProperty(parent, key);
  }
  return JSON.stringify(value);
}

/** The places, as JSON pointers, at which a value still has what replaced a secret. */
export function stillRedacted(value: unknown, places: readonly string[]): string[] {
  return places.filter((place) => {
    const text = valueAt(value, place);
    return typeof text === 'string' && text.includes(REDACTED);
  });
}
