import type { Task } from '@episodic/protocol'
import type { Stages } from '@episodic/run/folder/plan/curriculum-settings'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { describe, expect, it } from 'vitest'
import { planStages } from './staged-plan.ts'

const tasks = Array.from({ length: 12 }, (_, i) => ({
  id: `task-${String(i).padStart(2, '0')}`,
  environment: { name: 'world', version: '1.0.0' },
  tools: [],
  prompt: '',
  hints: [],
  params: {},
  seed: String(i),
  difficulty: i / 12,
  limits: {},
  split: 'train' as const,
  tags: [],
  metadata: {},
})) satisfies Task[]

async function* pool() {
  yield* tasks
}

const staged = {
  kind: 'staged',
  stages: [
    { name: 'easy', episodes: 15, difficulty: [0, 0.5] },
    { name: 'hard', episodes: 25, difficulty: [0.5, 1] },
  ],
} satisfies Stages

async function plan(): Promise<PlannedEpisode[]> {
  const planned: PlannedEpisode[] = []
  for await (const one of await planStages(staged, { seed: 's', rollouts: 3 }, pool())) planned.push(one)
  return planned
}

describe('planStages', () => {
  it('draws the tasks of each stage, with its name, and numbers the attempts of a task on', async () => {
    const planned = await plan()
    expect(planned.map(({ curriculum }) => curriculum)).toEqual(
      Array.from({ length: 120 }, (_, i) => {
        const draw = Math.floor(i / 3)
        return { draw, stage: draw < 15 ? 'easy' : 'hard' }
      }),
    )
    expect(planned.slice(45).every(({ task }) => task.difficulty >= 0.5)).toBe(true)
    const attempts = Map.groupBy(planned, ({ task }) => task.id)
    for (const [, own] of attempts) expect(own.map(({ attempt }) => attempt)).toEqual(own.map((_, i) => i))
    expect(await plan()).toEqual(planned)
  })

  it('refuses a stage without tasks', async () => {
    const stages: Stages = { kind: 'staged', stages: [{ name: 'none', episodes: 1, difficulty: [0.95, 1] }] }
    await expect(planStages(stages, { seed: 's', rollouts: 1 }, pool())).rejects.toThrow(
      expect.objectContaining({ code: 'option-invalid' }),
    )
  })
})
