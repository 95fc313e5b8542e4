import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect.ts'
import { runEpisode } from '../environment/run-episode.ts'
import { definePolicy } from '../policy/policy.ts'
import { advantages, type CreditForm, type Rollout } from './advantages.ts'

interface Place {
  readonly seen: number
  readonly hidden: number
}

/** A small world as a table: where an action leads, what it earns, and whether it ends there. */
type Table = (place: Place, act: number) => { readonly to: Place; readonly reward: number; readonly isOver: boolean }

/** How likely the player takes each of three actions, wherever it is. */
const TAKES = [0.5, 0.3, 0.2] as const
const DISCOUNT = 0.9

const TABLES: Readonly<Record<string, Table>> = {
  // Two ways to each sum: most states are reached by several.
  sums: ({ seen, hidden }, act) => ({
    to: { seen: seen + act, hidden: hidden + 1 },
    reward: (seen + act) % 4 === 0 ? 1 : 0.1 * act,
    isOver: hidden === 4,
  }),
  // A switch that nobody sees decides what the last place is worth.
  switch: ({ seen, hidden }, act) => ({
    to: { seen: seen + 1, hidden: act === 0 ? 1 - hidden : hidden },
    reward: seen === 3 ? (hidden === 1 ? 2 : -1) : act === 2 ? 0.25 : 0,
    isOver: seen === 3,
  }),
  // A ring that is walked in circles until its exit.
  ring: ({ seen }, act) => ({
    to: { seen: (seen + act + 1) % 5, hidden: 0 },
    reward: (seen + act + 1) % 5 === 4 ? 1 : -0.2,
    isOver: (seen + act + 1) % 5 === 4,
  }),
}

function stateWorth(table: Table, place: Place, depth = 60): number {
  return depth === 0 ? 0 : TAKES.reduce((sum, p, act) => sum + p * worthOf(table, place, act, depth), 0)
}
const known = new Map<string, number>()
function worthOf(table: Table, place: Place, act: number, depth = 60): number {
  const key = JSON.stringify([TAKES, table.toString(), place, act, depth])
  const { to, reward, isOver } = table(place, act)
  const worth = known.get(key) ?? reward + (isOver ? 0 : DISCOUNT * stateWorth(table, to, depth - 1))
  known.set(key, worth)
  return worth
}

async function playTable(table: Table, count: number) {
  const place = z.object({ seen: z.int() })
  const world = defineEnvironment({
    name: 'table',
    version: '1.0.0',
    description: 'Act.',
    handle: false,
    state: { public: place, private: z.object({ hidden: z.int() }) },
    start: () => ({ public: { seen: 0 }, private: { hidden: 0 } }),
    observe: ({ seen }) => `${seen}`,
    tools: ({ tool }) => ({
      act: tool({
        description: 'Act.',
        input: z.object({ what: z.int().min(0).max(2) }),
        play({ state, input, end, say }) {
          const { to, isOver } = table({ ...state.public, ...state.private }, input.what)
          state.public.seen = to.seen
          state.private.hidden = to.hidden
          if (isOver) end('over')
          return say('Done.')
        },
      }),
    }),
    rewards: {
      earned: ({ before, input }) => table({ ...before.public, ...before.private }, Number(input.what)).reward,
    },
  })
  const policy = definePolicy({
    name: 'drawn',
    start({ seed }) {
      const rng = createRng(seed)
      return () => {
        const drawn = rng.float()
        return { tool: 'act', arguments: { what: drawn < TAKES[0] ? 0 : drawn < TAKES[0] + TAKES[1] ? 1 : 2 } }
      }
    },
  })
  await using host = createHost({ environments: [world] })
  await using connection = await connect(inProcess(host))
  const group: Rollout[] = []
  const places: Place[][] = []
  for (let attempt = 0; attempt < count; attempt++) {
    const createEnvironment = () => connection.environment('table')
    const { steps } = await runEpisode({ createEnvironment, policy, seed: 'one', policySeed: `player ${attempt}` })
    const played = steps.map(({ action, reward, info }) => ({ action, reward: reward.total, ...info }))
    group.push({ steps: played })
    const way: Place[] = [{ seen: 0, hidden: 0 }]
    for (const { action } of played) way.push(table(way.at(-1) as Place, Number(action.arguments.what)).to)
    places.push(way)
  }
  return { group, places }
}

describe('advantages', () => {
  it.each(Object.keys(TABLES))('estimates what enumeration gives in the world of %s', async (name) => {
    const table = TABLES[name] as Table
    const { group, places } = await playTable(table, 600)
    for (const form of ['state', 'rtmc', 'gigpo'] as const) {
      const { rollouts, shared, steps } = advantages(group, { form, episodeWeight: 0, discount: DISCOUNT })
      expect(shared).toBeGreaterThan(steps / 2)
      const sums = new Map<string, { found: number[]; place: Place; act: number; visits: number }>()
      for (const [i, rollout] of rollouts.entries())
        for (const [at, { advantage, visits }] of rollout.steps.entries()) {
          const [place, act] = [places[i]?.[at] as Place, Number(Object(group[i]?.steps[at]?.action).arguments.what)]
          const key = JSON.stringify([place, act])
          const sum = sums.get(key) ?? { found: [], place, act, visits }
          sums.set(key, sum)
          sum.found.push(advantage)
        }
      for (const { found, place, act, visits } of sums.values()) {
        if (found.length < 20) continue
        const exact = worthOf(table, place, act) - stateWorth(table, place)
        // A return of these worlds deviates by less than 1.5, and the mean of so many by the root of their number less.
        const error = 1.5 / Math.sqrt(found.length) + 1.5 / Math.sqrt(visits)
        const mean = found.reduce((all, value) => all + value, 0) / found.length
        expect(Math.abs(mean - exact)).toBeLessThan(3 * error)
      }
    }
  })

  const step = (what: number, stateHash: string | null, reward = 0, sample?: string) => ({
    action: { tool: 'act', arguments: { what } },
    reward,
    stateHash,
    sample,
  })

  it('credits the step at which rollouts part, and says how many steps met a shared state', () => {
    const group = [
      { steps: [step(1, 'hall'), step(1, 'left'), step(1, null, 1)] },
      { steps: [step(1, 'hall'), step(2, 'right'), step(1, null, 0)] },
      { steps: [step(2, 'yard'), step(2, 'wall', 0)] },
    ]
    const states = (form: CreditForm) =>
      advantages(group, { form }).rollouts.map(({ steps }) => steps.map(({ state }) => state))
    expect(states('state')).toEqual([
      [1 / 2 - 1 / 3, 1 / 2, 0],
      [1 / 2 - 1 / 3, -1 / 2, 0],
      [-1 / 3, 0],
    ])
    expect(states('gigpo')[0]).toEqual([1 - 1 / 3, 1 / 2, 0])
    expect(states('rtmc')[0]).toEqual([1 / 2 - 1 / 3, 1 / 2, 0])
    expect(advantages(group)).toMatchObject({ steps: 8, shared: 2 })
    expect(advantages(group, { form: 'rtmc' }).rollouts[0]?.steps[1]?.advantage).toBe(1 / 2)
    expect(advantages(group, { stateWeight: 2 }).rollouts[0]?.steps[1]?.advantage).toBe(1 - 1 / 3 + 2 / 2)
    expect(advantages([group[0] as Rollout, group[2] as Rollout])).toMatchObject({ steps: 5, shared: 0 })
  })

  it('keeps states apart by the calls before them on request', () => {
    const group = [{ steps: [step(1, 'a'), step(1, 'b'), step(1, 'c')] }, { steps: [step(2, 'b'), step(1, 'c')] }]
    expect(advantages(group).shared).toBe(2)
    expect(advantages(group, { timeLeft: true }).shared).toBe(0)
    const twice = { steps: [{ ...step(2, 'b'), calls: 2 }, step(1, 'c')] }
    expect(advantages([...group.slice(0, 1), twice], { timeLeft: true }).shared).toBe(2)
  })

  it('counts a step that forked rollouts share once, with the mean of what they earned', () => {
    const trunk = step(1, 'fork', 0, 'trunk')
    const group = [1, 0].map((reward) => ({ steps: [trunk, step(reward, null, reward)] }))
    const other = { steps: [step(3, 'elsewhere', 0)] }
    const { rollouts, steps, shared } = advantages([...group, other])
    expect([steps, shared]).toEqual([4, 2])
    expect(rollouts.map(({ steps: [first] }) => first?.advantage)).toEqual(
      [1 / 3, 1 / 3, -2 / 3].map((value) => expect.closeTo(value, 12)),
    )
    expect(rollouts[0]?.steps.map(({ visits }) => visits)).toEqual([2, 2])
  })

  it('learns nothing from a group without variance, and refuses what is no number', () => {
    const same = [0.1 + 0.2, 0.3].map((reward) => ({ steps: [step(1, null, reward)] }))
    expect(advantages(same, { deviation: true }).rollouts.map(({ advantage }) => advantage)).toEqual([0, 0])
    expect(() => advantages([{ steps: [step(1, null, Number.NaN)] }])).toThrow('has the reward NaN')
    expect(() => advantages(same, { discount: 2 })).toThrow('a discount from 0 to 1')
  })
})
