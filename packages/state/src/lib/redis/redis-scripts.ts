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

/** Renews the expiry of a session and its log for another `ttl` milliseconds, and its index entries. */
const RENEW = `
local function renew(session, log, touched, expiry, id, touchedAt, ttl)
  local due = now() + ttl
  redis.call('PEXPIREAT', session, due)
  redis.call('PEXPIREAT', log, due)
  redis.call('ZADD', touched, touchedAt, id)
  redis.call('ZADD', expiry, due, id)
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
 */
const CREATE = `${NOW}${RENEW}
local secretKey, session, log, ids, touched, expiry = unpack(KEYS)
local id, ttl, secret, revision, epoch, touchedAt, head, state, origin, base = unpack(ARGV)
local kept = redis.call('GET', secretKey)
if kept and kept ~= secret then return -1 end
if redis.call('EXISTS', session) == 1 then return 0 end
redis.call('HSET', session, 'revision', revision, 'epoch', epoch, 'touchedAt', touchedAt,
  'head', head, 'state', state, 'origin', origin)
if base then redis.call('HSET', session, 'base', base) end
-- An emptied Redis gets the secret back from which the handles of this store are derived.
if not kept then redis.call('SET', secretKey, secret) end
redis.call('DEL', log)
redis.call('ZADD', ids, 0, id)
renew(session, log, touched, expiry, id, touchedAt, ttl)
return 1
`

/** 1: committed. 0: the stored revision or epoch is not the expected one, or there is no such session. */
const COMMIT = `${NOW}${RENEW}
local session, log, touched, expiry = unpack(KEYS)
local id, ttl, expectedRevision, expectedEpoch, revision, epoch, touchedAt, head, state, entryId, entry = unpack(ARGV)
local stored = redis.call('HMGET', session, 'revision', 'epoch')
if stored[1] ~= expectedRevision or stored[2] ~= expectedEpoch then return 0 end
if entry then redis.call('XADD', log, entryId, 'text', entry) end
redis.call('HSET', session, 'revision', revision, 'epoch', epoch, 'touchedAt', touchedAt, 'head', head, 'state', state)
renew(session, log, touched, expiry, id, touchedAt, ttl)
return 1
`

const REMOVE = `
local session, log, ids, touched, expiry = unpack(KEYS)
for _, index in ipairs({ids, touched, expiry}) do redis.call('ZREM', index, ARGV[1]) end
redis.call('DEL', log)
return redis.call('DEL', session)
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
}

type Args = readonly (string | number)[]

/** The scripts as methods: first the keys, then the other arguments. */
export interface RedisScripts {
  createSession(...args: Args): Promise<-1 | 0 | 1>
  commitSession(...args: Args): Promise<0 | 1>
  removeSession(...args: Args): Promise<0 | 1>
  listSessions(...args: Args): Promise<[id: string, fields: (string | null)[]][]>
  idleSessions(...args: Args): Promise<string[]>
  countSessions(...args: Args): Promise<number>
}
