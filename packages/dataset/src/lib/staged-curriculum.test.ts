import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { guessingTasks } from './guessing.fixture.ts'
import { createStagedCurriculum, defineStages } from './staged-curriculum.ts'

const tasks = guessingTasks(40)
const stages = defineStages([
  { name: 'warm-up', difficulty: [0, 0.4], episodes: 25 },
  { name: 'mixed', difficulty: [0, 1], episodes: 50 },
  { name: 'hard', difficulty: [0.7, 1], episodes: 5 },
])

function playOut(curriculum: ReturnType<typeof createStagedCurriculum>) {
  const played = []
  for (let task = curriculum.next(); task; task = curriculum.next()) played.push(task)
  return played
}

describe('createStagedCurriculum', () => {
  it("draws each stage's episodes within its difficulties, then ends", () => {
    const curriculum = createStagedCurriculum(stages, tasks, { seed: 's' })
    const played = playOut(curriculum).map(({ difficulty }) => difficulty)
    expect(played).toHaveLength(80)
    expect(Math.max(...played.slice(0, 25))).toBeLessThanOrEqual(0.4)
    expect(Math.min(...played.slice(75))).toBeGreaterThanOrEqual(0.7)
    expect(curriculum.next()).toBeNull()
  })

  it('draws all tasks of a stage before it repeats one', () => {
    const all = defineStages([{ name: 'all', difficulty: [0, 1], episodes: 80 }])
    const played = playOut(createStagedCurriculum(all, tasks, { seed: 's' })).map(({ id }) => id)
    expect(new Set(played.slice(0, 40)).size).toBe(40)
    expect(new Set(played.slice(40)).size).toBe(40)
    expect(played.slice(40)).not.toEqual(played.slice(0, 40))
  })

  it('draws the same for any order of the tasks, and otherwise for another seed', () => {
    const played = playOut(createStagedCurriculum(stages, tasks, { seed: 's' }))
    expect(playOut(createStagedCurriculum(stages, tasks.toReversed(), { seed: 's' }))).toEqual(played)
    expect(playOut(createStagedCurriculum(stages, tasks, { seed: 't' }))).not.toEqual(played)
  })

  it('continues from a saved state', () => {
    const whole = playOut(createStagedCurriculum(stages, tasks, { seed: 's' }))
    fc.assert(
      fc.property(fc.nat(80), (stop) => {
        const before = createStagedCurriculum(stages, tasks, { seed: 's' })
        const played = Array.from({ length: stop }, () => before.next())
        const state = JSON.parse(JSON.stringify(before.save()))
        expect([...played, ...playOut(createStagedCurriculum(stages, tasks, { seed: 's', state }))]).toEqual(whole)
      }),
    )
  })

  it('rejects the state of another curriculum, and a damaged one', () => {
    const state = createStagedCurriculum(stages, tasks, { seed: 's' }).save()
    const invalid = expect.objectContaining({ code: 'state-invalid' })
    expect(() => createStagedCurriculum(stages, tasks, { seed: 't', state })).toThrow(invalid)
    expect(() => createStagedCurriculum(stages, tasks.slice(1), { seed: 's', state })).toThrow(invalid)
    expect(() => createStagedCurriculum(stages.slice(1), tasks, { seed: 's', state })).toThrow(invalid)
    expect(() => createStagedCurriculum(stages, tasks, { seed: 's', state: { ...state, draws: -1 } })).toThrow(invalid)
  })

  it('rejects a stage without tasks, an empty pool and repeated tasks', () => {
    const invalid = expect.objectContaining({ code: 'pool-invalid' })
    const easy = tasks.filter(({ difficulty }) => difficulty < 0.5)
    expect(() => createStagedCurriculum(stages, easy, { seed: 's' })).toThrow(invalid)
    expect(() => createStagedCurriculum(stages, [], { seed: 's' })).toThrow(invalid)
    expect(() => createStagedCurriculum(stages, [...tasks, ...tasks], { seed: 's' })).toThrow(invalid)
  })

  it('accepts outcomes of its own tasks only', () => {
    const curriculum = createStagedCurriculum(stages, tasks, { seed: 's' })
    const before = curriculum.save()
    curriculum.observe(curriculum.next()!.id, true)
    expect(curriculum.save()).toEqual({ ...before, draws: 1 })
    expect(() => curriculum.observe('nobody', true)).toThrow(expect.objectContaining({ code: 'unknown-task' }))
  })
})

describe('defineStages', () => {
  it.each([
    [[]],
    [[{ name: 'a', difficulty: [0.5, 0.2], episodes: 1 }]],
    [[{ name: 'a', difficulty: [0, 1.2], episodes: 1 }]],
    [[{ name: 'a', difficulty: [0, 1], episodes: 0 }]],
    [
      [
        { name: 'a', difficulty: [0, 1], episodes: 1 },
        { name: 'a', difficulty: [0, 1], episodes: 1 },
      ],
    ],
  ] as const)('refuses %j', (given) => {
    expect(() => defineStages(given)).toThrow(expect.objectContaining({ code: 'options-invalid' }))
  })
})
