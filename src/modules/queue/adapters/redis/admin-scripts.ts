// The scripts that open, wake, pause and query queues, list and move dead letters, and renew the lease of an engine.

import { redisScript } from '../../../../effects/redis-script.ts';
import { GOES_ON, TRANSITIONS } from './transitions-script.ts';

/** 1 queue, 2 whether it is FIFO → whether that is refused (K4), and the functions that jobs wait for. */
export const OPEN_QUEUE = redisScript(`${GOES_ON}${TRANSITIONS}
local Q = queue_of(ARGV[1])
local head = redis.call('HMGET', key(Q, 'head'), 'fifo', 'jobs')
local count = tonumber(head[2] or 0) + redis.call('ZCARD', key(Q, 'dead'))
if head[1] and head[1] ~= ARGV[2] and count > 0 then return {1, {}} end
redis.call('HSET', key(Q, 'head'), 'fifo', ARGV[2])
return {0, redis.call('SMEMBERS', key(Q, 'absent'))}`);

/** 1 queue, 2 function, 3 the limit → how many jobs waited for it. */
export const WAKE = redisScript(`${GOES_ON}${TRANSITIONS}
local Q = find_queue(ARGV[1])
if not Q then return 0 end
local seqs = redis.call('ZRANGE', key(Q, 'w:' .. ARGV[2]), 0, ARGV[3] - 1)
for _, seq in ipairs(seqs) do
  leave_wait(Q, seq, 'parked')
  enter_wait(Q, seq, 'ready')
end
if #seqs > 0 then announce(Q) end
return #seqs`);

/** 1 queue → the functions that its jobs wait for, if another engine may have parked them. */
export const PARKED = redisScript(`${TRANSITIONS}
local Q = find_queue(ARGV[1])
if not Q or redis.call('ZCARD', BASE .. 'engines') < 2 then return {} end
return redis.call('SMEMBERS', key(Q, 'absent'))`);

/** 1 queue, 2 whether it is paused. */
export const PAUSE = redisScript(`${GOES_ON}${TRANSITIONS}
local Q = queue_of(ARGV[1])
redis.call('HSET', key(Q, 'head'), 'paused', ARGV[2])
announce(Q)`);

/** → of each queue: name, whether it is paused, jobs by state. */
export const STATS = redisScript(`${TRANSITIONS}
local rows = {}
for q = 1, tonumber(redis.call('HGET', BASE .. 'store', 'next_queue') or 0) do
  local head = redis.call('HMGET', key(q, 'head'), 'name', 'paused', 'blocked', 'delayed', 'retrying', 'parked')
  local ready, running = redis.call('ZCARD', key(q, 'ready')), redis.call('HLEN', key(q, 'running'))
  rows[#rows + 1] = {head[1], head[2] or '0', ready, head[3] or '0', head[4] or '0', head[5] or '0', head[6] or '0',
    running, redis.call('ZCARD', key(q, 'dead'))}
end
return rows`);

const ROW = `
local function row(q, seq)
  local j = job(q, seq)
  local fields = redis.call('HMGET', j, 'm', 'fn', 's', 'a', 'du', 'e')
  if not fields[1] then return nil end
  return {seq, fields[1], fields[2], fields[3], fields[4], redis.call('HSTRLEN', j, 'p'), fields[5], fields[6],
    redis.call('HGET', key(q, 'head'), 'name')}
end
`;

/** 1 number of a queue, 2 seq → seq, time, function, state, attempts, bytes, due, error, queue. */
export const FIND_JOB = redisScript(`${TRANSITIONS}${ROW}
return row(ARGV[1], ARGV[2])`);

/** 1 queue, 2 after which seq, 3 the limit → number of the queue, and a row of each. */
export const LIST_JOBS = redisScript(`${TRANSITIONS}${ROW}
local Q = find_queue(ARGV[1])
if not Q then return {0, {}} end
local rows = {}
for _, seq in ipairs(redis.call('ZRANGEBYSCORE', key(Q, 'all'), '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])) do
  rows[#rows + 1] = row(Q, seq)
end
return {tonumber(Q), rows}`);

/**
 * 1 engine, 2 its lease. Jobs of engines whose lease has ended go back → the queues they are in, in how many
 * milliseconds the next lease of another engine ends, and whether jobs are held back.
 */
export const RENEW_LEASE = redisScript(`${GOES_ON}${TRANSITIONS}
local ENGINES = BASE .. 'engines'
redis.call('ZADD', ENGINES, whole(NOW + ARGV[2]), ARGV[1])
local changed = {}
for _, engine in ipairs(redis.call('ZRANGEBYSCORE', ENGINES, '-inf', whole(NOW))) do
  for _, name in ipairs(give_back(engine)) do changed[#changed + 1] = name end
  redis.call('ZREM', ENGINES, engine)
end
local ends = redis.call('ZRANGE', ENGINES, 0, 1, 'WITHSCORES')
local left = ends[1] == ARGV[1] and ends[4] or ends[2]
return {changed, math.max(0, math.floor(left - NOW)), redis.call('HEXISTS', BASE .. 'store', 'held_back')}`);

/** 1 engine: it ends, and leaves its unfinished jobs to others. */
export const END_LEASE = redisScript(`${GOES_ON}${TRANSITIONS}
give_back(ARGV[1])
redis.call('ZREM', BASE .. 'engines', ARGV[1])`);

/**
 * 1 from, 2 to, 3 function, 4 the limit, 5 group, 6 jobs and 7 dead letters that the second may hold: what was kept for
 * a subscriber becomes its jobs, in order. Messages that do not fit stay where they are.
 */
export const MOVE_KEPT = redisScript(`${GOES_ON}${TRANSITIONS}
local from = find_queue(ARGV[1])
if not from then return 0 end
local to = queue_of(ARGV[2])
local capacity = ARGV[6] - tonumber(redis.call('HGET', key(to, 'head'), 'jobs') or 0)
if redis.call('ZCARD', key(to, 'dead')) >= tonumber(ARGV[7]) then capacity = 0 end
local most = math.min(tonumber(ARGV[4]), capacity)
if most <= 0 then return 0 end
local seqs = redis.call('ZRANGE', key(from, 'due'), 0, most - 1)
-- Those of one millisecond come in the order of their texts.
table.sort(seqs, function(one, other) return tonumber(one) < tonumber(other) end)
for _, seq in ipairs(seqs) do
  leave_wait(from, seq, 'parked')
  redis.call('ZREM', key(from, 'all'), seq)
  tally(from, 'jobs', -1)
  local j, moved = job(to, seq), whole(redis.call('HINCRBY', BASE .. 'store', 'next_seq', 1))
  redis.call('RENAME', job(from, seq), j)
  local header = cjson.decode(redis.call('HGET', j, 'f'))
  header.functionId = ARGV[3]
  redis.call('HSET', j, 'f', cjson.encode(header), 'fn', ARGV[3], 'o', moved)
  redis.call('HDEL', j, 'kept')
  if ARGV[5] ~= '' then redis.call('HSET', j, 'g', ARGV[5]) end
  redis.call('ZADD', key(to, 'all'), seq, seq)
  tally(to, 'jobs', 1)
  line_up(to, seq)
end
if #seqs > 0 then announce(to) end
return #seqs`);

/**
 * 1 queue, 2 offset, 3 the limit, 4 only this seq, 5 bytes, 6 whether payloads are left out → number of the queue, and
 * of each, newest first: seq, time, function, error, reason, when it died, attempts, hand-overs, when it first failed,
 * bytes, payload.
 */
export const LIST_DEAD = redisScript(`${TRANSITIONS}
local Q = find_queue(ARGV[1])
if not Q then return {0, {}} end
local seqs = {ARGV[4]}
if ARGV[4] == '' then seqs = redis.call('ZREVRANGE', key(Q, 'dead'), ARGV[2], ARGV[2] + ARGV[3] - 1) end
local rows, bytes = {}, 0
for _, seq in ipairs(seqs) do
  local j = job(Q, seq)
  local fields = redis.call('HMGET', j, 'm', 'fn', 'e', 'r', 'x', 'a', 'd', 'ff', 's')
  if fields[9] == 'dead' then
    local size = redis.call('HSTRLEN', j, 'p')
    local payload = ARGV[6] ~= '1' and redis.call('HGET', j, 'p') or ''
    rows[#rows + 1] = {seq, fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7],
      fields[8] or fields[5], size, payload}
    bytes = bytes + #payload
    if bytes > tonumber(ARGV[5]) and #rows > 1 then break end
  end
end
return {tonumber(Q), rows}`);

/**
 * 1 queue, 2 redrive or discard, 3 only this seq, 4 those that died before, 5 the limit, 6 whether there is another
 * payload, 7 that payload → how many, whether there are more, and before which death to continue.
 */
export const MOVE_DEAD = redisScript(`${GOES_ON}${TRANSITIONS}
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
if moved > 0 then announce(Q) end
return {moved, ARGV[3] == '' and #seqs == tonumber(ARGV[5]) and 1 or 0, before}`);
