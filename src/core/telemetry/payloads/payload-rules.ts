// Of which calls the input and the output are kept (modules 11.10). The router's thread asks for each call that has a
// span.

import { Pattern } from '../../access/pattern.ts';

/** `sampled`: those that failed, and all calls of a share of the traces. */
export const PAYLOAD_MODES = ['off', 'errors', 'sampled', 'all'] as const;
export type PayloadMode = (typeof PAYLOAD_MODES)[number];

export interface PayloadRule {
  /** A pattern of `core/access/pattern.ts`. */
  readonly functions: string;
  readonly mode: PayloadMode;
}

export interface PayloadSettings {
  /** The first that matches decides; without a match, nothing is kept. */
  readonly rules: readonly PayloadRule[];
  /** The share of traces of which `sampled` keeps all calls. */
  readonly samplingRatio: number;
  /** Of one input or output; a longer one is cut. */
  readonly maxBytes: number;
  /** Of all that are kept. */
  readonly memoryMaxBytes: number;
}

/** A cache of modes by function, bounded because users choose function ids. */
const KNOWN_MODES_MAX = 4_096;

export class PayloadRules {
  readonly #rules: readonly { readonly functions: Pattern; readonly mode: PayloadMode }[];
  readonly #known = new Map<string, PayloadMode>();

  constructor(rules: readonly PayloadRule[]) {
    this.#rules = rules.map(({ functions, mode }) => ({ functions: new Pattern(functions), mode }));
  }

  modeOf(functionId: string): PayloadMode {
    const known = this.#known.get(functionId);
    if (known !== undefined) return known;
    const mode = this.#rules.find(({ functions }) => functions.matches(functionId))?.mode ?? 'off';
    if (this.#known.size >= KNOWN_MODES_MAX) this.#known.clear();
    this.#known.set(functionId, mode);
    return mode;
  }
}

export function keepsNoPayloads({ rules }: PayloadSettings): boolean {
  return rules.every(({ mode }) => mode === 'off');
}

/**
 * Whether the trace is one of the share. Sampling of traces looks at the last digits of the id, so that the share here
 * is one of the traces that are kept.
 */
export function isChosen(traceId: string, ratio: number): boolean {
  return ratio >= 1 || Number.parseInt(traceId.slice(0, DIGITS), 16) / 16 ** DIGITS < ratio;
}

const DIGITS = 8;
