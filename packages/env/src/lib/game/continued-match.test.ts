import { createHost, inProcess } from '@episodic/mcp-server'
import { type Action, canonicalJson, createRng, type Json, type Rng, type SessionSnapshot } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import type { Connection } from '../environment/connection.ts'
import { fair } from '../fixtures/fair.fixture.ts'
import { meeting, nim, relay } from '../fixtures/nim.fixture.ts'
import { PlayerStop } from '../policy/player-stop.ts'
import type { EarlierStep, Player, Policy, PolicyContext } from '../policy/policy.ts'
import type { Match, MatchOptions } from './match.ts'
import { runMatch } from './run-match.ts'
import type { SessionGame } from './session-game.ts'

interface Listening {
  readonly move: (rng: Rng) => Action
  /** Whether it is handed what was played before, or asked again. */
  readonly resumes: boolean
  readonly stops: boolean
}

/** Moves by all that it was ever shown, which it writes down by seat, and may stop. */
function listener(shown: Record<string, string[]>, { move, resumes, stops }: Listening): Policy {
  const lineOf = (...line: unknown[]) => canonicalJson(line as Json)
  const play = ({ seat = '', seed }: PolicyContext, earlier: readonly EarlierStep[]): Player => {
    const own = earlier.map(({ observation }, i) => lineOf(observation, earlier[i - 1]?.step ?? null))
    shown[seat] = own
    return (observation, { last }) => {
      own.push(lineOf(observation, last))
      const rng = createRng(`${seed} ${own.join()}`)
      if (stops && own.length > 3 && rng.int(0, 30) === 0) throw new PlayerStop('no-action', 'It has had enough.')
      return move(rng)
    }
  }
  return { name: 'listener', start: (context) => play(context, []), ...(resumes && { resume: play }) }
}

/** Plays a match. Resolves with it, what its seats were shown, and the world after each step until the end. */
async function play(connection: Connection, name: string, listening: Listening, options: Partial<MatchOptions>) {
  const shown: Record<string, string[]> = {}
  const worlds: SessionSnapshot[] = []
  const createGame = () => {
    const game = connection.game(name) as SessionGame
    const close = game.close.bind(game)
    const kept = async () => {
      for (let at = worlds.length; !options.origin; at++) {
        const world = await game.snapshot({ at }).catch(() => null)
        if (!world || world.end) break
        worlds.push(world)
      }
      await close()
    }
    return Object.assign(game, { close: kept })
  }
  const { seats = [] } = connection.game(name).info
  const player = listener(shown, listening)
  const policies = Object.fromEntries(seats.map((seat) => [seat.name, player]))
  const match = await runMatch({ createGame, policies, ...options })
  if (match.kind === 'failed') throw match.cause
  return { match, worlds, shown }
}

/** Steps without what is of the session that they were played in. */
const facts = (steps: Match['steps']) =>
  steps.map(({ milliseconds: _, seen: __, report: { revision: ___, ...report }, ...step }) => ({ ...step, report }))

const act = (rng: Rng): Action =>
  rng.int(0, 2) === 0
    ? { tool: 'bid', arguments: { bid: rng.int(0, 3) } }
    : { tool: 'act', arguments: { what: rng.int(0, 8) } }

const WORLDS = {
  nim: { move: (rng: Rng) => ({ tool: 'take', arguments: { count: rng.int(1, 4) } }) },
  'meeting of sealed moves': {
    move: (rng: Rng) => ({ tool: 'choose', arguments: { choice: rng.pick(['left', 'right', 'up']) } }),
  },
  'relay that one leaves': { move: () => ({ tool: 'pass', arguments: {} }), limits: { steps: 5 } },
  'fair in turns, with events, absent seats and seats that leave': {
    move: act,
    limits: { steps: 6 },
    params: { rounds: false },
  },
  // Who stops while others move at once does so between their moves by time, so there nobody does.
  'fair with rounds of sealed moves': { move: act, params: { moves: 8 }, quiet: true },
}

describe('runMatch with an origin', () => {
  it.each(Object.entries(WORLDS))('goes on from each step of a %s as the match did', async (title, world) => {
    await using host = createHost({ environments: [nim, meeting, relay, fair] })
    await using connection = await connect(inProcess(host))
    const { move, quiet = false, ...task } = world as (typeof WORLDS)['nim'] & { quiet?: boolean }
    const name = title.split(' ')[0] as string
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.boolean(), fc.boolean(), async (seed, resumes, stops) => {
        const listening = { move, resumes, stops: stops && !quiet }
        const given = { seed, policySeed: seed, task }
        const whole = await play(connection, name, listening, given)
        const { start, steps, seats } = whole.match
        for (const [at, snapshot] of whole.worlds.entries()) {
          const origin = { snapshot, start, steps: steps.slice(0, at) }
          const { match, shown } = await play(connection, name, listening, { ...given, origin })
          for (const seat of Object.keys(shown)) expect(shown[seat]).toEqual(whole.shown[seat])
          expect(facts(match.steps)).toEqual(facts(steps.slice(at)))
          for (const [seat, { terms: _, return: earned, ...result }] of Object.entries(match.seats)) {
            expect(seats[seat]).toMatchObject(result)
            const terms = match.steps.flatMap(({ seat: mover, report }) =>
              Object.values((mover === seat ? report.terms : report.seats?.terms?.[seat]) ?? {}),
            )
            expect(earned).toBeCloseTo(
              terms.reduce((sum, term) => sum + term, 0),
              9,
            )
          }
        }
      }),
      { numRuns: 15, seed: 50 },
    )
  })

  it('plays a given call first, and shows another answer to who acts next', async () => {
    await using host = createHost({ environments: [nim] })
    await using connection = await connect(inProcess(host))
    const taking = { move: () => ({ tool: 'take', arguments: { count: 2 } }), resumes: true, stops: false }
    const task = { params: { stones: 9 }, limits: { steps: 5 } }
    const { match, worlds } = await play(connection, 'nim', taking, { task })
    const origin = { snapshot: worlds[2] as SessionSnapshot, start: match.start, steps: match.steps.slice(0, 2) }
    const call = { seat: 'ann', tool: 'take', arguments: { count: 1 } }
    const called = await play(connection, 'nim', taking, { task, origin: { ...origin, call } })
    expect(called.match.steps.map(({ seat, action }) => [seat, action.arguments.count])).toEqual([
      ['ann', 1],
      ['bob', 2],
      ['ann', 2],
    ])
    expect(called.match.steps[0]).toMatchObject({ completions: [], report: { seq: 2, revision: 1 } })
    expect(called.match.start).toMatchObject({
      turn: ['ann'],
      seats: { ann: { messages: ['You took 2.', 'bob took 2.'] }, bob: { messages: ['You took 2.'] } },
    })
    const read = (own: Record<string, string[]>, seat: string, at: number) => JSON.parse(own[seat]?.[at] ?? '')[0].text
    expect(read(called.shown, 'ann', 2)).toBe('You took 1.\nbob took 2.\n2 stones are left, and you took 3.')
    const answered = await play(connection, 'nim', taking, { task, origin: { ...origin, answer: 'Nothing left.' } })
    expect(read(answered.shown, 'ann', 1)).toBe('Nothing left.')
    expect(read(answered.shown, 'ann', 2)).toBe('You took 2.\nbob took 2.\n1 stones are left, and you took 4.')
    const first = { ...origin, snapshot: worlds[0] as SessionSnapshot, steps: [], answer: 'Begin.' }
    expect(read((await play(connection, 'nim', taking, { task, origin: first })).shown, 'ann', 0)).toBe('Begin.')
  })

  it('fails for a call of a seat that may not act', async () => {
    await using host = createHost({ environments: [nim] })
    await using connection = await connect(inProcess(host))
    const taking = { move: () => ({ tool: 'take', arguments: { count: 2 } }), resumes: true, stops: false }
    const { match, worlds } = await play(connection, 'nim', taking, { task: { params: { stones: 4 } } })
    const call = { seat: 'bob', tool: 'take', arguments: { count: 1 } }
    const origin = { snapshot: worlds[0] as SessionSnapshot, start: match.start, steps: [], call }
    await expect(play(connection, 'nim', taking, { origin })).rejects.toMatchObject({ code: 'not-your-turn' })
    expect((await host.list({ limit: 10 })).total).toBe(0)
  })
})
