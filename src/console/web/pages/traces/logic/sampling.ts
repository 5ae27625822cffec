// Which sampling rule applies to a span, by the engine's logic: the first one whose patterns match.

import type { Sampling } from '../../../../../console-api/telemetry.ts';

export interface SamplingVerdict {
  readonly rate: number;
  /** Its index in the list; undefined: the default. */
  readonly rule: number | undefined;
}

export function rateOf({ traces }: Pick<Sampling, 'traces'>, operation: string, service: string): SamplingVerdict {
  const at = traces.rules.findIndex((rule) => fits(rule.operation, operation) && fits(rule.service, service));
  const rule = traces.rules[at];
  return rule === undefined ? { rate: traces.default_ratio, rule: undefined } : { rate: rule.rate, rule: at };
}

/** `*` matches any characters. An absent pattern matches everything. */
function fits(pattern: string | null | undefined, text: string): boolean {
  if (pattern === null || pattern === undefined) return true;
  const parts = pattern.split('*');
  const [head = ''] = parts;
  if (parts.length === 1) return pattern === text;
  const tail = parts.at(-1) ?? '';
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false;
  let at = head.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - tail.length) return false;
    at = found + part.length;
  }
  return true;
}
