/**
 * Two seats of one session, each played by a process of its own, over a bad connection to a server that is killed again
 * and again: no step is lost, doubled or out of turn, and both returns are those of the rules.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { METHODS, type MethodResult } from '@episodic/protocol'
import { type Exchange, startProxy } from '../network/proxy.ts'
import { drawFates, STORM } from '../network/weather.ts'
import { readLog } from '../oracles/oracle.ts'
import { openedIn, SeatsOracle } from '../oracles/seats-oracle.ts'
import type { PlayerOptions } from '../players/seats-player.ts'
import type { PlayedSeat } from '../players/seats-task.ts'
import { ask, startServer } from '../processes/server.ts'
import { startProcess } from '../processes/start-process.ts'
import { openStore } from '../processes/store.ts'
import { tableOf } from '../table.ts'
import { runTrial } from '../trial.ts'
import { SEATS, type SeatName } from '../worlds/seats-world.ts'

const WORLD = fileURLToPath(new URL('../worlds/seats-world.ts', import.meta.url))
const PLAYER = fileURLToPath(new URL('../players/seats-player.ts', import.meta.url))

await runTrial('seats', { store: 'sqlite' }, async ({ rng, seed, quick, options, folder, stack }) => {
  const [games, moves, kills] = quick ? [24, 8, 2] : [400, 25, 32]
  const steps = 2 * games * moves
  const store = stack.use(await openStore(options.store, folder))
  const server = stack.use(
    await startServer({ folder, world: WORLD, args: ['--store', store.address, '--idle', '86400'] }),
  )
  const oracle = new SeatsOracle({ seed, moves })
  const sealed = new Set<string>()

  // Kills come after so many steps, not after so much time: a slow machine gets as many. Every other one hits the
  // server as it answers a sealed move, whose round is then settled by another process.
  const killing = rng.stream('kills')
  let striking: Promise<void> | null = null
  let isCounting = false
  let [strikes, held, betweenMoves, killsBetweenMoves] = [0, 0, 0, 0]
  const strike = (isSealed: boolean) => {
    const atOnce = strikes % 2 === 0
    if (striking || strikes === kills || oracle.answered < (steps / (kills + 1)) * (strikes + 1)) return
    if (atOnce && !isSealed) return
    strikes += 1
    striking = (atOnce ? kill() : pause(killing.int(0, 10)).then(kill)).finally(() => {
      striking = null
    })
  }
  const kill = async () => {
    isCounting = true
    await server.restart()
    let odd = 0
    for (const session of sealed) {
      const { revision, end } = await ask<MethodResult<'state'>>(server, METHODS.state, { session })
      if (end) sealed.delete(session)
      odd += revision % 2
    }
    betweenMoves += odd
    killsBetweenMoves += odd > 0 ? 1 : 0
    isCounting = false
  }
  const onExchange = (exchange: Exchange) => {
    const opened = openedIn(exchange)
    if (opened && opened.game % 2 === 1) sealed.add(opened.session)
    const report = oracle.record(exchange)
    if (report) strike(report.seats?.sealed === true)
  }
  const draw = drawFates(rng.stream('weather'), { ...STORM, repliesCut: 0.04 })
  const proxy = stack.use(
    await startProxy(server.port, {
      fate(request) {
        // Nobody moves before the rounds that the kill interrupted are counted.
        if (!isCounting) return draw(request)
        held += 1
        return { kind: 'request-lost' }
      },
      onExchange,
    }),
  )

  const began = performance.now()
  const play = async (seat: SeatName): Promise<readonly PlayedSeat[]> => {
    const given: PlayerOptions = {
      ...{ seat, seed, games, moves, concurrency: Math.min(games, 48), token: server.token },
      url: `http://127.0.0.1:${proxy.port}/env`,
    }
    const player = stack.use(startProcess(process.execPath, [PLAYER, JSON.stringify(given)]))
    const played: PlayedSeat[] = []
    while (played.length < games) played.push(JSON.parse(await player.line()))
    return played.sort((one, other) => one.game - other.game)
  }
  const [left, right] = (await Promise.all(SEATS.map(play))) as [readonly PlayedSeat[], readonly PlayedSeat[]]
  const seconds = (performance.now() - began) / 1_000
  await striking
  await proxy.settled()

  await server.restart()
  for (const [game, one] of left.entries()) {
    const other = right[game] as PlayedSeat
    const { session } = one
    if (one.id !== other.id || session !== other.session)
      throw new Error(`The players of game ${game} opened ${one.id} and ${other.id} with one request key.`)
    const reply = await ask<MethodResult<'state'>>(server, METHODS.state, { session })
    const log = await readLog(session, (method, params) => ask(server, method, params))
    oracle.check({ game, players: { left: one, right: other }, log, state: reply.state })
  }

  const breaches = [...oracle.breaches]
  if (strikes < kills) breaches.push(`The server was killed ${strikes} times, and not ${kills}.`)
  const rows = (['turns', 'sealed'] as const).map((world, odd) => {
    const own = [...left, ...right].filter(({ game }) => game % 2 === odd)
    const sumOf = (count: (one: PlayedSeat) => number) => own.reduce((all, one) => all + count(one), 0)
    return {
      world,
      games: own.length / 2,
      steps: sumOf((one) => one.steps.length),
      'answered again': sumOf((one) => one.replayed),
      'rejected out of turn': sumOf((one) => one.rejected),
    }
  })
  const { 'request-lost': lostRequests = 0, ...fates } = proxy.fates
  console.error(`${tableOf(rows)}\n\n${tableOf([{ kills: strikes, ...oracle.broken }])}`)
  return {
    breaches,
    figures: {
      steps: rows.reduce((all, row) => all + row.steps, 0),
      games,
      kills: strikes,
      killsBetweenMoves,
      roundsBetweenMoves: betweenMoves,
      ...oracle.broken,
      worlds: Object.fromEntries(rows.map(({ world, ...figures }) => [world, figures])),
      fates: { ...fates, 'request-lost': lostRequests - held },
      stepsPerSecond: Math.round(steps / seconds),
    },
  }
})
