// The Redis scripts of state, each one atomic step. Keys: the values of a scope, their sorted names, and the scopes.

import { redisScript } from '../../effects/redis-script.ts';
import { ENTRIES } from './entry-scripts.ts';

/** key, scope, record, expected → whether it was written, what was there. */
export const PUT_ENTRY = redisScript(`${ENTRIES}
local done, old = put(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4])
return {done and 1 or 0, old}`);

/** key, scope → what was there. */
export const TAKE_ENTRY = redisScript(`${ENTRIES}
return take(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2])`);

/** key, scope, expected → whether it was deleted, what was there. */
export const TAKE_ENTRY_IF = redisScript(`${ENTRIES}
local old = redis.call('HGET', KEYS[1], ARGV[1])
if (old and string.match(old, '^[^ ]*') or '') ~= ARGV[3] then return {0, old} end
return {1, take(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2])}`);

/** from, to, offset, count, bytes → keys and records in turn. */
export const LIST_ENTRIES = redisScript(`${ENTRIES}
return page(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], {})`);

export const STATE_SCRIPTS = [PUT_ENTRY, TAKE_ENTRY, TAKE_ENTRY_IF, LIST_ENTRIES];
