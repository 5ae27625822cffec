// The Redis scripts of streams, each one atomic step: the change, its number, its place in the history and its
// publication together, or nothing (T2).
//
// Keys of all but the last two: head, history, items, ids, due, floor, epoch, groups. See `stream-keys.ts`.
// Arguments of all but the last two: 1 group among groups · 2 channel · 3 now · 4 name of this write · 5 epoch, if
// there is none yet · 6 events, 7 milliseconds and 8 bytes that a history may have; from 9 on they are the script's
// own.

import { redisScript } from '../../effects/redis-script.ts';
import { ENTRIES, PAGE } from './entry-scripts.ts';
import { changeScript } from './outbox-scripts.ts';

const EVENTS = `
local HEAD, HISTORY, ITEMS, IDS, DUE, FLOOR, EPOCH, GROUPS = unpack(KEYS)
local GROUP, CHANNEL, NOW, TAG = unpack(ARGV)

local function whole(number)
  return string.format('%.0f', number)
end

local function epoch_now()
  local epoch = redis.call('GET', EPOCH)
  if epoch then return epoch end
  redis.call('SET', EPOCH, ARGV[5])
  return ARGV[5]
end

local function seq_now()
  return tonumber(redis.call('HGET', HEAD, 'seq') or redis.call('GET', FLOOR) or 0)
end

local function time_of(entry)
  return tonumber(string.match(entry, '^%d+\\n%a+\\n(%d+)'))
end

-- Lets go of the oldest until the rest is within all limits. Returns how many there are, and when the oldest is due.
local function trim(count, bytes)
  local due
  while count > 0 do
    local oldest = redis.call('LINDEX', HISTORY, 0)
    due = time_of(oldest) + tonumber(ARGV[7])
    if bytes <= tonumber(ARGV[8]) and count <= tonumber(ARGV[6]) and due > tonumber(NOW) then break end
    redis.call('LPOP', HISTORY)
    bytes = bytes - #oldest
    count = count - 1
  end
  redis.call('HSET', HEAD, 'bytes', whole(bytes))
  return count, due
end

`;

/** The event of a change. */
const APPEND = `
local function append(kind, item, payload)
  local epoch, seq = epoch_now(), whole(seq_now() + 1)
  local entry = table.concat({seq, kind, NOW, TAG, item, payload}, '\\n')
  local bytes = tonumber(redis.call('HGET', HEAD, 'bytes') or 0) + #entry
  local count = redis.call('RPUSH', HISTORY, entry)
  redis.call('HSET', HEAD, 'seq', seq, 'tag', TAG)
  trim(count, bytes)
  redis.call('ZADD', DUE, 'NX', whole(tonumber(NOW) + tonumber(ARGV[7])), GROUP)
  redis.call('PUBLISH', CHANNEL, epoch .. '\\n' .. entry)
  return epoch, seq
end
`;

const NUMBERED = { epoch: 'epoch', seq: 'seq' };

/** 9 item, 10 data, 11 expected → 1, what was there, epoch, seq; 0 and what is there; or -1 and why not. */
export const PUT_ITEM = changeScript(
  11,
  (jobs) => `${EVENTS}${APPEND}${ENTRIES}${jobs.define}
local old = redis.call('HGET', ITEMS, ARGV[9])
if not is_expected(old, ARGV[11]) then return {0, old} end
${jobs.judge('#ARGV[10]')}
put(ITEMS, IDS, GROUPS, ARGV[9], GROUP, TAG .. ' ' .. ARGV[10], not old)
local epoch, seq = append(old and 'update' or 'create', ARGV[9], ARGV[10])
${jobs.keep({ ...NUMBERED, old: "old and ''", new: 'ARGV[10]' })}
return {1, old, epoch, seq}`,
);

/** 9 item → 1, what was there, epoch, seq; 0 if there was nothing; or -1 and why not. */
export const TAKE_ITEM = changeScript(
  9,
  (jobs) => `${EVENTS}${APPEND}${ENTRIES}${jobs.define}
local old = redis.call('HGET', ITEMS, ARGV[9])
if not old then return {0, old} end
${jobs.judge('json_size(old)')}
take(ITEMS, IDS, GROUPS, ARGV[9], GROUP)
local json = string.sub(old, string.find(old, ' ', 1, true) + 1)
local epoch, seq = append('delete', ARGV[9], json)
${jobs.keep({ ...NUMBERED, old: 'nil', new: 'json' })}
return {1, old, epoch, seq}`,
);

/** 9 item, 10 kind, 11 payload, 12 1: it cannot be refused → epoch, seq, judged jobs; or -1 and why not. */
export const APPEND_EVENT = changeScript(
  12,
  (jobs) => `${EVENTS}${APPEND}${jobs.define}
${jobs.judge('#ARGV[11]', "ARGV[12] == '1'")}
local epoch, seq = append(ARGV[10], ARGV[9], ARGV[11])
${jobs.keep({ ...NUMBERED, old: 'nil', new: 'ARGV[11]' })}
return {epoch, seq${jobs.judged}}`,
);

/**
 * 9 and 10 epoch and seq of the subscriber, 11 item, 12 entries, 13 bytes → epoch, seq, tag, and either 1 and the
 * events since then, if all of them are kept, or 0 and the present ids and values in turn.
 */
export const SUBSCRIBE = redisScript(`${EVENTS}${PAGE}
local epoch, seq, kept = epoch_now(), seq_now(), redis.call('LLEN', HISTORY)
-- The number that a subscriber now has must not depend on other groups any more. Without memory for it, it does.
if redis.call('EXISTS', HEAD) == 0 then
  redis.pcall('HSET', HEAD, 'seq', whole(seq))
  redis.pcall('ZADD', DUE, 'NX', whole(tonumber(NOW) + tonumber(ARGV[7])), GROUP)
end
local tag, since = redis.call('HGET', HEAD, 'tag') or '', tonumber(ARGV[10])
if ARGV[9] == epoch and since <= seq and since >= seq - kept then
  return {epoch, whole(seq), tag, 1, redis.call('LRANGE', HISTORY, since - (seq - kept), -1)}
end
local found = {}
if ARGV[11] == '' then
  page(ITEMS, IDS, '-', '+', 0, ARGV[12], ARGV[13], found)
else
  local record = redis.call('HGET', ITEMS, ARGV[11])
  if record then found = {ARGV[11], record} end
end
return {epoch, whole(seq), tag, 0, found}`);

/** 9 number → epoch, seq, tag, and the kept events from that number on. */
export const EVENTS_FROM = redisScript(`${EVENTS}
local seq, kept = seq_now(), redis.call('LLEN', HISTORY)
local index = math.max(tonumber(ARGV[9]) - (seq - kept + 1), 0)
return {epoch_now(), whole(seq), redis.call('HGET', HEAD, 'tag') or '', redis.call('LRANGE', HISTORY, index, -1)}`);

/**
 * Removes history that is no longer written to. A followed group keeps its number; a group that is used again continues
 * above its old numbers.
 */
export const SWEEP_GROUP = redisScript(`${EVENTS}
local count, due = trim(redis.call('LLEN', HISTORY), tonumber(redis.call('HGET', HEAD, 'bytes') or 0))
if count > 0 then return redis.call('ZADD', DUE, whole(due), GROUP) end
redis.call('ZREM', DUE, GROUP)
if redis.call('EXISTS', ITEMS) == 1 then return 0 end
if redis.call('PUBSUB', 'NUMSUB', CHANNEL)[2] > 0 then
  return redis.call('ZADD', DUE, whole(tonumber(NOW) + tonumber(ARGV[7])), GROUP)
end
local seq = seq_now()
if seq > tonumber(redis.call('GET', FLOOR) or 0) then redis.call('SET', FLOOR, whole(seq)) end
return redis.call('DEL', HEAD)`);

/** Keys: items, ids. from, to, offset, count, bytes → ids and values in turn. */
export const LIST_ITEMS = redisScript(`${PAGE}
return page(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], {})`);

/** Keys: groups. Streams to skip, streams, groups of one of them, bytes → streams and their groups in turn. */
export const LIST_STREAMS = redisScript(`
local found, rows, bytes, from = {}, -tonumber(ARGV[1]), 0, '-'
while rows < tonumber(ARGV[2]) and (bytes <= tonumber(ARGV[4]) or rows < 2) do
  local first = redis.call('ZRANGE', KEYS[1], from, '+', 'BYLEX', 'LIMIT', 0, 1)[1]
  if not first then break end
  local stream = string.match(first, '^[^\\n]*')
  local next_stream = stream .. '\\11'
  if rows >= 0 then
    local groups = redis.call('ZRANGE', KEYS[1], '[' .. first, '(' .. next_stream, 'BYLEX', 'LIMIT', 0, ARGV[3])
    for index, group in ipairs(groups) do
      groups[index] = string.sub(group, #stream + 2)
      bytes = bytes + #groups[index]
    end
    found[#found + 1] = stream
    found[#found + 1] = groups
  end
  rows = rows + 1
  from = '[' .. next_stream
end
return found`);

export const STREAM_SCRIPTS = [
  ...[PUT_ITEM, TAKE_ITEM, APPEND_EVENT].flatMap(({ plain, withJobs }) => [plain, withJobs]),
  SUBSCRIBE,
  EVENTS_FROM,
  SWEEP_GROUP,
  LIST_ITEMS,
  LIST_STREAMS,
];
