// Dead letters: list, redrive, edit, discard. Each job moves in one step, and a step moves few (Q10).

import { redisScript } from '../../../../effects/redis-script.ts';
import { GOES_ON, PLACES } from './places-script.ts';

/**
 * 1 queue, 2 offset, 3 the limit, 4 only this seq, 5 bytes, 6 whether payloads are left out → number of the queue, and
 * of each, newest first: seq, time, function, error, reason, when it died, attempts, hand-overs, when it first failed,
 * bytes, payload.
 */
export const LIST_DEAD = redisScript(`${PLACES}
local Q = find_queue(ARGV[1])
if not Q then return {0, {}} end
local seqs = {ARGV[4]}
if ARGV[4] == '' then seqs = redis.call('ZREVRANGE', key(Q, 'dead'), ARGV[2], ARGV[2] + ARGV[3] - 1) end
local rows, bytes = {}, 0
for _, seq in ipairs(seqs) do
  local j = job(Q, seq)
  local facts = redis.call('HMGET', j, 'm', 'fn', 'e', 'r', 'x', 'a', 'd', 'ff', 's')
  if facts[9] == 'dead' then
    local size = redis.call('HSTRLEN', j, 'p')
    local payload = ARGV[6] ~= '1' and redis.call('HGET', j, 'p') or ''
    rows[#rows + 1] = {seq, facts[1], facts[2], facts[3], facts[4], facts[5], facts[6], facts[7],
      facts[8] or facts[5], size, payload}
    bytes = bytes + #payload
    if bytes > tonumber(ARGV[5]) and #rows > 1 then break end
  end
end
return {tonumber(Q), rows}`);

/**
 * 1 queue, 2 redrive or discard, 3 only this seq, 4 those that died before, 5 the limit, 6 whether there is another
 * payload, 7 that payload → how many, whether there are more, and before which death to go on.
 */
export const MOVE_DEAD = redisScript(`${GOES_ON}${PLACES}
local Q = find_queue(ARGV[1])
if not Q then return {0, 0, '0'} end
local DEAD = key(Q, 'dead')
local before = ARGV[4] ~= '' and ARGV[4] or whole((redis.call('HGET', key(Q, 'head'), 'death') or 0) + 1)
local seqs = {ARGV[3]}
if ARGV[3] == '' then seqs = redis.call('ZRANGEBYSCORE', DEAD, '-inf', '(' .. before, 'LIMIT', 0, ARGV[5]) end

local function redrive(seq)
  local j, store = job(Q, seq), BASE .. 'store'
  redis.call('HDEL', j, 'e', 'ff', 'r', 'x')
  redis.call('HSET', j, 'a', 0, 'd', 0, 'o', whole(redis.call('HINCRBY', store, 'next_seq', 1)))
  if ARGV[6] == '1' then redis.call('HSET', j, 'p', ARGV[7]) end
  redis.call('HINCRBY', store, 'jobs', 1)
  tally(Q, 'jobs', 1)
  redis.call('ZADD', key(Q, 'all'), seq, seq)
  line_up(Q, seq)
end

local moved = 0
for _, seq in ipairs(seqs) do
  if redis.call('ZREM', DEAD, seq) == 1 then
    moved = moved + 1
    if ARGV[2] == 'redrive' then redrive(seq) else redis.call('DEL', job(Q, seq)) end
  end
end
if moved > 0 then tell(Q) end
return {moved, ARGV[3] == '' and #seqs == tonumber(ARGV[5]) and 1 or 0, before}`);
