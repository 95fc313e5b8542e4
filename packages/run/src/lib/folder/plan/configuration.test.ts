import { describe, expect, it } from 'vitest'
import { whatDiffers } from '../set/same-tasks.ts'
import { assertSame, type RunConfiguration } from './configuration.ts'

const kept: RunConfiguration = {
  environment: { name: 'number-guessing', version: '1.0.0' },
  tasks: { from: 'dataset', file: 'tasks.jsonl', sha256: 'aa', split: null },
  policy: { name: 'solver', sha256: null },
  sampling: null,
  rollouts: 2,
  branch: [],
  maxSteps: null,
  weights: { solved: 1 },
  shaping: false,
  discount: 1,
  seed: '0',
}

describe('assertSame', () => {
  it('accepts an equal configuration, with any order of keys and any name of the dataset', () => {
    const tasks = { from: 'dataset', split: null, sha256: 'aa', file: '/elsewhere/tasks.jsonl' } as const
    expect(() => assertSame(kept, { ...kept, tasks }, 'runs/a')).not.toThrow()
  })

  it.each<[string, Partial<RunConfiguration>]>([
    ['environment.version: was "1.0.0", now "2.0.0"', { environment: { ...kept.environment, version: '2.0.0' } }],
    ['tasks.sha256: was "aa", now "bb"', { tasks: { from: 'dataset', file: 'x', sha256: 'bb', split: null } }],
    ['tasks.file: was "tasks.jsonl"', { tasks: { from: 'generator', count: 1, difficulty: [0, 1], split: null } }],
    ['policy.sha256: was null, now "cc"', { policy: { name: 'solver', sha256: 'cc' } }],
    ['weights.cost: was not given, now 0.5', { weights: { solved: 1, cost: 0.5 } }],
    ['weights.solved: was 1, now not given', { weights: {} }],
    ['maxSteps: was null, now 5', { maxSteps: 5 }],
    ['shaping: was false, now true', { shaping: true }],
    ['seed: was "0", now "1"', { seed: '1' }],
  ])('names the difference: %s', (line, change) => {
    expect(() => assertSame(kept, { ...kept, ...change }, 'runs/a')).toThrow(`runs/a holds a run with another`)
    expect(() => assertSame(kept, { ...kept, ...change }, 'runs/a')).toThrow(line)
  })
})

describe('whatDiffers', () => {
  const played = (agent: string, user: string): RunConfiguration => {
    const [policy, other] = [agent, user].map((name) => ({ name, sha256: null })) as [
      typeof kept.policy,
      typeof kept.policy,
    ]
    return { ...kept, policy, seats: { agent: policy, user: other }, focus: 'agent' }
  }

  it('leaves out who plays the seat in focus, and not who plays beside it', () => {
    expect(whatDiffers(played('solver', 'scripted'), played('random', 'scripted'))).toEqual([])
    expect(whatDiffers(played('solver', 'scripted'), played('random', 'llm:gpt'))).toEqual([
      ['seats.user.name', '"scripted"', '"llm:gpt"'],
    ])
  })
})
