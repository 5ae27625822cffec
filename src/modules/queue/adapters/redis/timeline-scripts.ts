// The scripts that notice a Redis that went back in time, and that resume its queues (R7).
//
// Every change that Redis answers to an engine has a number, `steps` in `store`. A period is the time between two
// starts of Redis, or two hosts of it; `periods` has the number at which each one ended. An engine keeps the period and
// the number of the last answer, and reports both on every new connection: a number above the end of its period was
// forgotten. From then on `held_back` in `store` holds back all jobs, until a person resumes them.
//
// Keys, in addition to those of `transitions-script.ts`:
//   store    also: run, period, steps, born, held_back, missing, calm_until
//   periods  sorted set: period → its last number
//   lost     set: the periods of which something is missing
//   again    hash: `queue seq` → how, time of the job, engine: jobs of which an engine knows that they ran
//   held     hash: `queue seq` → engine and token: hand-overs that an engine knows as this Redis does
//   reports  hash: engine → when it last reported the jobs that it remembers

import { redisScript } from '../../../../effects/redis-script.ts';
import { GOES_ON, TRANSITIONS } from './transitions-script.ts';

/** Periods that are remembered: an engine that was away for longer counts as one that knows more. */
const PERIODS_MAX = 1_000;
/** No hand-over of before can be mistaken for one of after, although the numbers between were forgotten. */
const TOKENS_SKIPPED = 1_000_000_000;

/**
 * 1 engine, 2 an id that no period has, 3 and 4 the period and the number of the last answer to it, or empty,
 * 5 format and 6 salt of the store, if this engine knows them, 7 how long other engines may need to connect, 8 the time
 * of the last answer. → period, number, now, whether jobs are held back, how many numbers are missing, salt.
 */
export const REPORT = redisScript(`${GOES_ON}${TRANSITIONS}
local STORE, PERIODS = BASE .. 'store', BASE .. 'periods'
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or 'hidden'
local known = redis.call('HMGET', STORE, 'run', 'period', 'steps', 'held_back', 'jobs', 'v', 'next_seq', 'born')
local period, steps, jobs, born = known[2], tonumber(known[3] or 0), tonumber(known[5] or 0), tonumber(known[8])
-- A store that has jobs, and no birth, is one of a version before births.
if not born then
  born = (known[6] and known[7]) and 0 or NOW
  redis.call('HSET', STORE, 'born', whole(born))
end
if ARGV[6] ~= '' then
  redis.call('HSETNX', STORE, 'v', ARGV[5])
  redis.call('HSETNX', STORE, 'salt', ARGV[6])
end

local function begin_period()
  if period then redis.call('ZADD', PERIODS, whole(steps), period) end
  redis.call('ZREMRANGEBYRANK', PERIODS, 0, -${PERIODS_MAX + 1})
  period = ARGV[2]
  redis.call('HSET', STORE, 'run', run, 'period', period)
end

local is_new = known[1] ~= run
if is_new then
  begin_period()
  local engines = redis.call('ZCARD', BASE .. 'engines')
  if redis.call('ZSCORE', BASE .. 'engines', ARGV[1]) then engines = engines - 1 end
  if engines > 0 then redis.call('HSET', STORE, 'calm_until', whole(NOW + ARGV[7])) end
end

local missing = 0
if ARGV[3] == period then missing = ARGV[4] - steps
elseif ARGV[3] ~= '' then
  local ended = redis.call('ZSCORE', PERIODS, ARGV[3])
  if ended then missing = ARGV[4] - ended else missing = math.max(1, ARGV[4] - steps) end
end
-- All jobs of a store that was emptied since are new ones.
if missing > 0 and jobs > 0 and born <= tonumber(ARGV[8]) then
  redis.call('SADD', BASE .. 'lost', ARGV[3])
  if not known[4] then
    if not is_new then begin_period() end
    redis.call('HSET', STORE, 'held_back', whole(NOW))
    for q = 1, tonumber(redis.call('HGET', STORE, 'next_queue') or 0) do
      tally(q, 'token', ${TOKENS_SKIPPED})
      announce(q)
    end
  end
  local so_far = tonumber(redis.call('HGET', STORE, 'missing') or 0)
  redis.call('HSET', STORE, 'missing', whole(math.max(so_far, missing)))
end
local is_held_back = redis.call('HEXISTS', STORE, 'held_back')
local salt = redis.call('HGET', STORE, 'salt')
return {period, whole(steps), whole(NOW), is_held_back, whole(math.max(0, missing)), salt}`);

/**
 * 1 engine, 2 whether this begins its report, jobs of which it knows more than this Redis might; of each: queue, seq,
 * time, how, and the token of its hand-over, if it runs. Those that this Redis would run again are kept. → whether jobs
 * are held back.
 */
export const REMEMBER = redisScript(`${GOES_ON}${TRANSITIONS}
if redis.call('HEXISTS', BASE .. 'store', 'held_back') == 0 then return 0 end
local AGAIN, HELD, ENGINE = BASE .. 'again', BASE .. 'held', ARGV[1]
if ARGV[2] == '1' then
  for _, name in ipairs({AGAIN, HELD}) do
    local all = redis.call('HGETALL', name)
    for index = 1, #all, 2 do
      if string.find(all[index + 1], ENGINE, 1, true) then redis.call('HDEL', name, all[index]) end
    end
  end
  redis.call('HSET', BASE .. 'reports', ENGINE, whole(NOW))
end
for at = 3, #ARGV, 5 do
  local q, seq, time, how, token = unpack(ARGV, at, at + 4)
  local fields = redis.call('HMGET', job(q, seq), 'm', 's')
  local is_here = fields[1] == time and fields[2] ~= 'dead'
  -- Its hand-over is known here, so that its outcome will be accepted.
  local holder = ENGINE .. ' ' .. token .. ' '
  local is_held = string.sub(redis.call('HGET', key(q, 'running'), seq) or '', 1, #holder) == holder
  if is_here and is_held then redis.call('HSET', HELD, q .. ' ' .. seq, holder)
  elseif is_here then redis.call('HSET', AGAIN, q .. ' ' .. seq, how .. ' ' .. time .. ' ' .. ENGINE) end
end
return 1`);

/**
 * 1 the limit of listed jobs → since when jobs are held back, numbers missing, jobs in all; engines whose lease runs,
 * each with whether it has reported; how many would run again, and of each: queue, seq, time, function, how.
 */
export const RECOVERY = redisScript(`${TRANSITIONS}
local known = redis.call('HMGET', BASE .. 'store', 'held_back', 'missing', 'jobs')
local engines = {}
for _, engine in ipairs(redis.call('ZRANGEBYSCORE', BASE .. 'engines', '(' .. whole(NOW), '+inf')) do
  engines[#engines + 1] = {engine, redis.call('HEXISTS', BASE .. 'reports', engine)}
end
local all, rows, total = redis.call('HGETALL', BASE .. 'again'), {}, 0
for index = 1, #all, 2 do
  local q, seq = string.match(all[index], '^(%d+) (%d+)$')
  local how, time = string.match(all[index + 1], '^([^ ]*) (%d+)')
  local fields = redis.call('HMGET', job(q, seq), 'm', 'fn', 's')
  if fields[1] == time and fields[3] ~= 'dead' then
    total = total + 1
    if total <= tonumber(ARGV[1]) then
      rows[#rows + 1] = {redis.call('HGET', key(q, 'head'), 'name'), q, seq, time, fields[2], how}
    end
  end
end
return {known[1], known[2] or '0', known[3] or '0', engines, total, rows}`);

/**
 * 1 the limit: discards jobs that are done and would run again. Those that still run stay, because they may fail.
 * → how many, whether there are more.
 */
export const DISCARD_AGAIN = redisScript(`${GOES_ON}${TRANSITIONS}
local AGAIN = BASE .. 'again'
local function discard(q, seq)
  local j = job(q, seq)
  local fields = redis.call('HMGET', j, 's', 'g')
  if fields[1] == 'running' then redis.call('HDEL', key(q, 'running'), seq)
  else leave_wait(q, seq, fields[1]) end
  redis.call('DEL', j)
  leave_queue(q, seq)
  leave_line(q, seq, fields[2])
end

local names, discarded = redis.call('HKEYS', AGAIN), 0
for index = 1, math.min(#names, tonumber(ARGV[1])) do
  local q, seq = string.match(names[index], '^(%d+) (%d+)$')
  local time = string.match(redis.call('HGET', AGAIN, names[index]), '^done (%d+)')
  local fields = redis.call('HMGET', job(q, seq), 'm', 's')
  if time and fields[1] == time and fields[2] ~= 'dead' then
    discard(q, seq)
    discarded = discarded + 1
  end
  redis.call('HDEL', AGAIN, names[index])
end
return {discarded, #names > tonumber(ARGV[1]) and 1 or 0}`);

/**
 * Jobs are handed over again, also those that an engine has been handed according to this Redis alone. What is missing
 * is not reported a second time.
 */
export const RESUME = redisScript(`${GOES_ON}${TRANSITIONS}
local function give_up_unknown(q)
  local found = redis.call('HGETALL', key(q, 'running'))
  for index = 1, #found, 2 do
    local seq, holder = found[index], string.match(found[index + 1], '^([^ ]* %d+ )')
    local has_reported = redis.call('HEXISTS', BASE .. 'reports', string.match(holder, '^[^ ]*')) == 1
    if has_reported and redis.call('HGET', BASE .. 'held', q .. ' ' .. seq) ~= holder then
      redis.call('HDEL', key(q, 'running'), seq)
      enter_wait(q, seq, 'ready')
    end
  end
end

redis.call('HDEL', BASE .. 'store', 'held_back', 'missing')
for _, period in ipairs(redis.call('SMEMBERS', BASE .. 'lost')) do
  redis.call('ZADD', BASE .. 'periods', 'inf', period)
end
for q = 1, tonumber(redis.call('HGET', BASE .. 'store', 'next_queue') or 0) do
  give_up_unknown(q)
  announce(q)
end
redis.call('DEL', BASE .. 'lost', BASE .. 'again', BASE .. 'held', BASE .. 'reports')`);
