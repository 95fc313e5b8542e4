// Each operation is one script: Redis runs a script alone and logs its changes together. All of them can be sent twice,
// since a client sends a command again if the connection was lost before its answer: the second one changes nothing.
//
// The state of a job is a text: `w|<lost>|` waits, `p|<lost>|<token>` is played, `s|<key>|<token>` is sealed by the
// result of that key. A token is `<worker>:<number>`, one for each time that a worker takes a job.

/** The clock of Redis, in milliseconds, so that those of coordinators and workers need not agree. */
const NOW = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`

const STATE = `
local function stateOf(jobs, job)
  local state = redis.call('HGET', jobs, job)
  if not state then return nil end
  return string.match(state, '^(%a)|([^|]*)|(.*)$')
end
`

/** Only the coordinator that holds the lease changes what a run has in the queue. */
const FENCE = `
local function isHeld(lease, token)
  return redis.call('HGET', lease, 'token') == token
end
`

/** Adds to a list the descriptions of the workers that are alive, and forgets the others. */
const WORKERS = `
local function liveWorkers(workers, infos)
  local gone = redis.call('ZRANGEBYSCORE', workers, '-inf', now())
  for _, id in ipairs(gone) do
    redis.call('ZREM', workers, id)
    redis.call('HDEL', infos, id)
  end
  return redis.call('HVALS', infos)
end
`

/**
 * `taken` with the time at which it was, `held` with who holds the lease, or `differs` where the run of that id is
 * another one.
 *
 * A coordinator that had the lease since some time takes it again: a Redis that crashed may have lost it, or brought
 * back that of an earlier coordinator. A later one has it since a later time.
 */
const COORDINATE = `${NOW}
local runs, lease = unpack(KEYS)
local run, digest, announcement, elapsed, token, host, pid, processes, duration, ended, since = unpack(ARGV)
local time = now()
local held = redis.call('HMGET', lease, 'token', 'until', 'host', 'pid', 'processes', 'since')
if held[1] and held[1] ~= token then
  local isOver = held[1] == ended or tonumber(held[2]) <= time
  if since ~= '' then isOver = tonumber(held[6]) < tonumber(since) end
  if not isOver then return {'held', held[1], held[2], held[3], held[4], held[5]} end
end
if since == '' then since = tostring(time) end
local kept = redis.call('HGET', runs, run)
if kept and string.match(kept, '^%S+ (%S+) ') ~= digest then return {'differs'} end
redis.call('HSET', lease, 'token', token, 'until', time + duration, 'since', since)
redis.call('HSET', lease, 'host', host, 'pid', pid, 'processes', processes)
if held[1] ~= token then redis.call('HDEL', lease, 'life') end
if not kept or held[1] ~= token then
  redis.call('HSET', runs, run, string.format('%d %s %s', time - elapsed, digest, announcement))
end
return {'taken', since}
`

/** The workers that are alive; 0 if the coordinator does not hold the lease. */
const RENEW_LEASE = `${NOW}${WORKERS}${FENCE}
local lease, workers, infos = unpack(KEYS)
local token, duration, life = unpack(ARGV)
if not isHeld(lease, token) then return 0 end
redis.call('HSET', lease, 'until', now() + duration, 'life', life)
return liveWorkers(workers, infos)
`

/** The ids of those jobs that have no result. */
const ADD_JOBS = `${STATE}${FENCE}
local jobs, lease, account = unpack(KEYS)
if not isHeld(lease, ARGV[1]) then return 0 end
local open = {}
for i = 2, #ARGV do
  local kind = stateOf(jobs, ARGV[i])
  if not kind then
    redis.call('HSET', jobs, ARGV[i], 'w|0|')
    redis.call('HINCRBY', account, 'added', 1)
  end
  if kind ~= 's' then table.insert(open, ARGV[i]) end
end
return open
`

/** For each job, how many plays of it ended with their worker, or -1 if there is nothing to play. */
const BEGIN_JOBS = `${NOW}${STATE}
local jobs, workers, account = unpack(KEYS)
local function begin(job, token)
  local kind, lost, holder = stateOf(jobs, job)
  if not kind or kind == 's' then return -1 end
  if kind == 'p' and holder ~= token then
    local aliveUntil = redis.call('ZSCORE', workers, string.match(holder, '^(.-):'))
    if not aliveUntil or tonumber(aliveUntil) <= now() then
      lost = lost + 1
      redis.call('HINCRBY', account, 'lost', 1)
    end
  end
  redis.call('HSET', jobs, job, string.format('p|%d|%s', lost, token))
  return tonumber(lost)
end
local begun = {}
for i = 1, #ARGV, 2 do table.insert(begun, begin(ARGV[i], ARGV[i + 1])) end
return begun
`

const REPORT_JOB = `${STATE}
local jobs, results = unpack(KEYS)
local job, token, text = unpack(ARGV)
local kind, _, holder = stateOf(jobs, job)
if kind ~= 'p' or holder ~= token then return 0 end
redis.call('XADD', results, '*', 'job', job, 'text', text)
return 1
`

/** For each job, 1 if its result was accepted, and 0 if another worker has begun it, or it was removed. */
const SEAL_JOBS = `${STATE}
local jobs, results, account = unpack(KEYS)
local function seal(job, token, text)
  local kind, _, holder = stateOf(jobs, job)
  if kind == 's' and holder == token then return 1 end
  if kind ~= 'p' or holder ~= token then
    -- A run that was removed stays so.
    if redis.call('EXISTS', account) == 1 then redis.call('HINCRBY', account, 'fenced', 1) end
    return 0
  end
  local key = redis.call('XADD', results, '*', 'job', job, 'text', text)
  redis.call('HSET', jobs, job, 's|' .. key .. '|' .. token)
  redis.call('HINCRBY', account, 'sealed', 1)
  return 1
end
local sealed = {}
for i = 1, #ARGV, 3 do table.insert(sealed, seal(ARGV[i], ARGV[i + 1], ARGV[i + 2])) end
return sealed
`

const GIVE_BACK = `${STATE}
local job, token = unpack(ARGV)
local kind, lost, holder = stateOf(KEYS[1], job)
if kind == 'p' and holder == token then redis.call('HSET', KEYS[1], job, 'w|' .. lost .. '|') end
return 1
`

const ACKNOWLEDGE = `${STATE}${FENCE}
local jobs, results, lease = unpack(KEYS)
if not isHeld(lease, ARGV[1]) then return 0 end
for i = 2, #ARGV, 2 do
  local job, key = ARGV[i], ARGV[i + 1]
  redis.call('XDEL', results, key)
  local kind, by = stateOf(jobs, job)
  if kind == 's' and by == key then redis.call('HDEL', jobs, job) end
end
return 1
`

/** How many jobs that no worker has begun were removed, or -1. */
const WITHDRAW = `${STATE}${FENCE}
local jobs, lease, account = unpack(KEYS)
if not isHeld(lease, ARGV[1]) then return -1 end
local withdrawn = 0
for _, job in ipairs(redis.call('HKEYS', jobs)) do
  if stateOf(jobs, job) == 'w' then
    redis.call('HDEL', jobs, job)
    withdrawn = withdrawn + 1
  end
end
redis.call('HINCRBY', account, 'withdrawn', withdrawn)
return withdrawn
`

const COUNT = `
local function accountOf(jobs, results, account)
  local counts = redis.call('HMGET', account, 'added', 'sealed', 'fenced', 'lost', 'withdrawn')
  local account = {}
  for i = 1, 5 do account[i] = tonumber(counts[i] or 0) end
  local open, playing = 0, 0
  for _, state in ipairs(redis.call('HVALS', jobs)) do
    local kind = string.sub(state, 1, 1)
    if kind ~= 's' then open = open + 1 end
    if kind == 'p' then playing = playing + 1 end
  end
  account[6] = open
  account[7] = redis.call('XLEN', results)
  account[8] = playing
  return account
end
`

/** The account of a run, and how many of its jobs are played. */
const ACCOUNT = `${COUNT}
return accountOf(KEYS[1], KEYS[2], KEYS[3])
`

/** Whether everything was removed, and the account as it was; 0 if the coordinator does not hold the lease. */
const END_RUN = `${FENCE}${COUNT}
local runs, lease, jobs, results, account = unpack(KEYS)
local token, run, isComplete = unpack(ARGV)
if not isHeld(lease, token) then return 0 end
local counts = accountOf(jobs, results, account)
redis.call('DEL', lease)
if isComplete == '0' and (redis.call('HLEN', jobs) > 0 or counts[7] > 0) then return {0, counts} end
redis.call('DEL', jobs, results, account)
redis.call('HDEL', runs, run)
return {1, counts}
`

/** 1 if the run was removed, and 0 if it has a coordinator or does not exist. */
const REMOVE_RUN = `${NOW}
local runs, lease, jobs, results, account = unpack(KEYS)
local aliveUntil = redis.call('HGET', lease, 'until')
if aliveUntil and tonumber(aliveUntil) > now() then return 0 end
redis.call('DEL', lease, jobs, results, account)
return redis.call('HDEL', runs, ARGV[1])
`

/** The time, and the runs whose coordinator has renewed its lease, each by its id, its entry and its life. */
const RENEW_WORKER = `${NOW}
local workers, infos, runs = unpack(KEYS)
local id, duration, info, prefix = unpack(ARGV)
local time = now()
redis.call('ZADD', workers, time + duration, id)
redis.call('HSET', infos, id, info)
local announced = {tostring(time)}
local all = redis.call('HGETALL', runs)
for i = 1, #all, 2 do
  local held = redis.call('HMGET', prefix .. all[i] .. ':lease', 'until', 'life')
  if held[1] and tonumber(held[1]) > time and held[2] then
    table.insert(announced, all[i])
    table.insert(announced, all[i + 1])
    table.insert(announced, held[2])
  end
end
return announced
`

const LIST_WORKERS = `${NOW}${WORKERS}
return liveWorkers(KEYS[1], KEYS[2])
`

/** Who coordinates a run: host and pid, or nothing. */
const LEASE_OF = `${NOW}
local held = redis.call('HMGET', KEYS[1], 'until', 'host', 'pid')
if held[1] and tonumber(held[1]) > now() then return {held[2], held[3]} end
return {}
`

function script<R>(lua: string, numberOfKeys: number): { lua: string; numberOfKeys: number; returns?: R } {
  return { lua, numberOfKeys }
}

export const QUEUE_SCRIPTS = {
  fleetCoordinate: script<string[]>(COORDINATE, 2),
  fleetRenewLease: script<string[] | 0>(RENEW_LEASE, 3),
  fleetAddJobs: script<string[] | 0>(ADD_JOBS, 3),
  fleetBegin: script<number[]>(BEGIN_JOBS, 3),
  fleetReport: script<number>(REPORT_JOB, 2),
  fleetSeal: script<number[]>(SEAL_JOBS, 3),
  fleetGiveBack: script<number>(GIVE_BACK, 1),
  fleetAcknowledge: script<number>(ACKNOWLEDGE, 3),
  fleetWithdraw: script<number>(WITHDRAW, 3),
  fleetAccount: script<number[]>(ACCOUNT, 3),
  fleetEnd: script<[number, number[]] | 0>(END_RUN, 5),
  fleetRemove: script<number>(REMOVE_RUN, 5),
  fleetRenewWorker: script<string[]>(RENEW_WORKER, 3),
  fleetWorkers: script<string[]>(LIST_WORKERS, 2),
  fleetLeaseOf: script<string[]>(LEASE_OF, 1),
}

export type QueueCommands = {
  readonly [Name in keyof typeof QUEUE_SCRIPTS]: (
    ...keysAndValues: (string | number)[]
  ) => Promise<NonNullable<(typeof QUEUE_SCRIPTS)[Name]['returns']>>
}
