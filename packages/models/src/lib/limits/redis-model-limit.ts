import type { Redis } from 'ioredis'
import { MINUTE, type ModelLimit } from './model-limit.ts'

export interface RedisModelLimitOptions {
  readonly prefix: string
  /** Milliseconds. Default: the clock of Redis, so that the clocks of the workers need not agree. */
  readonly now?: () => number
}

/**
 * Creates a limit in Redis, which holds for everyone who uses the same prefix. Each call is one script. Its keys expire
 * a minute after they mean nothing any more. The caller closes the connection.
 */
export function createRedisModelLimit(redis: Redis, { prefix, now }: RedisModelLimitOptions): ModelLimit {
  const run = async (script: string, model: string, ...args: number[]): Promise<number> =>
    Number(await redis.eval(script, 1, `${prefix}model:${model}`, now?.() ?? '', ...args))
  return {
    reserve: (model, { requestsPerMinute, tokensPerMinute }, tokens) =>
      run(
        RESERVE,
        model,
        requestsPerMinute === null ? -1 : MINUTE / requestsPerMinute,
        tokensPerMinute === null ? -1 : (tokens * MINUTE) / tokensPerMinute,
      ),
    async correct(model, { tokensPerMinute }, tokens) {
      if (tokensPerMinute !== null) await run(CORRECT, model, (tokens * MINUTE) / tokensPerMinute)
    },
    async pause(model, milliseconds) {
      await run(PAUSE, model, milliseconds)
    },
    pausedFor: (model) => run(PAUSED_FOR, model),
  }
}

/**
 * Reads and writes the turns of a model. Numbers are written with three decimals: Lua's own format has fourteen digits,
 * which is too few for times.
 */
const TURNS = `
local key = KEYS[1]
local function now()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + time[2] / 1000
end
local function turn(field) return tonumber(redis.call('HGET', key, field) or 0) end
local function set(field, value)
  redis.call('HSET', key, field, string.format('%.3f', value))
  local left = math.max(turn('requests'), turn('tokens'), turn('paused')) - now()
  redis.call('PEXPIRE', key, math.ceil(math.max(0, left)) + ${MINUTE})
end
local function text(value) return string.format('%.3f', value) end
`

const RESERVE = `${TURNS}
local perRequest, forTokens = tonumber(ARGV[2]), tonumber(ARGV[3])
local start = now()
local at = math.max(start, turn('paused'))
if perRequest >= 0 then at = math.max(at, turn('requests')) end
if forTokens >= 0 then at = math.max(at, turn('tokens')) end
if perRequest >= 0 then set('requests', at + perRequest) end
if forTokens >= 0 then set('tokens', at + forTokens) end
return text(at - start)
`

const CORRECT = `${TURNS}
set('tokens', turn('tokens') + tonumber(ARGV[2]))
`

const PAUSE = `${TURNS}
set('paused', math.max(turn('paused'), now() + tonumber(ARGV[2])))
`

const PAUSED_FOR = `${TURNS}
return text(math.max(0, turn('paused') - now()))
`
