import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect.ts'
import type { Connection } from '../environment/connection.ts'
import { runEpisode } from '../environment/run-episode.ts'
import { runTree } from '../environment/run-tree.ts'
import { withShaping } from '../environment/with-shaping.ts'
import { randomPolicy } from './random-policy.ts'

/** Nine cells to fill, of which one that is filled is refused: the world says which are free. */
const says = defineEnvironment({
  name: 'says',
  version: '1.0.0',
  description: 'Fill the board.',
  params: z.object({}),
  state: { public: z.object({ cells: z.array(z.boolean()).max(9) }), private: z.object({}) },
  limits: { steps: 200 },
  start: () => ({ public: { cells: Array.from({ length: 9 }, () => false) }, private: {} }),
  observe: ({ cells }) => cells.map((filled) => (filled ? 'X' : '.')).join(''),
  tools: ({ tool }) => ({
    place: tool({
      description: 'Fills a cell.',
      input: z.object({ cell: z.int().min(0).max(8) }),
      play({ state, input, refuse, say, end }) {
        if (state.public.cells[input.cell]) return refuse('That cell is not free.')
        state.public.cells[input.cell] = true
        if (state.public.cells.every(Boolean)) end('full')
        return say('Placed.')
      },
    }),
    undo: tool({ description: 'Is always refused.', input: z.object({}), play: ({ refuse }) => refuse('Never.') }),
  }),
  legal: ({ cells }) => ({ place: [...cells.keys()].filter((cell) => !cells[cell]).map((cell) => ({ cell })) }),
  rewards: { full: ({ end }) => (end ? 1 : 0) },
  potential: ({ public: { cells } }) => cells.filter(Boolean).length,
})

/** The same, which does not say it. */
const silent = { ...says, name: 'silent', hasLegal: false }

const cleanUp = new AsyncDisposableStack()
let connection: Connection
beforeAll(async () => {
  const host = cleanUp.use(createHost({ environments: [says, silent] }))
  connection = cleanUp.use(await connect(inProcess(host)))
})
afterAll(() => cleanUp.disposeAsync())

async function play(name: string, policySeed: string) {
  const createEnvironment = () => withShaping(connection.environment(name))
  const episode = await runEpisode({ createEnvironment, policy: randomPolicy(), seed: 's', policySeed })
  expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'full' } })
  return episode.steps.map(({ action, info }) => ({ action, refused: info.refused }))
}

describe('randomPolicy', () => {
  it('plays nothing that is refused where the world says what is legal, and the same for the same seed', async () => {
    const games = await Promise.all(['a', 'a', 'b', 'c', 'd'].map((seed) => play('says', seed)))
    for (const steps of games) {
      expect(steps).toHaveLength(9)
      for (const { refused } of steps) expect(refused).toBeNull()
    }
    expect(games[1]).toEqual(games[0])
    expect(new Set(games.map((steps) => JSON.stringify(steps))).size).toBe(4)
  })

  it('draws again after a refusal, and does not repeat what was refused since the last accepted step', async () => {
    let refusals = 0
    for (let seed = 0; seed < 20; seed++) {
      const refused = new Set<string>()
      for (const step of await play('silent', `${seed}`)) {
        const action = JSON.stringify(step.action)
        expect(refused).not.toContain(action)
        if (step.refused) refusals += 1
        if (step.refused) refused.add(action)
        else refused.clear()
      }
    }
    expect(refusals).toBeGreaterThan(0)
  })

  it('knows in a fork what was refused before', async () => {
    const leaves = await runTree({
      createEnvironment: () => connection.environment('silent'),
      policy: randomPolicy(),
      seed: 's',
      policySeed: 'tree',
      points: [{ lines: 20, at: 12 }],
      branchSeed: 'b',
    })
    expect(leaves).toHaveLength(20)
    for (const { episode } of leaves) {
      const refused = new Set<string>()
      for (const { action, info } of episode.steps) {
        expect(refused).not.toContain(JSON.stringify(action))
        if (info.refused) refused.add(JSON.stringify(action))
        else refused.clear()
      }
    }
  })

  it('goes on where all that it may draw is refused', async () => {
    const player = await randomPolicy().start({
      task: { prompt: '', hints: [], params: {} },
      tools: [{ name: 'only', description: '', inputSchema: { type: 'object' }, outputSchema: null }],
      seed: 's',
    })
    const observation = { text: '', structured: null }
    const reward = { total: 0, terms: {}, shaping: 0 }
    const info = { seq: 1, potential: null, refused: 'rules' as const, stateHash: null, replayed: false }
    const only = { tool: 'only', arguments: {} }
    expect(await player(observation, { last: null })).toEqual(only)
    expect(await player(observation, { last: { observation, reward, end: null, info } })).toEqual(only)
    // Nothing is legal: it plays all the same, and the world says what it makes of that.
    expect(await player(observation, { last: null, legal: async () => ({}) })).toEqual(only)
  })
})
