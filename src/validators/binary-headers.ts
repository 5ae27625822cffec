// Compiled checks of the headers of the binary form: the allowed numbers of each field.

import type { tags } from 'typia';
import typia from 'typia';

/**
 * A call: known flags; no compact flag without a payload; a function number below NAMES_MAX; a timeout up to an hour;
 * any depth that the field can hold.
 */
interface CheckedCallHeader {
  flags:
    | (number & tags.Type<'uint32'> & tags.Maximum<63>)
    | (number & tags.Type<'uint32'> & tags.Minimum<160> & tags.Maximum<191>);
  depth: number & tags.Type<'uint32'> & tags.Maximum<65_535>;
  idLow: number & tags.Type<'uint32'>;
  idHigh: number & tags.Type<'uint32'>;
  functionNumber: number & tags.Type<'uint32'> & tags.Maximum<65_535>;
  timeoutMs: number & tags.Type<'uint32'> & tags.Maximum<3_600_000>;
}

/** A result: no flags but payload, and error or compact form. */
interface CheckedResultHeader {
  flags: (0 | 32 | 96 | 160) & number;
  idLow: number & tags.Type<'uint32'>;
  idHigh: number & tags.Type<'uint32'>;
}

export const isCallHeader = typia.createIs<CheckedCallHeader>();
export const isResultHeader = typia.createIs<CheckedResultHeader>();
