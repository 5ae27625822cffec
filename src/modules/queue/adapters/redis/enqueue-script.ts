// Jobs enter their queues, each refused or kept (Q1, Q2).

import type { EnqueueRules, NewJob } from '../../../../core/queue/shapes.ts';
import { redisScript } from '../../../../effects/redis-script.ts';
import type { Placement } from '../placement.ts';
import { PLACES } from './places-script.ts';

/**
 * 1 whether a refusal of one refuses all, 2 groups; of each group: queue, jobs and dead letters that it may hold, how
 * long it waits for a function, jobs; of each job: facts, function, payload, delay, priority, group, idempotency key,
 * whether it is kept for a subscriber. → of each job queue, seq and time; or what is full, and of how many.
 */
export const ENQUEUE = redisScript(`${PLACES}
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
    place(q, seq, 'parked', NOW + ttl)
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
    if full then return {full} end
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
  if added then tell(q) end
end
return answers`);

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
