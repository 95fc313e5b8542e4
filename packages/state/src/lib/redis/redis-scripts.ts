// Each operation of the store is one script: Redis runs a script alone and logs its changes together. Redis does not
// roll back a script that fails, so only its first write may fail: any write without room or on a replica, and a log
// entry that is not the next one.

/** The server's own clock, in milliseconds, so that the clocks of the writers need not agree. */
const NOW = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`

/** Renews for another `ttl` milliseconds the expiry of a session, its log and index entries. Returns the expiry. */
const RENEW = `
local function renew(session, log, touched, expiry, id, touchedAt, ttl)
  local due = now() + ttl
  redis.call('PEXPIREAT', session, due)
  redis.call('PEXPIREAT', log, due)
  redis.call('ZADD', touched, touchedAt, id)
  redis.call('ZADD', expiry, due, id)
  return due
end
`

/**
 * A pool of pages is a hash, and its users a sorted set of the ids of the sessions that use it, by their expiry: an
 * expired session is no user any more. A process that holds the pool is a user too, whose name begins with a line feed.
 * A sorted set indexes the pools. All of it goes with the last user.
 */
const POOLS = `
local function poolOf(prefix, name) return prefix .. 'pool:' .. name end
local function usersOf(prefix, name) return prefix .. 'users:' .. name end
local function keepWhileUsed(prefix, name)
  local pool, users, pools = poolOf(prefix, name), usersOf(prefix, name), prefix .. 'pools'
  local past = string.format('(%d', now())
  redis.call('ZREMRANGEBYSCORE', pools, '-inf', past)
  redis.call('ZREMRANGEBYSCORE', users, '-inf', past)
  local last = redis.call('ZRANGE', users, -1, -1, 'WITHSCORES')
  if #last == 0 then
    redis.call('UNLINK', pool)
    redis.call('ZREM', pools, name)
    return
  end
  for _, key in ipairs({pool, users}) do redis.call('PEXPIREAT', key, last[2]) end
  redis.call('ZADD', pools, last[2], name)
end
local function usePool(prefix, name, id, due)
  redis.call('ZADD', usersOf(prefix, name), due, id)
  keepWhileUsed(prefix, name)
end
local function addPages(prefix, name, first, last)
  local pool = poolOf(prefix, name)
  for place = first, last, 2 do redis.call('HSETNX', pool, ARGV[place], ARGV[place + 1]) end
end
`

/** Redis drops an expired session itself, but not its index entries: those are removed before an index is read. */
const REAP = `
local function reap(ids, touched, expiry)
  local limit = string.format('(%d', now())
  while true do
    local gone = redis.call('ZRANGEBYSCORE', expiry, '-inf', limit, 'LIMIT', 0, 1000)
    if #gone == 0 then return end
    for _, index in ipairs({ids, touched, expiry}) do redis.call('ZREM', index, unpack(gone)) end
  end
end
`

/**
 * 1: created. 0: present. -1: the stored secret differs from the caller's, so this is not the caller's store any more.
 * A text: the pool of that name does not exist. The session's fields follow the arguments, then its own pages, and
 * then those of the pool that is `shared`.
 */
const CREATE = `${NOW}${RENEW}${POOLS}
local secretKey, session, log, ids, touched, expiry = unpack(KEYS)
local id, ttl, secret, prefix, touchedAt, own, named, shared, length, ownLength = unpack(ARGV, 1, 10)
local ownPages = 11 + length
local sharedPages = ownPages + ownLength
local kept = redis.call('GET', secretKey)
if kept and kept ~= secret then return -1 end
if redis.call('EXISTS', session) == 1 then return 0 end
local names, isMade = cjson.decode(named), false
for _, name in ipairs(names) do
  if redis.call('EXISTS', usersOf(prefix, name)) == 0 then
    if name ~= shared then return name end
    isMade = true
  end
end
redis.call('HSET', session, unpack(ARGV, 11, ownPages - 1))
-- An emptied Redis gets the secret back from which the handles of this store are derived.
if not kept then redis.call('SET', secretKey, secret) end
redis.call('DEL', log)
redis.call('ZADD', ids, 0, id)
local due = renew(session, log, touched, expiry, id, touchedAt, ttl)
if isMade then addPages(prefix, shared, sharedPages, #ARGV) end
addPages(prefix, own, ownPages, sharedPages - 1)
for _, name in ipairs(names) do usePool(prefix, name, id, due) end
if #names > 0 or sharedPages > ownPages then
  redis.call('HSET', session, 'owns', 1)
  usePool(prefix, own, id, due)
end
return 1
`

/**
 * 1: committed. 0: the stored revision or epoch is not the expected one, or there is no such session. The parts of the
 * log entry follow the arguments, if there is one, and then the pages.
 */
const COMMIT = `${NOW}${RENEW}${POOLS}
local session, log, touched, expiry = unpack(KEYS)
local id, ttl, prefix, expectedRevision, expectedEpoch, revision, epoch, touchedAt, head, state, length = unpack(ARGV, 1, 11)
local stored = redis.call('HMGET', session, 'revision', 'epoch', 'owns', 'pool', 'pools')
if stored[1] ~= expectedRevision or stored[2] ~= expectedEpoch then return 0 end
if length ~= '0' then redis.call('XADD', log, unpack(ARGV, 12, 11 + length)) end
redis.call('HSET', session, 'revision', revision, 'epoch', epoch, 'touchedAt', touchedAt, 'head', head, 'state', state)
local due = renew(session, log, touched, expiry, id, touchedAt, ttl)
local hasPages = #ARGV > 11 + length
if not stored[3] and not hasPages then return 1 end
local own = stored[4]
if not stored[3] then redis.call('HSET', session, 'owns', 1) end
addPages(prefix, own, 12 + length, #ARGV)
usePool(prefix, own, id, due)
for _, name in ipairs(cjson.decode(stored[5] or '[]')) do usePool(prefix, name, id, due) end
return 1
`

const REMOVE = `${NOW}${POOLS}
local session, log, ids, touched, expiry = unpack(KEYS)
local id, prefix = unpack(ARGV)
local stored = redis.call('HMGET', session, 'owns', 'pool', 'pools')
for _, index in ipairs({ids, touched, expiry}) do redis.call('ZREM', index, id) end
redis.call('DEL', log)
local removed = redis.call('DEL', session)
if stored[1] then
  local names = cjson.decode(stored[3] or '[]')
  table.insert(names, stored[2])
  for _, name in ipairs(names) do
    redis.call('ZREM', usersOf(prefix, name), id)
    keepWhileUsed(prefix, name)
  end
end
return removed
`

/** Nothing if the session is absent. Otherwise the text of each named page, or nothing for it. */
const READ_PAGES = `${NOW}${POOLS}
local id, prefix = unpack(ARGV, 1, 2)
local stored = redis.call('HMGET', KEYS[1], 'revision', 'pool', 'pools')
if not stored[1] then return false end
local names = cjson.decode(stored[3] or '[]')
table.insert(names, 1, stored[2])
local texts, missing = {}, {}
for place = 3, #ARGV do
  texts[place - 2] = false
  missing[place - 2] = place - 2
end
for _, name in ipairs(names) do
  if #missing == 0 then break end
  local wanted, still = {}, {}
  for index, place in ipairs(missing) do wanted[index] = ARGV[place + 2] end
  local found = redis.call('HMGET', poolOf(prefix, name), unpack(wanted))
  for index, place in ipairs(missing) do
    texts[place] = found[index]
    if not found[index] then table.insert(still, place) end
  end
  missing = still
end
return texts
`

/** Makes the holder a user of the pools that exist of so many first names, and no user of the others. */
const HOLD = `${NOW}${POOLS}
local prefix, holder, ttl, count = unpack(ARGV, 1, 4)
for place = 5, #ARGV do
  local name = ARGV[place]
  local users = usersOf(prefix, name)
  if place > 4 + count then
    redis.call('ZREM', users, holder)
    keepWhileUsed(prefix, name)
  elseif redis.call('EXISTS', users) == 1 then
    usePool(prefix, name, holder, now() + ttl)
  end
end
`

/** The pages of all pools but those that are only held. */
const COUNT_PAGES = `${NOW}${POOLS}
local pools, prefix = KEYS[1], ARGV[1]
redis.call('ZREMRANGEBYSCORE', pools, '-inf', string.format('(%d', now()))
local pages = 0
for _, name in ipairs(redis.call('ZRANGE', pools, 0, -1)) do
  local isHeld, isUsed = false, false
  for _, user in ipairs(redis.call('ZRANGE', usersOf(prefix, name), 0, -1)) do
    local isHolder = string.sub(user, 1, 1) == '\\n'
    isHeld = isHeld or isHolder
    isUsed = isUsed or not isHolder
  end
  if isUsed or not isHeld then pages = pages + redis.call('HLEN', poolOf(prefix, name)) end
end
return pages
`

/** A page of sessions, each as its id and then its fields. */
const LIST = `${NOW}${REAP}
reap(unpack(KEYS))
local prefix, after, limit = unpack(ARGV)
local page = redis.call('ZRANGEBYLEX', KEYS[1], '(' .. after, '+', 'LIMIT', 0, limit)
for place, id in ipairs(page) do
  page[place] = {id, redis.call('HMGET', prefix .. id, select(4, unpack(ARGV)))}
end
return page
`

const IDLE = `${NOW}${REAP}
reap(unpack(KEYS))
return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
`

const COUNT = `${NOW}${REAP}
reap(unpack(KEYS))
return redis.call('ZCARD', KEYS[1])
`

/** The scripts by their method names. The client sends a script's text once a connection, and its hash afterwards. */
export const REDIS_SCRIPTS = {
  createSession: { lua: CREATE, numberOfKeys: 6 },
  commitSession: { lua: COMMIT, numberOfKeys: 4 },
  removeSession: { lua: REMOVE, numberOfKeys: 5 },
  listSessions: { lua: LIST, numberOfKeys: 3 },
  idleSessions: { lua: IDLE, numberOfKeys: 3 },
  countSessions: { lua: COUNT, numberOfKeys: 3 },
  readPages: { lua: READ_PAGES, numberOfKeys: 1 },
  holdPools: { lua: HOLD, numberOfKeys: 1 },
  countPages: { lua: COUNT_PAGES, numberOfKeys: 1 },
}

type Args = readonly (string | number | readonly string[])[]

/** The scripts as methods: first the keys, then the other arguments; those of a list take their places in order. */
export interface RedisScripts {
  createSession(...args: Args): Promise<-1 | 0 | 1 | string>
  commitSession(...args: Args): Promise<0 | 1>
  removeSession(...args: Args): Promise<0 | 1>
  listSessions(...args: Args): Promise<[id: string, fields: (string | null)[]][]>
  idleSessions(...args: Args): Promise<string[]>
  countSessions(...args: Args): Promise<number>
  readPages(...args: Args): Promise<(string | null)[] | null>
  holdPools(...args: Args): Promise<null>
  countPages(...args: Args): Promise<number>
}
