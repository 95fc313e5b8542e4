import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adding, openCountingSession, play, totalOf } from '../fixtures/counting-session.fixture.ts'
import type { Session } from './session.ts'

/** What a bad connection does to one attempt at a call. */
type Weather = 'fine' | 'request-lost' | 'reply-lost' | 'duplicated' | 'other-holder'

const anyWeather = fc.constantFrom<Weather>('fine', 'request-lost', 'reply-lost', 'duplicated', 'other-holder')
const anyGame = fc.record({
  // Too little to reach the end of the world.
  amounts: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 10 }),
  weather: fc.array(anyWeather, { maxLength: 60 }),
})

/** A server's answer to one step: the text of the answer. */
type Serve = (by: number, seq: number) => Promise<string>

/** A client that sends each step again, with the same seq, until it has the answer. */
async function playThrough(serve: Serve, other: Serve, game: { amounts: number[]; weather: Weather[] }) {
  const answers: string[] = []
  const weather = [...game.weather]
  for (const [seq, by] of game.amounts.entries()) {
    for (let answered = false; !answered; ) {
      const now = weather.shift() ?? 'fine'
      if (now === 'request-lost') continue
      const via = now === 'other-holder' ? other : serve
      const attempts = now === 'duplicated' ? [via(by, seq), via(by, seq)] : [via(by, seq)]
      const [answer] = await Promise.all(attempts)
      if (now === 'reply-lost') continue
      answers.push(answer as string)
      answered = true
    }
  }
  return answers
}

/** Resolves with whether the session, after a game over a bad connection, has each step that the client received. */
async function holds(game: { amounts: number[]; weather: Weather[] }, makeServe: (session: Session) => Serve) {
  const { session, another } = await openCountingSession()
  const answers = await playThrough(makeServe(session), makeServe(await another()), game)
  const record = await session.refresh()
  const sums = game.amounts.map((_, index) => game.amounts.slice(0, index + 1).reduce((sum, by) => sum + by, 0))
  const expected = game.amounts.map((by, index) => `${by === 0 ? 'still' : 'now'} ${sums[index]}`)
  return (
    record.seats.agent?.seq === game.amounts.length &&
    totalOf(record) === sums.at(-1) &&
    JSON.stringify(answers) === JSON.stringify(expected)
  )
}

const careful =
  (session: Session): Serve =>
  async (by, seq) =>
    (await play(session, adding(by, seq))).step.observation.text

const naive =
  (session: Session): Serve =>
  async (by) =>
    (await play(session, adding(by))).step.observation.text

describe('a client that retries over a connection that loses and doubles', () => {
  it('has each acknowledged step applied exactly once', async () => {
    await fc.assert(fc.asyncProperty(anyGame, (game) => holds(game, careful)))
  })

  it('would be caught out by a server that ignores seq', async () => {
    const run = await fc.check(
      fc.asyncProperty(anyGame, (game) => holds(game, naive)),
      { numRuns: 200 },
    )
    expect(run.failed).toBe(true)
  })
})
