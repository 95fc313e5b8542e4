/** A server is asked to stop with hundreds of steps in flight: all of them settle, and the process ends by itself. */
import { type Connection, connect } from '@episodic/env'
import { startProxy } from '../network/proxy.ts'
import { Oracle } from '../oracles/oracle.ts'
import { playLedgers } from '../players/ledger-players.ts'
import { ask, startServer } from '../processes/server.ts'
import { openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'
import { until } from '../until.ts'

/** Players of one connection, which has as many sockets. */
const SOCKETS = 64
/** Seconds that a server may take to stop. */
const STOP_SECONDS = 10

await runTrial('drain', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const wanted = quick ? 100 : 500
  // Some players are between two steps at any time.
  const players = Math.ceil(wanted * 1.5)
  // More steps than a player will take.
  const length = 1_000
  const store = stack.use(await openStore(options.store, folder))
  const server = stack.use(await startServer({ folder, args: ['--store', store.address] }))
  const oracle = new Oracle()
  const onExchange = oracle.record.bind(oracle)
  const proxy = stack.use(await startProxy(server.port, { fate: () => ({ kind: 'fine' }), onExchange }))
  const target = { url: `http://127.0.0.1:${proxy.port}/env`, token: server.token }
  const connections: Connection[] = []
  for (let left = players; left > 0; left -= SOCKETS) connections.push(stack.use(await connect(target)))

  // Ready once the server is warm and all players have started.
  const ready = Promise.withResolvers<void>()
  const check = () => {
    if (oracle.sessions === players && oracle.received >= 5 * players && oracle.inFlight >= wanted) ready.resolve()
  }
  // Hundreds of answers arrive at once; a turn later, their players have sent the next steps.
  const onStep = () => void setImmediate(check)
  let over = false
  const playing = Promise.all(
    connections.map((connection, index) => {
      const seats = Math.min(SOCKETS, players - index * SOCKETS)
      const steps = seats * length
      return playLedgers({
        connection,
        oracle,
        rng: rng.stream(`connection ${index}`),
        players: seats,
        steps,
        length,
        onStep,
        over: () => over,
      })
    }),
  )
  await Promise.race([ready.promise, playing])
  const { process: stopped } = server
  const inFlight = oracle.inFlight
  const before = oracle.received
  const asked = performance.now()
  stopped.signal('SIGTERM')
  const breaches: string[] = []
  if (inFlight < wanted) breaches.push(`There were never ${wanted} steps in flight.`)
  let status: number | null = null
  let gone = false
  void stopped.exited.then((code) => {
    status = code
    gone = true
  })
  await until(() => gone, 'the server has stopped', STOP_SECONDS + 5).catch((error) => breaches.push(String(error)))
  const seconds = (performance.now() - asked) / 1_000
  const answered = oracle.received - before
  const { severed } = proxy
  if (gone && status !== 0) breaches.push(`The server ended with ${status}: ${stopped.said.slice(-400)}`)
  if (seconds > STOP_SECONDS) breaches.push(`The server took ${seconds} s to stop.`)
  await (gone ? server.start() : server.restart())
  const resumedAt = oracle.received
  await Promise.race([until(() => oracle.received >= resumedAt + 3 * players, 'all players play on'), playing])
  over = true
  await playing
  await oracle.settle((method, params) => ask(server, method, params))
  return {
    breaches: [...breaches, ...oracle.breaches],
    figures: {
      inFlight,
      answeredWhileStopping: answered,
      severed,
      status,
      secondsToStop: Math.round(seconds * 100) / 100,
      steps: oracle.received,
      ...oracle.broken,
    },
  }
})
