// The Redis scripts of state, and the part that they share with those of streams: a hash of values by name, the sorted
// names (a hash has no order), and an index of the scopes or groups that hold something.
//
// A script can fail as a whole only before its first change. So the commands that Redis may refuse for lack of memory
// come first.

import { redisScript } from '../../effects/redis-script.ts';

/** Lua. `expected`: the name of the write that must have written the present value. */
export const ENTRIES = `
local function put(values, names, index, name, place, record, expected)
  local old = redis.call('HGET', values, name)
  if expected ~= '*' and expected ~= (old and string.match(old, '^[^ ]*') or '') then return false, old end
  redis.call('HSET', values, name, record)
  if not old then
    redis.call('ZADD', names, 0, name)
    redis.call('ZADD', index, 0, place)
  end
  return true, old
end

local function take(values, names, index, name, place)
  local old = redis.call('HGET', values, name)
  if not old then return false end
  redis.call('HDEL', values, name)
  redis.call('ZREM', names, name)
  if redis.call('EXISTS', values) == 0 then redis.call('ZREM', index, place) end
  return old
end

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

// Each script of state is one atomic step. Keys: the values of a scope, their sorted names, the scopes, and the number
// of the last change. The first three are all that a list reads.

/** key, scope, record, expected → the number of the change, or 0 if nothing was written; what was there. */
export const PUT_ENTRY = redisScript(`${ENTRIES}
local done, old = put(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4])
return {done and redis.call('INCR', KEYS[4]) or 0, old}`);

/** key, scope → the number of the change, or 0 if there was nothing; what was there. */
export const TAKE_ENTRY = redisScript(`${ENTRIES}
local old = take(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2])
return {old and redis.call('INCR', KEYS[4]) or 0, old}`);

/** key, scope, expected → whether it was as expected, what was there, and the number as above. */
export const TAKE_ENTRY_IF = redisScript(`${ENTRIES}
local old = redis.call('HGET', KEYS[1], ARGV[1])
if (old and string.match(old, '^[^ ]*') or '') ~= ARGV[3] then return {0, old, 0} end
old = take(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2])
return {1, old, old and redis.call('INCR', KEYS[4]) or 0}`);

/** from, to, offset, count, bytes → keys and records in turn. */
export const LIST_ENTRIES = redisScript(`${ENTRIES}
return page(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], {})`);

export const STATE_SCRIPTS = [PUT_ENTRY, TAKE_ENTRY, TAKE_ENTRY_IF, LIST_ENTRIES];
