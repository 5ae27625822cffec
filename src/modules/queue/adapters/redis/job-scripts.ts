// The two scripts that every job passes: one takes jobs into their queues, each refused or kept (Q1, Q2), the other
// records the outcomes of claimed jobs and claims the next ones.

import type { EnqueueRules, NewJob } from '../../../../core/queue/shapes.ts';
import { redisScript } from '../../../../effects/redis-script.ts';
import type { Placement } from '../new-jobs.ts';
import { GOES_ON, TRANSITIONS } from './transitions-script.ts';

/**
 * 1 whether a refusal of one refuses all, 2 groups; of each group: queue, jobs and dead letters that it may hold, how
 * long it waits for a function, jobs; of each job: facts, function, payload, delay, priority, group, idempotency key,
 * whether it is kept for a subscriber. → number of the change; of each job queue, seq and time; or what is full, and of
 * how many.
 */
export const ENQUEUE = redisScript(`${TRANSITIONS}
local KEY_MS, STORE_JOBS_MAX = 24 * 3600000, 10000000
local at = 2
local function take()
  at = at + 1
  return ARGV[at]
end

local function fullness(q, jobs_max, dead_max)
  local jobs = tonumber(redis.call('HGET', key(q, 'head'), 'jobs') or 0)
  if jobs >= jobs_max then return {0, 'jobs', jobs} end
  local dead = redis.call('ZCARD', key(q, 'dead'))
  if dead >= dead_max then return {0, 'dead', dead} end
  if tonumber(redis.call('HGET', BASE .. 'store', 'jobs') or 0) >= STORE_JOBS_MAX then
    return {0, 'store', STORE_JOBS_MAX}
  end
  return nil
end

local function add(q, ttl, facts, fn, payload, delay, priority, group, known, kept)
  local store = BASE .. 'store'
  local seq = whole(redis.call('HINCRBY', store, 'next_seq', 1))
  local ms = math.max(NOW, tonumber(redis.call('HGET', store, 'last_ms') or 0))
  redis.call('HSET', store, 'last_ms', whole(ms))
  redis.call('HINCRBY', store, 'jobs', 1)
  tally(q, 'jobs', 1)
  local j = job(q, seq)
  redis.call('HSET', j, 'f', facts, 'fn', fn, 'p', payload, 'm', whole(ms), 'a', 0, 'd', 0, 'o', seq)
  if priority ~= '0' then redis.call('HSET', j, 'pr', priority) end
  if group ~= '' then redis.call('HSET', j, 'g', group) end
  redis.call('ZADD', key(q, 'all'), seq, seq)
  if kept == '1' then
    redis.call('HSET', j, 'kept', 1)
    enter_wait(q, seq, 'parked', NOW + ttl)
  else
    line_up(q, seq, delay ~= '0' and NOW + delay or nil)
  end
  if known ~= '' then redis.call('SET', key(q, 'k:' .. known), seq .. ' ' .. whole(ms), 'PX', KEY_MS) end
  return {1, q, seq, whole(ms)}
end

local all_or_none, groups = ARGV[1] == '1', tonumber(ARGV[2])
if all_or_none then
  for _ = 1, groups do
    local q, jobs_max, dead_max = find_queue(take()), tonumber(take()), tonumber(take())
    take()
    at = at + 8 * tonumber(take())
    local full = q and fullness(q, jobs_max, dead_max)
    if full then return {0, {full}} end
  end
  at = 2
end
local answers = {}
for _ = 1, groups do
  local q, jobs_max, dead_max, ttl, count = queue_of(take()), tonumber(take()), tonumber(take()), take(), take()
  local added = false
  for _ = 1, tonumber(count) do
    local facts, fn, payload, delay, priority, group, known, kept =
      take(), take(), take(), take(), take(), take(), take(), take()
    local receipt = known ~= '' and redis.call('GET', key(q, 'k:' .. known))
    local answer
    if receipt then
      local seq, ms = string.match(receipt, '^(%d+) (%d+)$')
      answer = {1, q, seq, ms}
    else
      answer = fullness(q, jobs_max, dead_max)
      if not answer then
        answer = add(q, ttl, facts, fn, payload, delay, priority, group, known, kept)
        added = true
      end
    end
    answers[#answers + 1] = answer
  end
  if added then announce(q) end
end
return {numbered(), answers}`);

/** The operands of one job. */
export type JobArguments = readonly (string | Buffer)[];

export interface GroupOfJobs {
  readonly queue: string;
  readonly rules: EnqueueRules;
  readonly jobs: readonly JobArguments[];
}

type JobOptions = Pick<NewJob, 'facts' | 'delayMs' | 'idempotencyKey' | 'isKept'>;

export function jobArguments(job: JobOptions, { group, priority }: Placement, payload: Buffer): JobArguments {
  const { facts, delayMs = 0, idempotencyKey = '', isKept = false } = job;
  const text = JSON.stringify(facts);
  return [
    text,
    facts.functionId,
    payload,
    String(delayMs),
    String(priority),
    group,
    idempotencyKey,
    isKept ? '1' : '0',
  ];
}

export function batchArguments(groups: readonly GroupOfJobs[], isAllOrNone: boolean): (string | Buffer)[] {
  const operands = groups.flatMap(({ queue, rules, jobs }): (string | Buffer)[] => {
    const limits = [rules.maxJobs, rules.maxDeadLetters, rules.unroutableTtlMs, jobs.length];
    return [queue, ...limits.map(String), ...jobs.flat()];
  });
  return [isAllOrNone ? '1' : '0', String(groups.length), ...operands];
}

/**
 * 1 queue, 2 engine, 3 number of this step, 4 whether it may have been carried out before, 5 jobs to claim,
 * 6 hand-overs that a job may have, 7 how long it waits for a function, 8 bytes to claim, 9 outcomes; of each: seq,
 * token, how, wait, error, reason, whether it never left the engine.
 * → jobs (seq, token, attempt, time, facts, payload), whether there are more, when the next is due, now, outcomes of
 * other hand-overs, jobs that died, number of the queue, number of the change, whether jobs are held back.
 */
export const ADVANCE = redisScript(`${GOES_ON}${TRANSITIONS}
local LOOKED_AT_MAX = 1000
local ENGINE, STEP, IS_REPEAT = ARGV[2], ARGV[3], ARGV[4] == '1'
local Q = queue_of(ARGV[1])
local HEAD, RUNNING = key(Q, 'head'), key(Q, 'running')
local dead_before = redis.call('ZCARD', key(Q, 'dead'))

local function settle(seq, token, how, wait, text, reason, unsent)
  local owner, held = string.match(redis.call('HGET', RUNNING, seq) or '', '^([^ ]*) (%d+)')
  if owner ~= ENGINE or held ~= token then return false end
  redis.call('HDEL', RUNNING, seq)
  local j = job(Q, seq)
  if how == 'done' then
    local group = redis.call('HGET', j, 'g')
    redis.call('DEL', j)
    leave_queue(Q, seq)
    leave_line(Q, seq, group)
    return true
  end
  if unsent == '1' then redis.call('HINCRBY', j, 'd', -1) end
  if text ~= '' then redis.call('HSET', j, 'e', text) end
  if how == 'retry' or how == 'dead' then
    redis.call('HINCRBY', j, 'a', 1)
    redis.call('HSETNX', j, 'ff', whole(NOW))
  end
  if how == 'retry' then enter_wait(Q, seq, 'retrying', NOW + wait)
  elseif how == 'dead' then bury(Q, seq, reason ~= '' and reason or 'failed', text)
  elseif how == 'park' then enter_wait(Q, seq, 'parked', NOW + ARGV[7])
  elseif wait ~= '' then enter_wait(Q, seq, 'delayed', NOW + wait)
  else enter_wait(Q, seq, 'ready') end
  return true
end

local jobs, bytes, looked_at = {}, 0, 0

local function hand_out(seq, token)
  local fields = redis.call('HMGET', job(Q, seq), 'a', 'm', 'f', 'p')
  bytes = bytes + #fields[4]
  jobs[#jobs + 1] = {seq, token, fields[1] + 1, fields[2], fields[3], fields[4]}
end

local function claim(seq, state)
  local j = job(Q, seq)
  leave_wait(Q, seq, state)
  local fields = redis.call('HMGET', j, 'd', 'e')
  if tonumber(fields[1]) >= tonumber(ARGV[6]) then
    local last = '; last error: ' .. (fields[2] or 'none')
    bury(Q, seq, 'poison', 'handed over ' .. fields[1] .. ' times without an end' .. last)
    return
  end
  local token = whole(tally(Q, 'token', 1))
  redis.call('HSET', RUNNING, seq, ENGINE .. ' ' .. token .. ' ' .. STEP)
  redis.call('HSET', j, 's', 'running')
  redis.call('HINCRBY', j, 'd', 1)
  hand_out(seq, token)
end

local function expire(seq)
  leave_wait(Q, seq, 'parked')
  local kept = redis.call('HEXISTS', job(Q, seq), 'kept') == 1
  if kept then bury(Q, seq, 'no_subscriber', 'no function subscribed to the topic in time')
  else bury(Q, seq, 'function_not_found', 'no worker offered the function in time') end
end

local function is_full()
  return #jobs >= tonumber(ARGV[5]) or bytes >= tonumber(ARGV[8]) or looked_at >= LOOKED_AT_MAX
end

-- What runs elsewhere keeps a FIFO queue from this engine (F1).
local function runs_elsewhere()
  if redis.call('HGET', HEAD, 'fifo') ~= '1' then return false end
  for _, value in ipairs(redis.call('HVALS', RUNNING)) do
    if string.match(value, '^[^ ]*') ~= ENGINE then return true end
  end
  return false
end

-- The answer to this very step may have been lost: what it claimed then is claimed.
local function claimed_before()
  local found = redis.call('HGETALL', RUNNING)
  for index = 1, #found, 2 do
    local owner, token, step = string.match(found[index + 1], '^([^ ]*) (%d+) (%d+)$')
    if owner == ENGINE and step == STEP then hand_out(found[index], token) end
  end
  return #jobs > 0
end

local stale, at = 0, 10
for _ = 1, tonumber(ARGV[9]) do
  if not settle(unpack(ARGV, at, at + 6)) then stale = stale + 1 end
  at = at + 7
end
local store = redis.call('HMGET', BASE .. 'store', 'held_back', 'calm_until')
local is_held_back, calm_until = store[1], tonumber(store[2] or 0)
local may_claim = not is_held_back and calm_until <= NOW and redis.call('HGET', HEAD, 'paused') ~= '1'
  and not runs_elsewhere()
if not (IS_REPEAT and claimed_before()) and not is_held_back then
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', key(Q, 'due'), '-inf', NOW, 'LIMIT', 0, LOOKED_AT_MAX)) do
    looked_at = looked_at + 1
    local state = redis.call('HGET', job(Q, seq), 's')
    if state == 'parked' then expire(seq)
    elseif may_claim and not is_full() then claim(seq, state) end
  end
  if may_claim and not is_full() then
    for _, seq in ipairs(redis.call('ZRANGE', key(Q, 'ready'), 0, ARGV[5] - #jobs - 1)) do
      if is_full() then break end
      looked_at = looked_at + 1
      claim(seq, 'ready')
    end
  end
end
local has_ready = redis.call('EXISTS', key(Q, 'ready')) == 1
if has_ready and tonumber(ARGV[9]) > 0 and redis.call('EXISTS', RUNNING) == 0 then announce(Q) end
local due = redis.call('ZRANGE', key(Q, 'due'), 0, 0, 'WITHSCORES')[2] or false
if is_held_back then due = false end
if calm_until > NOW then due = whole(calm_until) end
local died = redis.call('ZCARD', key(Q, 'dead')) - dead_before
local number = 0
if #jobs > 0 or tonumber(ARGV[9]) > 0 then number = numbered() end
return {jobs, has_ready and may_claim and 1 or 0, due, whole(NOW), IS_REPEAT and 0 or stale, died, Q, number,
  is_held_back and 1 or 0}`);
