// Which sampling rule applies to a span, with the engine's own matcher: the first one whose patterns match.

import { Pattern } from '../../../../core/access/pattern.ts';
import type { Sampling } from '../../../api/telemetry.ts';

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

/** An absent pattern matches everything. */
function fits(pattern: string | null | undefined, text: string): boolean {
  return pattern === null || pattern === undefined || new Pattern(pattern).matches(text);
}
