import { createHost, inProcess } from '@episodic/mcp-server'
import { type Channel, type LoggedStep, META, METHODS, type MethodResult, stepReportSchema } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import {
  actionOf,
  moverOf,
  type PlayedSeat,
  type ReceivedStep,
  type SeatsTask,
  totalOf,
} from '../players/seats-task.ts'
import { environment, SEATS, type SeatName } from '../worlds/seats-world.ts'
import { readLog } from './oracle.ts'
import { SeatsOracle, type TwoSeatGame } from './seats-oracle.ts'

const TASK: SeatsTask = { seed: 'planted faults', moves: 4 }

/** Plays a game on a sound server; in sealed rounds the second seat moves first. */
async function play(game: number): Promise<TwoSeatGame> {
  await using host = createHost({ environments: [environment] })
  const channel: Channel = inProcess(host)
  const ask = <T>(method: string, params: object) => channel.request(method, { ...params }) as Promise<T>
  const { id, session } = await ask<MethodResult<'open'>>(METHODS.open, {
    environment: environment.name,
    params: { sealed: game % 2 === 1, moves: TASK.moves },
    requestKey: 'a-key-of-a-test-of-the-oracle',
  })
  const received: Record<SeatName, ReceivedStep[]> = { left: [], right: [] }
  for (let move = 0; move < 2 * TASK.moves; move++) {
    const seat = moverOf(game % 2 === 1 ? move + 1 : move)
    const { tool, arguments: given } = actionOf(TASK, { game, seat, seq: received[seat].length })
    const _meta = { [META.session]: session, [META.seat]: seat, [META.seq]: received[seat].length }
    const answer = await ask<{ _meta: Record<string, unknown> }>('tools/call', { name: tool, arguments: given, _meta })
    received[seat].push({ tool, amount: given.amount, report: stepReportSchema.parse(answer._meta[META.step]) })
  }
  const player = async (seat: SeatName): Promise<PlayedSeat> => {
    const { due } = await ask<MethodResult<'turn'>>(METHODS.turn, { session, seat })
    const own = received[seat].map(({ report }) => totalOf(report.terms) + totalOf(report.seats?.due))
    const earned = own.reduce((all, one) => all + one, totalOf(due))
    return { game, seat, id, session, steps: received[seat], earned, rejected: 0, replayed: 0, differingDue: 0 }
  }
  const { state } = await ask<MethodResult<'state'>>(METHODS.state, { session })
  const players = { left: await player('left'), right: await player('right') }
  return { game, players, log: await readLog(session, ask), state }
}

function judge(game: TwoSeatGame): SeatsOracle {
  const oracle = new SeatsOracle(TASK)
  oracle.check(game)
  return oracle
}

/** The log with a step of which another was due. */
function withOtherDue(log: readonly LoggedStep[]): LoggedStep[] {
  const at = log.findIndex(({ report }) => report.seats?.due)
  const { report, ...entry } = log[at] as LoggedStep
  const seats = report.seats && { ...report.seats, due: { ...report.seats.due, tide: 1_000 } }
  return log.with(at, { ...entry, report: { ...report, ...(seats && { seats }) } })
}

describe.each([
  ['turns', 0],
  ['sealed rounds', 1],
] as const)('SeatsOracle, in a game of %s', (_, number) => {
  it('finds nothing if every promise holds', async () => {
    const oracle = judge(await play(number))
    expect(oracle.breaches).toEqual([])
    expect(oracle.broken).toEqual({ lost: 0, doubled: 0, unstable: 0, outOfTurn: 0, wrongReturns: 0 })
  })

  it('finds a doubled step', async () => {
    const game = await play(number)
    const third = game.log[2] as LoggedStep
    const { broken } = judge({ ...game, log: game.log.toSpliced(3, 0, third) })
    expect(broken.doubled).toBe(1)
    expect(broken.outOfTurn).toBe(1)
    expect(broken.wrongReturns).toBeGreaterThan(0)
  })

  it('finds a lost step', async () => {
    const game = await play(number)
    const { broken } = judge({ ...game, log: game.log.slice(0, -1) })
    expect(broken).toMatchObject({ lost: 1, doubled: 0, outOfTurn: 0 })
    expect(broken.wrongReturns).toBeGreaterThan(0)
  })

  it('finds a step out of turn', async () => {
    const game = await play(number)
    const [first, second, third] = game.log as [LoggedStep, LoggedStep, LoggedStep]
    const { broken } = judge({ ...game, log: [first, third, second, ...game.log.slice(3)] })
    expect(broken).toMatchObject({ doubled: 0, outOfTurn: 1 })
  })

  it('finds another due in the log, or by the count of a player', async () => {
    const game = await play(number)
    expect(judge({ ...game, log: withOtherDue(game.log) }).broken.wrongReturns).toBe(1)
    for (const seat of SEATS) {
      const own = game.players[seat]
      const counted = { ...game, players: { ...game.players, [seat]: { ...own, earned: own.earned + 1 } } }
      expect(judge(counted).broken).toMatchObject({ lost: 0, wrongReturns: 1 })
    }
    const differing = { ...game.players.left, differingDue: 1 }
    expect(judge({ ...game, players: { ...game.players, left: differing } }).broken.wrongReturns).toBe(1)
  })

  it('finds an action that its player did not send', async () => {
    const game = await play(number)
    const { action, ...entry } = game.log[0] as LoggedStep
    const { broken } = judge({
      ...game,
      log: game.log.with(0, { ...entry, action: { ...action, arguments: { amount: 9 } } }),
    })
    expect(broken.lost).toBe(1)
  })

  it('finds an answer that was repeated with other bytes', () => {
    const oracle = new SeatsOracle(TASK)
    const _meta = { [META.session]: 'a', [META.seat]: 'left', [META.seq]: 0 }
    const request = JSON.stringify({ method: 'tools/call', params: { name: 'add', _meta } })
    const reply = (text: string, replayed: object) =>
      JSON.stringify({ result: { text, _meta: { [META.step]: { seq: 1 }, ...replayed } } })
    oracle.record({ request, status: 200, reply: reply('one', {}) })
    oracle.record({ request, status: 200, reply: reply('one', { [META.replayed]: true }) })
    expect(oracle).toMatchObject({ breaches: [], answered: 1 })
    oracle.record({ request, status: 200, reply: reply('two', {}) })
    expect(oracle.broken.unstable).toBe(1)
  })
})
