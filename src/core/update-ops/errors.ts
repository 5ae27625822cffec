// The reasons for which a single update operation is refused while the others of the call apply.

import { docUrl } from '../../protocol/frames/errors.ts';

export interface UpdateError {
  readonly op_index: number;
  readonly code: UpdateErrorCode;
  readonly message: string;
  readonly doc_url: string;
}

/** Why one operation was skipped, before its index in the call is known. */
export type Failure = Omit<UpdateError, 'op_index'>;

export const UPDATE_OP_NAMES = ['set', 'merge', 'increment', 'decrement', 'append', 'remove'] as const;

export type UpdateOpName = (typeof UPDATE_OP_NAMES)[number];

/** For every operation. */
const PATH_OFFENCES = {
  'path.segment_too_long': 'A path segment is longer than 256 bytes.',
  'path.proto_polluted': 'A path segment is `__proto__`, `constructor` or `prototype`.',
} as const;

/** For the operations whose path may be a list of segments. */
const LIST_PATH_OFFENCES = {
  'path.too_deep': 'The path has more than 32 segments.',
  'path.empty_segment': 'A segment of the path is empty.',
} as const;

const FIELD_OFFENCE = { target_not_object: 'The path names a field, but the value is not an object.' } as const;

const COUNTING_OFFENCES = {
  ...PATH_OFFENCES,
  ...FIELD_OFFENCE,
  not_number:
    'The target exists and is not a number, or the sum would leave the whole numbers that every JSON client reads ' +
    'exactly, which end at ±(2^53−1).',
} as const;

/** Every code by operation, in the order in which they are checked. */
export const UPDATE_OFFENCES = {
  set: { ...PATH_OFFENCES, ...FIELD_OFFENCE },
  merge: {
    ...LIST_PATH_OFFENCES,
    ...PATH_OFFENCES,
    'value.not_an_object': 'The value to merge is not a JSON object.',
    'value.too_many_keys': 'The value to merge has more than 1024 keys.',
    'value.proto_polluted': 'A key of the value to merge is `__proto__`, `constructor` or `prototype`.',
    'value.too_deep': 'The value to merge nests deeper than 16 levels.',
    target_not_object: 'The value to merge into exists, is not null and is not an object.',
  },
  increment: COUNTING_OFFENCES,
  decrement: COUNTING_OFFENCES,
  append: {
    ...LIST_PATH_OFFENCES,
    ...PATH_OFFENCES,
    'value.too_deep': 'With the value at that path the whole would nest deeper than 126 levels.',
    ...FIELD_OFFENCE,
    type_mismatch: 'Only an array, null or nothing takes any value; a string takes a string.',
  },
  remove: { ...PATH_OFFENCES, ...FIELD_OFFENCE },
} as const satisfies Record<UpdateOpName, Record<string, string>>;

export type UpdateErrorCode = {
  [Op in UpdateOpName]: `${Op}.${keyof (typeof UPDATE_OFFENCES)[Op] & string}`;
}[UpdateOpName];

export function failure(code: UpdateErrorCode, message: string): Failure {
  return { code, message, doc_url: docUrl(code) };
}
