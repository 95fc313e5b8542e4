/** A Redis server that is killed under load loses nothing; a restart with older files is detected. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, connect, type Environment } from '@episodic/env'
import { WireError } from '@episodic/protocol'
import { openRedisStore } from '@episodic/state/redis'
import { startProxy } from '../network/proxy.ts'
import { Oracle } from '../oracles/oracle.ts'
import { insist, playLedgers, ROWS } from '../players/ledger-players.ts'
import { type Redis, startRedis } from '../processes/redis.ts'
import { ask, type Server, startServer } from '../processes/server.ts'
import { clearStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'

const PLAYERS = 64

await runTrial('redis', {}, async ({ rng, quick, folder, stack }) => {
  const kills = quick ? 2 : 8
  const seconds = quick ? 5 : 30
  const redis = stack.use(await startRedis(join(folder, 'redis')))
  const server = stack.use(await startServer({ folder, args: ['--store', redis.url] }))
  const oracle = new Oracle()
  const onExchange = oracle.record.bind(oracle)
  const proxy = stack.use(await startProxy(server.port, { fate: () => ({ kind: 'fine' }), onExchange }))
  const target = { url: `http://127.0.0.1:${proxy.port}/env`, token: server.token }
  const connection = stack.use(await connect(target))

  const killing = rng.stream('kills')
  let over = false
  const strikes = async () => {
    const window = Math.floor((seconds * 1_000) / kills)
    for (let kill = 0; kill < kills; kill++) {
      const [before, away] = [killing.int(0, window >> 1), killing.int(0, window >> 2)]
      await pause(before)
      await redis.kill()
      await pause(away)
      await redis.start()
      await pause(window - before - away)
    }
    over = true
  }
  const began = performance.now()
  const play = playLedgers({
    ...{ connection, oracle, rng, players: PLAYERS, steps: Number.MAX_SAFE_INTEGER, length: 50 },
    over: () => over,
  })
  await Promise.all([strikes(), play])
  const killedFor = (performance.now() - began) / 1_000
  await oracle.settle((method, params) => ask(server, method, params))
  await oracle.closeAll(
    (method, params) => ask(server, method, params),
    () => server.restart(),
  )
  const left = await clearStore(() => openRedisStore(redis.url))

  const rolledBack = await rollBack(connection, redis, server, join(folder, 'older'))
  const silent = rolledBack.filter((code) => code === 'answered').length
  const breaches = [...oracle.breaches]
  if (silent > 0) breaches.push(`O1 ${silent} sessions went on, though the store had lost their last steps.`)
  if (left.pagesLeft > 0) breaches.push(`O7 ${left.pagesLeft} pages are left of sessions that were closed.`)
  const unexpected = rolledBack.filter((code) => !['answered', 'state-lost', 'session-not-found'].includes(code))
  if (unexpected.length > 0) breaches.push(`Lost steps were reported as ${[...new Set(unexpected)].join(', ')}.`)
  return {
    breaches,
    figures: {
      kills,
      killedFor: Math.round(killedFor * 10) / 10,
      steps: oracle.received,
      sessions: oracle.sessions,
      ...oracle.broken,
      ...left,
      rolledBack: rolledBack.length,
      silent,
      ...counted(rolledBack),
    },
  }
})

/**
 * Plays some sessions, restarts Redis with its files of some steps earlier, and plays on. Resolves with each player's
 * next result: an error code, or `answered`. Half of the players call the same server as before, half a restarted one.
 */
async function rollBack(connection: Connection, redis: Redis, server: Server, older: string): Promise<string[]> {
  const environments = Array.from({ length: PLAYERS }, () => connection.environment('ledger'))
  const toAll = (steps: number) =>
    Promise.all(
      environments.map(async (environment) => {
        for (let step = 0; step < steps; step++) await insist(() => add(environment))
      }),
    )
  await Promise.all(
    environments.map((environment, index) =>
      insist(() => environment.reset({ params: { rows: index % 2 === 0 ? 0 : ROWS } })),
    ),
  )
  await toAll(3)
  await redis.kill()
  cpSync(redis.folder, older, { recursive: true })
  await redis.start()
  await toAll(3)
  await redis.kill()
  await redis.start(older)
  const codes: string[] = []
  const playOn = async (environment: Environment) => {
    try {
      await insist(() => add(environment))
      codes.push('answered')
    } catch (error) {
      codes.push(WireError.is(error) ? error.code : String(error))
    }
  }
  await Promise.all(environments.slice(0, PLAYERS / 2).map(playOn))
  await server.restart()
  await Promise.all(environments.slice(PLAYERS / 2).map(playOn))
  return codes
}

function add(environment: Environment): Promise<unknown> {
  return environment.step({ tool: 'add', arguments: { amount: 1 } })
}

function counted(codes: readonly string[]): Record<string, number> {
  return Object.fromEntries([...new Set(codes)].map((code) => [code, codes.filter((other) => other === code).length]))
}
