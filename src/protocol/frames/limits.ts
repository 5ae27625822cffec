// The fixed limits of the guarantees, one constant per rule, and the rules for ids that users choose: functions,
// triggers, trigger types. Configurable limits have their defaults in `config/settings.ts`.

/** JSON nesting of any text that the engine parses or relays. */
export const JSON_DEPTH_MAX = 128;
/** Function, trigger and trigger type ids, in bytes of UTF-8. */
export const ID_BYTES_MAX = 256;
/** Description, schemas and metadata of one function or trigger type; config and metadata of one trigger. */
export const REGISTRATION_BYTES_MAX = 64 * 1024;
/** JSON payload of a function that any connection may call and that needs a small one (`engine::log::…`). */
export const SMALL_PAYLOAD_LIMITS = { restricted: 64 * 1024, trusted: 1024 * 1024 } as const;
/** Length of an error's text that the engine keeps or logs. */
export const ERROR_TEXT_CHARS_MAX = 4096;
/** Links in a chain of calls, counted from the first caller (I8). */
export const CALL_DEPTH_MAX = 64;
/** Longest deadline that a caller may ask for, and the maximum for clients that keep their own (I3). */
export const CALL_TIMEOUT_MS_MAX = 3_600_000;
/** Deadline of a call from our own SDK that sets none (I3). */
export const CALL_TIMEOUT_MS_DEFAULT = 30_000;
/** Name and description of a worker are cut to this many characters for display. */
export const WORKER_TEXT_CHARS_MAX = 280;
/** Default ports of the product. */
export const BRIDGE_PORT_DEFAULT = 49_134;

/** Why a text cannot be an id, in words that follow the id's kind ("function id …"); `undefined` if it can. */
export function idOffence(id: string): string | undefined {
  if (id.trim() === '') return 'must not be blank';
  if (CONTROL.test(id)) return 'must not contain control characters';
  if (HALF_PAIR.test(id)) return 'must not contain half of a surrogate pair';
  // A UTF-16 unit takes at most three bytes of UTF-8: only long ids need counting.
  if (id.length * 3 > ID_BYTES_MAX && utf8Length(id) > ID_BYTES_MAX) {
    return `is ${utf8Length(id)} bytes long, over the limit of ${ID_BYTES_MAX}`;
  }
  return undefined;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** Half of a pair has no UTF-8 form, so two such ids could become one on their way through a store or a header. */
const HALF_PAIR = /\p{Surrogate}/u;
