import { environment, solver } from '@episodic/classics/kuhn-poker'
import { connect, definePolicy, type Policy, randomPolicy, runMatch } from '@episodic/env'
import { createHost, defineGame, type Host, inProcess } from '@episodic/mcp-server'
import { playSeats } from '@episodic/play/worlds/serve/seat-players'
import type { Step } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { environment as meeting } from '../../fixtures/meeting.fixture.ts'

/** Two speak in turn: the one that speaks earns 1, and the other 2. */
const talk = defineGame({
  name: 'talk',
  version: '1.0.0',
  description: 'Talk.',
  seats: ['ann', 'bob'],
  utility: 'general',
  params: z.object({}),
  state: { public: z.object({ said: z.array(z.string()) }), own: z.object({}), private: z.object({}) },
  start: () => ({ public: { said: [] }, own: { ann: {}, bob: {} }, private: {} }),
  turn: ({ said }) => (said.length % 2 === 0 ? 'ann' : 'bob'),
  observe: ({ public: { said } }) => `Said so far: ${said.join(' ')}`,
  tools: ({ tool }) => ({
    say: tool({
      description: 'Say a text.',
      input: z.object({ text: z.string() }),
      play({ state, input, end, say }) {
        state.public.said.push(input.text)
        if (state.public.said.length === 7) end('talked')
        return say('You said it.')
      },
    }),
  }),
  rewards: { talked: ({ seat, moved }) => (moved.includes(seat) ? 1 : 2) },
})

/** Hosts on one store that all play the second seat by a policy. */
async function openTable(policy: Policy, hosts = 1) {
  const store = createMemoryStore()
  const failures: unknown[] = []
  const opened = Array.from({ length: hosts }, () => createHost({ environments: [environment], store }))
  for (const host of opened) {
    const players = await playSeats(
      host,
      { [environment.name]: { second: policy } },
      { onFailed: ({ cause }) => failures.push(cause) },
    )
    onTestFinished(async () => {
      await players[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    })
  }
  return { hosts: opened as [Host, ...Host[]], failures }
}

/** Opens a session at one host and plays the first seat at another, by a move for each turn. Resolves with the log. */
async function playFirst(at: Host, elsewhere: Host, seed: string) {
  const { session: token } = await at.open(null, { environment: environment.name, seed, requestKey: seed })
  const session = await elsewhere.resolve(null, { by: 'control', token })
  for (;;) {
    const { mine, end, seq } = await session.turn({ seat: 'first', wait: 60 })
    if (end) break
    expect(mine).toBe(true)
    await session.step({ action: { tool: 'act', arguments: { move: 'pass' } }, seat: 'first', seq })
  }
  return (await session.watch({ after: 0, limit: 100, wait: 0 })).steps
}

describe('playSeats', () => {
  it('makes each move of its seat once, with several servers on one store', async () => {
    const { hosts, failures } = await openTable(randomPolicy(), 2)
    const [one, other] = hosts as [Host, Host]
    const games = await Promise.all(Array.from({ length: 20 }, (_, i) => playFirst(one, other, `game ${i}`)))
    const played = games.map((steps) => steps.map(({ seat, report }) => `${seat} ${report.seq}`).join(', '))
    // Pass, pass; or pass, bet, pass.
    expect([...new Set(played)].sort()).toEqual(['first 1, second 1', 'first 1, second 1, first 2'])
    expect(failures).toEqual([])
  })

  it('plays by the solver of a world, with the view of its seat alone', async () => {
    const { hosts, failures } = await openTable(solver)
    const games = await Promise.all(Array.from({ length: 10 }, (_, i) => playFirst(hosts[0], hosts[0], `deal ${i}`)))
    expect(games.every((steps) => steps.at(-1)?.report.end?.kind === 'terminated')).toBe(true)
    expect(failures).toEqual([])
  })

  it('moves in a round at once with the others, who learn of no move before the round is played', async () => {
    await using host = createHost({ environments: [meeting] })
    const first = definePolicy({ name: 'left', start: () => () => ({ tool: 'choose', arguments: { choice: 'left' } }) })
    const onFailed = ({ cause }: { cause: unknown }) => expect.fail(String(cause))
    await using _players = await playSeats(host, { [meeting.name]: { ann: first } }, { onFailed })
    const { session: token } = await host.open(null, { environment: meeting.name, requestKey: 'meeting' })
    const session = await host.resolve(null, { by: 'control', token })
    const { steps } = await session.watch({ after: 0, limit: 1, wait: 60 })
    expect(steps).toMatchObject([{ seat: 'ann', report: { seats: { sealed: true, turn: ['bob'] } } }])
    const action = { tool: 'choose', arguments: { choice: 'left' } }
    expect((await session.step({ action, seat: 'bob', seq: 0 })).step.report.terms).toMatchObject({ met: 1 })
  })

  it('tries a move again whose policy fails', async () => {
    let asked = 0
    const moody = definePolicy({
      name: 'moody',
      start: () => () => {
        asked += 1
        if (asked < 3) throw new Error('not now')
        return { tool: 'act', arguments: { move: 'pass' } }
      },
    })
    const { hosts, failures } = await openTable(moody)
    expect((await playFirst(hosts[0], hosts[0], 'cards')).map(({ seat }) => seat)).toEqual(['first', 'second'])
    expect(failures).toEqual([new Error('not now'), new Error('not now')])
  })

  it('starts a policy once for a session, and shows it what a run would show it', async () => {
    interface Shown {
      readonly move: number
      readonly text: string
      readonly structured: unknown
      readonly last: Step | null
    }
    const counting = (shown: Shown[]): Policy =>
      definePolicy({
        name: 'counting',
        start() {
          let move = 0
          return ({ text, structured }, { last }) => {
            shown.push({ move, text, structured, last })
            move += 1
            return { tool: 'say', arguments: { text: `This is my move ${move}.` } }
          }
        },
      })
    const other = definePolicy({ name: 'other', start: () => () => ({ tool: 'say', arguments: { text: 'Go on.' } }) })
    const chat = { seed: 'chat', params: {} }

    const run: Shown[] = []
    await using table = createHost({ environments: [talk] })
    await using connection = await connect(inProcess(table))
    await runMatch({ createGame: () => connection.game(), policies: { ann: other, bob: counting(run) }, task: chat })

    const served: Shown[] = []
    await using host = createHost({ environments: [talk] })
    const onFailed = ({ cause }: { cause: unknown }) => expect.fail(String(cause))
    await using _players = await playSeats(host, { [talk.name]: { bob: counting(served) } }, { onFailed })
    const { session: token } = await host.open(null, { ...chat, environment: talk.name, requestKey: 'chat' })
    const session = await host.resolve(null, { by: 'control', token })
    const action = { tool: 'say', arguments: { text: 'Go on.' } }
    for (;;) {
      const { mine, seq } = await session.turn({ seat: 'ann', wait: 60 })
      if (!mine) break
      await session.step({ action, seat: 'ann', seq })
    }
    expect(run.map(({ move }) => move)).toEqual([0, 1, 2])
    expect(run[1]?.last?.reward.total).toBe(3)
    // The handle of a seat gives no hash of the state of all.
    const ofSeat = ({ last, ...shown }: Shown) => ({
      ...shown,
      last: last && { ...last, info: { ...last.info, stateHash: '' } },
    })
    expect(served).toEqual(run.map(ofSeat))
  })

  it('makes the moves that are missing when it starts', async () => {
    const store = createMemoryStore()
    await using before = createHost({ environments: [environment], store })
    const { session: token } = await before.open(null, { environment: environment.name, requestKey: 'left' })
    const session = await before.resolve(null, { by: 'control', token })
    await session.step({ action: { tool: 'act', arguments: { move: 'bet' } }, seat: 'first', seq: 0 })
    await using after = createHost({ environments: [environment], store })
    await using _players = await playSeats(
      after,
      { [environment.name]: { second: randomPolicy() } },
      { onFailed: ({ cause }) => expect.fail(String(cause)) },
    )
    const restarted = await after.resolve(null, { by: 'control', token })
    expect(await restarted.turn({ seat: 'first', wait: 60 })).toMatchObject({ end: { kind: 'terminated' } })
  })
})
