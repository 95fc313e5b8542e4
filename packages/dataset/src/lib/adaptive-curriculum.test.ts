import { createRng, type Task } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AdaptiveOptions, createAdaptiveCurriculum } from './adaptive-curriculum.ts'
import { guessingTasks } from './guessing.fixture.ts'

const tasks = guessingTasks(100)

/** Plays with a learner that solves a task with probability `skill(task)`; returns the tasks and their outcomes. */
function learn(
  curriculum: ReturnType<typeof createAdaptiveCurriculum>,
  episodes: readonly number[],
  skill: (task: Task) => number,
) {
  return episodes.map((episode) => {
    const task = curriculum.next()!
    const success = createRng(`learner ${episode}`).chance(skill(task))
    curriculum.observe(task.id, success)
    return { task, success }
  })
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const chanceOf = ({ difficulty }: Task) => 1 - difficulty

describe('createAdaptiveCurriculum', () => {
  it.each([0.3, 0.5, 0.8])('keeps to tasks that are solved about %d of the time', (target) => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's', target, explore: 0 })
    const settled = learn(curriculum, numbers(0, 2_000), chanceOf).slice(500)
    const mean = settled.reduce((sum, { task }) => sum + chanceOf(task), 0) / settled.length
    expect(Math.abs(mean - target)).toBeLessThan(0.1)
    // Tasks taken evenly would lie 0.25 or more from the target on average.
    const spread = settled.reduce((sum, { task }) => sum + Math.abs(chanceOf(task) - target), 0) / settled.length
    expect(spread).toBeLessThan(0.15)
  })

  it('draws harder tasks for a learner that improves', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's' })
    const novice = learn(curriculum, numbers(0, 1_500), ({ difficulty }) => (difficulty < 0.2 ? 0.5 : 0)).slice(500)
    const expert = learn(curriculum, numbers(1_500, 4_000), ({ difficulty }) => (difficulty < 0.8 ? 1 : 0.5)).slice(
      1_500,
    )
    const share = (played: typeof novice, wanted: (task: Task) => boolean) =>
      played.filter(({ task }) => wanted(task)).length / played.length
    expect(share(novice, ({ difficulty }) => difficulty < 0.2)).toBeGreaterThan(0.6)
    expect(share(expert, ({ difficulty }) => difficulty >= 0.8)).toBeGreaterThan(0.6)
  })

  it('draws every task once before it repeats one off target', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's', focus: 1, explore: 0 })
    const played = learn(curriculum, numbers(0, 100), () => 0).map(({ task }) => task.id)
    expect(new Set(played).size).toBe(100)
  })

  it('alternates between tasks of equal rank', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's', focus: 1, explore: 0 })
    const drawn = Array.from({ length: 200 }, () => curriculum.next()!.id)
    expect(new Set(drawn.slice(0, 100)).size).toBe(100)
    expect(drawn.slice(100)).toEqual(drawn.slice(0, 100))
  })

  it('draws every task again while it explores', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's', explore: 1 })
    const played = learn(curriculum, numbers(0, 2_000), () => 1).slice(500)
    expect(new Set(played.map(({ task }) => task.id)).size).toBe(100)
  })

  it('continues from a saved state', () => {
    const options: AdaptiveOptions = { seed: 's', target: 0.6 }
    const whole = learn(createAdaptiveCurriculum(tasks, options), numbers(0, 300), chanceOf)
    fc.assert(
      fc.property(fc.nat(300), (stop) => {
        const before = createAdaptiveCurriculum(tasks, options)
        const played = learn(before, numbers(0, stop), chanceOf)
        const state = JSON.parse(JSON.stringify(before.save()))
        const after = createAdaptiveCurriculum(tasks.toReversed(), { ...options, state })
        expect([...played, ...learn(after, numbers(stop, 300), chanceOf)]).toEqual(whole)
      }),
      { numRuns: 20 },
    )
  })

  it('saves at most the last 16 outcomes of a task', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's' })
    const { id } = curriculum.next()!
    for (const success of [false, true, false]) curriculum.observe(id, success)
    expect(curriculum.save()).toMatchObject({ draws: 1, tasks: { [id]: { outcomes: '010', drawn: 1 } } })
    for (let i = 0; i < 20; i++) curriculum.observe(id, true)
    expect(curriculum.save().tasks).toEqual({ [id]: { outcomes: '1'.repeat(16), drawn: 1 } })
  })

  it('rejects outcomes of an unknown task', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's' })
    expect(() => curriculum.observe('nobody', true)).toThrow(expect.objectContaining({ code: 'unknown-task' }))
  })

  it('rejects the state of another curriculum, and a damaged one', () => {
    const curriculum = createAdaptiveCurriculum(tasks, { seed: 's' })
    const { id } = curriculum.next()!
    const state = curriculum.save()
    const restore =
      (options: Partial<AdaptiveOptions>, pool = tasks) =>
      () =>
        createAdaptiveCurriculum(pool, { seed: 's', state, ...options })
    const invalid = expect.objectContaining({ code: 'state-invalid' })
    expect(restore({})).not.toThrow()
    expect(restore({ seed: 't' })).toThrow(invalid)
    expect(restore({ target: 0.7 })).toThrow(invalid)
    expect(restore({}, tasks.slice(1))).toThrow(invalid)
    expect(restore({ state: { ...state, tasks: { [id]: { outcomes: '012', drawn: 1 } } } })).toThrow(invalid)
  })

  it.each<Partial<AdaptiveOptions>>([
    { target: 0 },
    { target: 1 },
    { focus: 0 },
    { focus: 1.5 },
    { explore: -0.1 },
    { explore: Number.NaN },
  ])('refuses %j', (options) => {
    expect(() => createAdaptiveCurriculum(tasks, { seed: 's', ...options })).toThrow(
      expect.objectContaining({ code: 'options-invalid' }),
    )
  })

  it('rejects an empty pool and repeated tasks', () => {
    const invalid = expect.objectContaining({ code: 'pool-invalid' })
    expect(() => createAdaptiveCurriculum([], { seed: 's' })).toThrow(invalid)
    expect(() => createAdaptiveCurriculum([...tasks, tasks[0]!], { seed: 's' })).toThrow(invalid)
  })
})
