// The Redis scripts of the outbox: jobs of changes that wait for their way to a queue (S5). The scripts that change
// entries and items write them in the same step (`JOBS`).
//
// The keys: the entries, scored by their numbers, and the last number. An entry is its number, its queue as JSON and
// its head as JSON, one line each; then the epoch and the number of the change, how many bytes the old value has
// (-1: there was none), and both values.

import { type RedisScript, redisScript } from '../../effects/redis-script.ts';

/** A change in two forms: the one without jobs takes a third less time. */
export interface ChangeScript {
  readonly plain: RedisScript;
  readonly withJobs: RedisScript;
}

/** Lua texts; all empty for the form without jobs. */
interface JobSteps {
  /** Definitions. */
  readonly define: string;
  /** Ends the script with -1 and the reasons if jobs cannot be kept. `unless`: a condition for an exception. */
  judge(size: string, unless?: string): string;
  keep(values: { readonly epoch: string; readonly seq: string; readonly old: string; readonly new: string }): string;
  /** What is added to the answer. */
  readonly judged: string;
}

/** `args`: how many arguments the script has without jobs. */
export function changeScript(args: number, text: (jobs: JobSteps) => string): ChangeScript {
  const nothing: JobSteps = { define: '', judge: () => '', keep: () => '', judged: '' };
  const steps: JobSteps = {
    define: JOBS,
    judge: (size, unless = 'false') => `
local fits, judged = judge_jobs(${args + 1}, ${size})
if not fits and not (${unless}) then return {-1, judged} end`,
    keep: ({ epoch, seq, old, new: after }) =>
      `keep_jobs(${args + 1}, judged, ${epoch} .. '\\n' .. ${seq}, ${old}, ${after})`,
    judged: ', judged',
  };
  return { plain: redisScript(text(nothing)), withJobs: redisScript(text(steps)) };
}

/**
 * The arguments of jobs, from `at` on: how many entries the outbox may have, then for each job how many bytes its
 * values may have, its queue and its head. The last two keys are those of the outbox.
 */
const JOBS = `
-- The JSON of a value, without the name of its write.
local function json_of(record)
  return record and string.sub(record, string.find(record, ' ', 1, true) + 1)
end

-- A value that is missing is written as null.
local function json_size(record)
  return record and #record - string.find(record, ' ', 1, true) or 4
end

-- Why jobs of a change with so many bytes cannot be kept: '' for each that can.
local function judge_jobs(at, size)
  local found, fits = {}, true
  local is_full = redis.call('ZCARD', KEYS[#KEYS - 1]) >= tonumber(ARGV[at])
  for index = at + 1, #ARGV, 3 do
    local why = (is_full and 'full') or (size > tonumber(ARGV[index]) and 'large') or ''
    found[#found + 1] = why
    fits = fits and why == ''
  end
  return fits, found
end

local function keep_jobs(at, judged, moment, old, new)
  local values = moment .. '\\n' .. (old and #old or -1) .. '\\n' .. (old or '') .. (new or '')
  for index, why in ipairs(judged) do
    if why == '' then
      local first = at + 1 + (index - 1) * 3
      local number = string.format('%.0f', redis.call('INCR', KEYS[#KEYS]))
      local entry = number .. '\\n' .. ARGV[first + 1] .. '\\n' .. ARGV[first + 2] .. '\\n' .. values
      redis.call('ZADD', KEYS[#KEYS - 1], number, entry)
    end
  end
end
`;

/**
 * Keys: entries, lease. Arguments: the last number that was seen, how many entries may be looked at, how many jobs and
 * bytes are returned, holder, milliseconds of the lease, then queues that are skipped, as JSON.
 *
 * → 0: another engine has a page in hand. Otherwise the last number looked at, whether there may be more, and entries:
 * if there are any, the holder has the lease until it drops the page.
 */
export const OLDEST_JOBS = redisScript(`
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[5] then return 0 end
local skipped = {}
for index = 7, #ARGV do skipped[ARGV[index]] = true end
local found, bytes, looked, last, more = {}, 0, 0, ARGV[1], 0
while true do
  local entry = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. last, '+inf', 'LIMIT', 0, 1)[1]
  if not entry then break end
  local number, queue = string.match(entry, '^(%d+)\\n([^\\n]*)\\n')
  last = number
  looked = looked + 1
  if not skipped[queue] then
    found[#found + 1] = entry
    bytes = bytes + #entry
  end
  if looked >= tonumber(ARGV[2]) or #found >= tonumber(ARGV[3]) or bytes >= tonumber(ARGV[4]) then
    more = 1
    break
  end
end
if #found > 0 then redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6]) end
return {last, more, found}`);

/** Keys: entries, lease. Arguments: holder, then the numbers of entries whose jobs are durable in their queues. */
export const DROP_JOBS = redisScript(`
for index = 2, #ARGV do redis.call('ZREMRANGEBYSCORE', KEYS[1], ARGV[index], ARGV[index]) end
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1`);

export const OUTBOX_SCRIPTS = [OLDEST_JOBS, DROP_JOBS];
