// The Redis scripts of state, and the part that they share with those of streams: a hash of values by name, the sorted
// names (a hash has no order), and an index of the scopes or groups that hold something.
//
// A script can fail as a whole only before its first change. So the commands that Redis may refuse for lack of memory
// come first.

import { redisScript } from '../../effects/redis-script.ts';
import { changeScript } from './outbox-scripts.ts';

/** Lua. `expected`: the name of the write that must have written the present value. */
export const ENTRIES = `
local function is_expected(old, expected)
  return expected == '*' or expected == (old and string.match(old, '^[^ ]*') or '')
end

local function put(values, names, index, name, place, record, is_new)
  redis.call('HSET', values, name, record)
  if not is_new then return end
  redis.call('ZADD', names, 0, name)
  redis.call('ZADD', index, 0, place)
end

local function take(values, names, index, name, place)
  redis.call('HDEL', values, name)
  redis.call('ZREM', names, name)
  if redis.call('EXISTS', values) == 0 then redis.call('ZREM', index, place) end
end
`;

/** Lua. */
export const PAGE = `
-- Names and values in turn, up to the first that is more than an answer may hold.
local function page(values, names, from, to, offset, count, bytes_max, out)
  local bytes = 0
  for index, name in ipairs(redis.call('ZRANGE', names, from, to, 'BYLEX', 'LIMIT', offset, count)) do
    local record = redis.call('HGET', values, name)
    out[#out + 1] = name
    out[#out + 1] = record
    bytes = bytes + #record - string.find(record, ' ', 1, true)
    if bytes > tonumber(bytes_max) and index > 1 then break end
  end
  return out
end
`;

// Each script of state is one atomic step. Keys: the values of a scope, their sorted names, the scopes, and the
// number of the last change. The first three are all that a list reads. Jobs may follow the arguments of a change,
// and the keys of their outbox its keys.

const START = `${ENTRIES}
local VALUES, NAMES, SCOPES, CHANGES = unpack(KEYS)
local old = redis.call('HGET', VALUES, ARGV[1])
`;

const WHOLE = "string.format('%.0f', seq)";

/** key, scope, record, expected → the number of the change and what was there; 0: nothing was written; -1: why not. */
export const PUT_ENTRY = changeScript(
  4,
  (jobs) => `${START}${jobs.define}
if not is_expected(old, ARGV[4]) then return {0, old} end
${jobs.judge('json_size(old) + json_size(ARGV[3])')}
put(VALUES, NAMES, SCOPES, ARGV[1], ARGV[2], ARGV[3], not old)
local seq = redis.call('INCR', CHANGES)
${jobs.keep({ epoch: "''", seq: WHOLE, old: 'json_of(old)', new: 'json_of(ARGV[3])' })}
return {seq, old}`,
);

/** key, scope, expected → as above, and 0 also if there was nothing. */
export const TAKE_ENTRY = changeScript(
  3,
  (jobs) => `${START}${jobs.define}
if not old or not is_expected(old, ARGV[3]) then return {0, old} end
${jobs.judge('json_size(old) + json_size(nil)')}
take(VALUES, NAMES, SCOPES, ARGV[1], ARGV[2])
local seq = redis.call('INCR', CHANGES)
${jobs.keep({ epoch: "''", seq: WHOLE, old: 'json_of(old)', new: 'nil' })}
return {seq, old}`,
);

/** from, to, offset, count, bytes → keys and records in turn. */
export const LIST_ENTRIES = redisScript(`${PAGE}
return page(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], {})`);

export const STATE_SCRIPTS = [PUT_ENTRY.plain, PUT_ENTRY.withJobs, TAKE_ENTRY.plain, TAKE_ENTRY.withJobs, LIST_ENTRIES];
