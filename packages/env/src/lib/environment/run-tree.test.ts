import { inProcess } from '@episodic/mcp-server'
import { createRng, seedFor } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { definePolicy, type EarlierStep, type Policy } from '../policy/policy.ts'
import type { PlayedStep } from './episode.ts'
import { runEpisode } from './run-episode.ts'
import { type Leaf, runTree, type TreeOptions } from './run-tree.ts'

/** Stays where no goal is, so that only its limits end an episode. */
const wanderer = definePolicy({
  name: 'wanderer',
  start({ seed }) {
    const rng = createRng(seed)
    return () => move(rng.int(-1, 0))
  },
})

type Asked = Partial<TreeOptions> & Pick<TreeOptions, 'points'>

async function grow(asked: Asked): Promise<{ readonly leaves: Leaf[]; readonly open: number }> {
  await using host = createWalkHost()
  await using connection = await connect(inProcess(host))
  const leaves = await runTree({
    createEnvironment: () => connection.environment('walk'),
    policy: wanderer,
    task: { params: { size: 500 }, limits: { steps: 9 } },
    seed: 'world',
    policySeed: 'mine',
    branchSeed: 'fresh',
    ...asked,
  })
  return { leaves, open: (await host.list({ limit: 10 })).total }
}

const facts = (steps: readonly PlayedStep[]) => steps.map(({ milliseconds: _, ...step }) => step)

const anyPoints = fc
  .uniqueArray(fc.nat(10), { minLength: 1, maxLength: 3 })
  .chain((ats) =>
    fc.tuple(
      ...ats
        .sort((a, b) => a - b)
        .map((at) => fc.record({ at: fc.constant(at), lines: fc.integer({ min: 2, max: 3 }) })),
    ),
  )

describe('runTree', () => {
  it('plays lines that share exactly their first steps, each once, and leaves no session open', () =>
    fc.assert(
      fc.asyncProperty(anyPoints, fc.string({ minLength: 1 }), async (points, seed) => {
        const { leaves, open } = await grow({ points, seed })
        expect(open).toBe(0)
        const reached = points.filter(({ at }) => at < 9)
        expect(leaves).toHaveLength(reached.reduce((count, { lines }) => count * lines, 1))
        expect(leaves.map(({ path }) => path)).toEqual(leaves.map(({ path }) => path).toSorted(byPath))
        expect(new Set(leaves.map(({ path }) => path.join())).size).toBe(leaves.length)
        for (const { path, at, seeds, episode } of leaves) {
          expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'step-limit' } })
          expect(episode.steps).toHaveLength(9)
          expect(at).toEqual(reached.map((point) => point.at))
          expect(seeds.map((fresh) => fresh === null)).toEqual(path.map((line) => line === 0))
          for (const other of leaves) {
            const parting = path.findIndex((line, i) => line !== other.path[i])
            const shared = parting < 0 ? 9 : (at[parting] as number)
            expect(facts(other.episode.steps.slice(0, shared))).toEqual(facts(episode.steps.slice(0, shared)))
          }
        }
      }),
      { numRuns: 20 },
    ))

  it('has for its trunk the episode that is played without branches', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    const alone = await runEpisode({
      createEnvironment: () => connection.environment('walk'),
      policy: wanderer,
      task: { params: { size: 500 }, limits: { steps: 9 } },
      seed: 'world',
      policySeed: 'mine',
    })
    const { leaves } = await grow({
      points: [
        { lines: 3, at: 2 },
        { lines: 2, at: 5 },
      ],
    })
    const [trunk] = leaves as [Leaf]
    expect(trunk).toMatchObject({ path: [0, 0], at: [2, 5], seeds: [null, null], policySeed: 'mine' })
    expect(facts(trunk.episode.steps)).toEqual(facts(alone.steps))
  })

  it('gives forks seeds of their own, for the policy and for the world', async () => {
    const { leaves } = await grow({
      points: [
        { lines: 3, at: 2 },
        { lines: 2, at: 5 },
      ],
    })
    const leaf = leaves.find(({ path }) => path.join() === '2,1')
    expect(leaf).toMatchObject({
      seeds: [seedFor(seedFor('fresh', 'point'), 'fork', 1), seedFor(seedFor('fresh', 'point', 2), 'fork', 0)],
      policySeed: seedFor('mine', 'line', 2, 1),
    })
    expect(new Set(leaves.map(({ episode }) => JSON.stringify(facts(episode.steps)))).size).toBe(6)
    const again = await grow({
      points: [
        { lines: 3, at: 2 },
        { lines: 2, at: 5 },
      ],
    })
    expect(again.leaves.map(({ episode }) => facts(episode.steps))).toEqual(
      leaves.map(({ episode }) => facts(episode.steps)),
    )
  })

  it('shows the player of a fork what was played, or hands it over where the policy can take it', async () => {
    const seen: string[][] = []
    const listener: Policy = {
      name: 'listener',
      start() {
        const observed: string[] = []
        seen.push(observed)
        return ({ text }, { last }) => {
          observed.push(`${last?.info.seq ?? 0} ${text}`)
          return move(1)
        }
      },
    }
    const { leaves } = await grow({ policy: listener, points: [{ lines: 2, at: 3 }] })
    const expected = leaves.map(({ episode }) => [
      `0 ${episode.start?.observation.text}`,
      ...episode.steps.slice(0, -1).map(({ info, observation }) => `${info.seq} ${observation.text}`),
    ])
    expect(seen).toEqual(expected)
    const handed: (readonly EarlierStep[])[] = []
    const resuming: Policy = {
      ...wanderer,
      resume(_, earlier) {
        handed.push(earlier)
        return () => move(0)
      },
    }
    const { leaves: resumed } = await grow({ policy: resuming, points: [{ lines: 2, at: 3 }] })
    const [trunk, fork] = resumed as [Leaf, Leaf]
    expect(handed).toHaveLength(1)
    const steps = facts(trunk.episode.steps)
    expect(handed[0]?.map(({ action, step, answers }) => ({ ...step, action, completions: answers }))).toEqual(
      steps.slice(0, 3),
    )
    expect(handed[0]?.map(({ observation }) => observation)).toEqual([
      trunk.episode.start?.observation,
      ...steps.slice(0, 2).map(({ observation }) => observation),
    ])
    expect(fork.episode.steps.slice(3).map(({ action }) => action)).toEqual(Array(6).fill(move(0)))
  })

  it('ends a line that is over before it could branch as one leaf with a shorter path', async () => {
    const points = [
      { lines: 2, at: 1 },
      { lines: 4, at: 8 },
    ]
    const { leaves } = await grow({ points, task: { params: { size: 2 }, limits: { steps: 3 } } })
    expect(leaves.map(({ path }) => path)).toEqual([[0], [1]])
    expect(leaves.every(({ episode }) => episode.kind === 'finished')).toBe(true)
  })

  it('lets a line fail alone', async () => {
    let begun = 0
    const policy: Policy = {
      ...wanderer,
      resume(context) {
        begun += 1
        if (begun === 2) throw new Error('Lost the thread.')
        return wanderer.start(context)
      },
    }
    const { leaves, open } = await grow({ policy, points: [{ lines: 4, at: 3 }] })
    expect(leaves.map(({ episode }) => episode.kind)).toEqual(['finished', 'finished', 'failed', 'finished'])
    expect(leaves[2]?.episode).toMatchObject({ steps: { length: 3 }, cause: { message: 'Lost the thread.' } })
    expect(open).toBe(0)
  })

  it('is one failed leaf where it never began, or where its points make no tree', async () => {
    const broken = {
      createEnvironment: () => {
        throw new Error('Nobody there.')
      },
    }
    const { leaves } = await grow({ points: [{ lines: 4, at: 3 }], ...broken })
    expect(leaves).toMatchObject([{ path: [], episode: { kind: 'failed', start: null } }])
    for (const points of [
      [{ lines: 1, at: 3 }],
      [
        { lines: 2, at: 3 },
        { lines: 2, at: 3 },
      ],
      [{ lines: 2, at: -1 }],
    ])
      expect((await grow({ points })).leaves).toMatchObject([{ episode: { cause: { code: 'option-invalid' } } }])
  })

  it('closes the session that all lines were forked from after the last of them', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    const environment = connection.environment('walk')
    const { leaves } = await grow({
      createEnvironment: () => environment,
      points: [
        { lines: 3, at: 1 },
        { lines: 3, at: 4 },
      ],
    })
    expect(leaves.map(({ episode }) => episode.kind)).toEqual(Array(9).fill('finished'))
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })
})

function byPath(a: readonly number[], b: readonly number[]): number {
  const parting = a.findIndex((line, i) => line !== b[i])
  return parting < 0 ? 0 : (a[parting] as number) - (b[parting] as number)
}
