/** Steps over a bad connection to a server that is killed again and again: no step is lost or doubled. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '@episodic/env'
import { startProxy } from '../network/proxy.ts'
import { drawFates, STORM } from '../network/weather.ts'
import { Oracle } from '../oracles/oracle.ts'
import { playLedgers } from '../players/ledger-players.ts'
import { resourcesHold, resourcesOf } from '../processes/resources.ts'
import { ask, startServer } from '../processes/server.ts'
import { clearStore, openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'

await runTrial('step', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const steps = quick ? 1_600 : 100_000
  const kills = quick ? 3 : 105
  const store = stack.use(await openStore(options.store, folder))
  const server = stack.use(await startServer({ folder, args: ['--store', store.address, '--idle', '86400'] }))
  const oracle = new Oracle()
  const fate = drawFates(rng.stream('weather'), STORM)
  const proxy = stack.use(await startProxy(server.port, { fate, onExchange: (exchange) => oracle.record(exchange) }))
  const connection = stack.use(await connect({ url: `http://127.0.0.1:${proxy.port}/env`, token: server.token }))

  // Kills come after so many steps, not after so much time: a slow machine gets as many.
  const killing = rng.stream('kills')
  let striking: Promise<void> | null = null
  let next = steps / (kills + 1)
  const strike = () => {
    if (striking || oracle.received < next || server.kills === kills) return
    next += steps / (kills + 1)
    striking = pause(killing.int(0, 10))
      .then(() => server.restart())
      .finally(() => {
        striking = null
      })
  }
  const began = performance.now()
  await playLedgers({ connection, oracle, rng, players: 64, steps, length: 50, onStep: strike })
  const seconds = (performance.now() - began) / 1_000
  await striking
  await proxy.settled()

  await server.restart()
  const before = resourcesOf(server.process.pid)
  await oracle.settle((method, params) => ask(server, method, params))
  const { holds, after } = await resourcesHold(server.process.pid, before)
  await oracle.closeAll(
    (method, params) => ask(server, method, params),
    () => server.restart(),
  )
  await server[Symbol.asyncDispose]()
  const left = await clearStore(store.open)
  const breaches = [...oracle.breaches]
  if (!holds) breaches.push(`O8: the server held ${JSON.stringify(before)}, and now holds ${JSON.stringify(after)}.`)
  if (left.pagesLeft > 0) breaches.push(`O7 ${left.pagesLeft} pages are left of sessions that were closed.`)
  return {
    breaches,
    figures: {
      steps: oracle.received,
      sessions: oracle.sessions,
      kills: server.kills,
      ...oracle.broken,
      ...left,
      fates: proxy.fates,
      stepsPerSecond: Math.round(oracle.received / seconds),
    },
  }
})
