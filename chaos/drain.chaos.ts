/** A server that is asked to stop with hundreds of steps in flight: all of them settle, and it goes by itself. */
import { type Connection, connect } from '@episodic/env'
import { Oracle } from './oracle.ts'
import { playLedgers } from './players.ts'
import { startProxy } from './proxy.ts'
import { ask, startServer } from './server.ts'
import { openStore } from './store.ts'
import { runTrial } from './trial.ts'
import { until } from './until.ts'

/** Players of one connection, which has as many sockets. */
const SOCKETS = 64
/** Seconds that a server may take to go. */
const PATIENCE = 10

await runTrial('drain', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const wanted = quick ? 100 : 500
  // Some are between two steps whenever one looks.
  const players = Math.ceil(wanted * 1.5)
  // More than anybody will play.
  const length = 1_000
  const store = stack.use(await openStore(options.store, folder))
  const server = stack.use(await startServer({ folder, args: ['--store', store.address] }))
  const oracle = new Oracle()
  const onExchange = oracle.hear.bind(oracle)
  const proxy = stack.use(await startProxy(server.port, { fate: () => ({ kind: 'fine' }), onExchange }))
  const target = { url: `http://127.0.0.1:${proxy.port}/env`, token: server.token }
  const connections: Connection[] = []
  for (let left = players; left > 0; left -= SOCKETS) connections.push(stack.use(await connect(target)))

  // The server is warm by then, and everybody has begun.
  const ready = Promise.withResolvers<void>()
  const look = () => {
    if (oracle.sessions === players && oracle.told >= 5 * players && oracle.inFlight >= wanted) ready.resolve()
  }
  // Answers come by the hundred; a turn later, whoever got one has asked for the next.
  const onStep = () => void setImmediate(look)
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
  const toldBefore = oracle.told
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
  await until(() => gone, 'the server has stopped', PATIENCE + 5).catch((error) => breaches.push(String(error)))
  const seconds = (performance.now() - asked) / 1_000
  const answered = oracle.told - toldBefore
  const { severed } = proxy
  if (gone && status !== 0) breaches.push(`The server ended with ${status}: ${stopped.said.slice(-400)}`)
  if (seconds > PATIENCE) breaches.push(`The server took ${seconds} s to stop.`)
  await (gone ? server.start() : server.restart())
  const toldAgain = oracle.told
  await Promise.race([until(() => oracle.told >= toldAgain + 3 * players, 'everybody plays on'), playing])
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
      steps: oracle.told,
      ...oracle.broken,
    },
  }
})
