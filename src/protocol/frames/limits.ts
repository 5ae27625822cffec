// The fixed limits of the guarantees, one constant per rule. Configurable limits have their defaults in
// `config/settings.ts`.

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
