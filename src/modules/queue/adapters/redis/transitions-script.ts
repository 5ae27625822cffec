// The place of a job in Redis, and its moves from one place to another: the part that all scripts share.
//
// Keys, all of them below `<prefix>queue:` (`BASE`); `n` is the number of a queue, `seq` that of a job:
//   store    hash: v, salt, next_seq, last_ms, next_queue, jobs      names    hash: name of a queue → n
//   engines  sorted set: engines by the end of their lease            subs     hash: subscriptions of topics
//   n:head   hash: name, fifo, paused, token, death, jobs, and how many are blocked, delayed, retrying, parked
//   n:j:seq  hash: the job          n:all    sorted set: jobs by number, dead letters aside
//   n:ready  sorted set by priority and place in line   n:due    sorted set by time: delayed, retrying, parked
//   n:running  hash: seq → engine, token and step of the hand-over     n:dead   sorted set by order of death
//   n:g:…    sorted set: line of a FIFO group    n:w:…  sorted set: what waits for a function, named in n:absent
//   n:k:…    text: receipt under an idempotency key
// Fields of a job: f facts, fn its function, p payload, m enqueued at, s state, a attempts, d hand-overs, o place in
// line, pr priority, g group, e error, ff first failure, du due, kept, r reason and x time of its death.
//
// Invariants:
//   - A job is in exactly the sets that its state requires; every script moves it as a whole.
//   - Only the head of a FIFO group is ready, due, parked or running; all later jobs are blocked (F2).
//   - Times are those of Redis, so that engines whose clocks differ agree about what is due.
//
// A script that is out of memory fails before its first change. One that must not fail begins with `GOES_ON`: after a
// write that needs no memory, Redis refuses none of the following.

export const GOES_ON = "redis.call('DEL', KEYS[1] .. 'nothing')\n";

export const TRANSITIONS = `
local BASE = KEYS[1]
local clock = redis.call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function whole(number)
  return string.format('%.0f', number)
end

local function key(q, kind)
  return BASE .. q .. ':' .. kind
end

local function job(q, seq)
  return BASE .. q .. ':j:' .. seq
end

local function tally(q, field, by)
  return redis.call('HINCRBY', key(q, 'head'), field, by)
end

-- Every change that is answered has a number: see timeline-scripts.ts.
local function numbered()
  return redis.call('HINCRBY', BASE .. 'store', 'steps', 1)
end

local function find_queue(name)
  return redis.call('HGET', BASE .. 'names', name)
end

local function queue_of(name)
  local q = find_queue(name)
  if q then return q end
  q = whole(redis.call('HINCRBY', BASE .. 'store', 'next_queue', 1))
  redis.call('HSET', BASE .. 'names', name, q)
  redis.call('HSET', key(q, 'head'), 'name', name)
  return q
end

-- Engines that did not do it themselves learn that there may be something to claim.
local function announce(q)
  if redis.call('ZCARD', BASE .. 'engines') < 2 then return end
  redis.call('PUBLISH', BASE .. 'news', redis.call('HGET', key(q, 'head'), 'name'))
end

local function enter_wait(q, seq, state, due)
  local j = job(q, seq)
  redis.call('HSET', j, 's', state)
  if state == 'ready' then
    local fields = redis.call('HMGET', j, 'pr', 'o')
    redis.call('ZADD', key(q, 'ready'), whole((255 - (fields[1] or 0)) * 2 ^ 44 + fields[2]), seq)
    return
  end
  tally(q, state, 1)
  if not due then return end
  redis.call('HSET', j, 'du', whole(due))
  if state == 'blocked' then return end
  redis.call('ZADD', key(q, 'due'), whole(due), seq)
  if state ~= 'parked' then return end
  local fn = redis.call('HGET', j, 'fn')
  redis.call('ZADD', key(q, 'w:' .. fn), seq, seq)
  redis.call('SADD', key(q, 'absent'), fn)
end

local function leave_wait(q, seq, state)
  local j = job(q, seq)
  if state == 'ready' then
    redis.call('ZREM', key(q, 'ready'), seq)
    return
  end
  tally(q, state, -1)
  redis.call('ZREM', key(q, 'due'), seq)
  redis.call('HDEL', j, 'du')
  if state ~= 'parked' then return end
  local fn = redis.call('HGET', j, 'fn')
  redis.call('ZREM', key(q, 'w:' .. fn), seq)
  if redis.call('EXISTS', key(q, 'w:' .. fn)) == 0 then redis.call('SREM', key(q, 'absent'), fn) end
end

-- At the end of the line of its group, or into the open where there is none.
local function line_up(q, seq, due)
  local fields = redis.call('HMGET', job(q, seq), 'g', 'o')
  local state = due and 'delayed' or 'ready'
  if fields[1] then
    local line = key(q, 'g:' .. fields[1])
    if redis.call('EXISTS', line) == 1 then state = 'blocked' end
    redis.call('ZADD', line, fields[2], seq)
  end
  enter_wait(q, seq, state, due)
end

-- The job has left the queue for good, or is a dead letter: the next of its group comes up.
local function leave_line(q, seq, group)
  if not group then return end
  local line = key(q, 'g:' .. group)
  redis.call('ZREM', line, seq)
  local following = redis.call('ZRANGE', line, 0, 0)[1]
  if not following then return end
  local fields = redis.call('HMGET', job(q, following), 's', 'du')
  if fields[1] ~= 'blocked' then return end
  leave_wait(q, following, 'blocked')
  local due = tonumber(fields[2] or 0)
  if due > NOW then enter_wait(q, following, 'delayed', due) else enter_wait(q, following, 'ready') end
end

local function leave_queue(q, seq)
  redis.call('ZREM', key(q, 'all'), seq)
  tally(q, 'jobs', -1)
  redis.call('HINCRBY', BASE .. 'store', 'jobs', -1)
end

local function bury(q, seq, reason, text)
  local j = job(q, seq)
  local group = redis.call('HGET', j, 'g')
  redis.call('HSET', j, 's', 'dead', 'r', reason, 'e', text, 'x', whole(NOW))
  redis.call('ZADD', key(q, 'dead'), whole(tally(q, 'death', 1)), seq)
  leave_queue(q, seq)
  leave_line(q, seq, group)
end

-- What an engine was handed and has not reported the end of goes back, without an attempt. Answers the queues.
local function give_back(engine)
  local names = {}
  local last = tonumber(redis.call('HGET', BASE .. 'store', 'next_queue') or 0)
  for q = 1, last do
    local found = redis.call('HGETALL', key(q, 'running'))
    local moved = false
    for index = 1, #found, 2 do
      if string.match(found[index + 1], '^[^ ]*') == engine then
        redis.call('HDEL', key(q, 'running'), found[index])
        enter_wait(q, found[index], 'ready')
        moved = true
      end
    end
    if moved then
      names[#names + 1] = redis.call('HGET', key(q, 'head'), 'name')
      announce(q)
    end
  end
  return names
end
`;
