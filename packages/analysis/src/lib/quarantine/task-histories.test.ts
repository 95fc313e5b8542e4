import { createRng } from '@episodic/protocol'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { describe, expect, it } from 'vitest'
import type { Play } from '../compare/played-tasks.ts'
import { leaveOut } from './quarantine-file.ts'
import { taskHistories } from './task-histories.ts'

const RUNS = 10_000
/** Situations: the chance that each player solves the task, and the rollouts of each. */
const SITUATIONS: readonly (readonly [name: string, chances: readonly number[], rollouts: readonly number[]])[] = [
  ['one player who is right half of the time', [0.5], [8]],
  ['a task that is nearly always solved', [0.9, 0.95], [20, 20]],
  ['players who differ', [0.1, 0.5, 0.9], [8, 8, 8]],
  ['two rollouts of many players', Array.from({ length: 12 }, (_, i) => 0.2 + 0.05 * i), Array(12).fill(2)],
  ['odd and uneven numbers of rollouts', [0.3, 0.6, 0.8], [3, 15, 1]],
]

function runOf(successes: readonly boolean[]) {
  const plays = successes.map((won, i): [number, Play] => [
    i,
    {
      outcome: won ? 'succeeded' : 'fell-short',
      rule: 'world',
      ending: '',
      unshaped: 0,
      steps: 1,
      tokens: null,
      cost: null,
      tries: 1,
    },
  ])
  return { tasks: new Map([['task', { difficulty: 0, setup: null, plays: new Map(plays) }]]) }
}

describe('taskHistories', () => {
  it.each(SITUATIONS)('%s: the interval holds the flip rate in 95 %% of 10,000 runs', (name, chances, rollouts) => {
    const rng = createRng(name)
    const players = chances.map((chance, i) => [chance, rollouts[i] as number] as const)
    const weights = players.map(([chance, rollouts]) => [Math.floor(rollouts / 2), 2 * chance * (1 - chance)] as const)
    const pairs = weights.reduce((sum, [weight]) => sum + weight, 0)
    const truth = weights.reduce((sum, [weight, flips]) => sum + weight * flips, 0) / pairs
    let [held, mean] = [0, 0]
    for (let run = 0; run < RUNS; run++) {
      const played = players.map(([chance, rollouts]) =>
        runOf(Array.from({ length: rollouts }, () => rng.float() < chance)),
      )
      const [history] = taskHistories(played)
      const { rate, low, high } = history?.flips ?? { rate: 0, low: 0, high: 0 }
      held += Number(low <= truth && truth <= high)
      mean += rate / RUNS
    }
    expect(mean).toBeCloseTo(truth, 2)
    expect(held / RUNS).toBeGreaterThanOrEqual(0.95)
  })

  it('knows no flip rate of tasks that no player has finished twice', () => {
    expect(taskHistories([runOf([true]), runOf([false])])).toMatchObject([
      { runs: 2, finished: 2, successes: 1, flips: null },
    ])
  })
})

describe('leaveOut', () => {
  it.each([
    ['that ended after two of its 40 rounds', { rollouts: 40, until: '±3points' }, 10, 20, 14],
    ['of trees', { rollouts: 2, branch: [{ lines: 3, at: 1 }] }, 10, 60, 42],
    ['that has begun four of its tasks', { rollouts: 2 }, 4, 20, 14],
  ] as const)('leaves the plan of a run %s what it has for other tasks', (_, settings, begun, scheduled, left) => {
    const environment = { name: 'world', version: '1' }
    const tasks = new Map(
      Array.from({ length: begun }, (_, i) => [`${i}`, { prompt: '', difficulty: 0, setup: null, plays: new Map() }]),
    )
    const configuration = { environment, branch: [], ...settings } as unknown as RunConfiguration
    const run = { manifest: { name: 'run', scheduled, configuration }, tasks }
    const ids = new Set(['0', '1', '3', 'none'])
    const without = { file: 'odd.json', environment, ids, note: '', json: { leftOut: { file: 'odd.json', tasks: [] } } }
    expect(leaveOut(run, without)).toMatchObject({ manifest: { scheduled: left }, tasks: { size: begun - 3 } })
  })
})
