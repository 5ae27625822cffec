// An update that another thread computes, and its answer.

import type { ErrorBody } from '../../protocol/frames/frames.ts';

export interface UpdateTask {
  readonly of: 'state' | 'streams';
  /** The command as it was sent. */
  readonly input: Uint8Array;
  /** The present value as JSON; `undefined`: there is none. */
  readonly before: Uint8Array | undefined;
  /** The limit of the new value. */
  readonly valueBytesMax: number;
}

export type UpdateAnswer =
  | { readonly refusal: ErrorBody }
  | {
      /** The value to write; `undefined`: nothing changed (S2). */
      readonly after: Uint8Array | undefined;
      /** Operations that failed, as JSON. */
      readonly failed: Uint8Array | undefined;
    };
