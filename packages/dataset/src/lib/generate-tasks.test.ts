import { createRng, type JsonObject, taskSchema } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkTasks } from './check-tasks.ts'
import { collect } from './collect.fixture.ts'
import { DatasetError } from './dataset-error.ts'
import { defineTasks, type TaskDraft } from './define-tasks.ts'
import { generateTasks } from './generate-tasks.ts'
import { guessing, guessingEnvironment, guessingTasks } from './guessing.fixture.ts'

const grid = (draft: Partial<TaskDraft<JsonObject>> = {}) =>
  defineTasks({
    name: 'grid',
    environment: { name: 'grid', version: '1', tools: ['move'] },
    generate: ({ rng, difficulty }) => ({ prompt: 'Cross.', params: { map: rng.int(1, 7) }, difficulty, ...draft }),
  })

describe('generateTasks', () => {
  it('makes rows that pass every check', async () => {
    const problems = await collect(
      checkTasks(generateTasks(guessing, { seed: 's', count: 50 }), { environments: [guessingEnvironment] }),
    )
    expect(problems).toEqual([])
  })

  it('begins a longer dataset with the shorter one', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(20), fc.nat(20), (seed, short, more) => {
        const rows = guessingTasks(short + more, seed)
        expect(rows).toHaveLength(short + more)
        expect(rows.slice(0, short)).toEqual(guessingTasks(short, seed))
      }),
      { numRuns: 30 },
    )
  })

  it('yields other rows for another seed and for another family', () => {
    const renamed = { ...guessing, name: 'other' }
    const seeds = [
      guessingTasks(5, 'a'),
      guessingTasks(5, 'b'),
      [...generateTasks(renamed, { seed: 'a', count: 5 })],
    ].flatMap((rows) => rows.map(({ seed }) => seed))
    expect(new Set(seeds).size).toBe(15)
  })

  it('makes a row only when it is requested', () => {
    const made: number[] = []
    const counted = defineTasks({
      ...guessing,
      generate: (context) => {
        made.push(context.index)
        return guessing.generate(context)
      },
    })
    const rows = generateTasks(counted, { seed: 's', count: 1_000_000 })
    rows.next()
    rows.next()
    expect(made).toEqual([0, 1])
  })

  it('fills in the defaults of the parameters, so that an explicit default changes nothing', () => {
    expect(guessingTasks(1)[0]?.params).toMatchObject({ low: 1 })
  })

  it('names the tools of the environment', () => {
    expect(guessingTasks(1)[0]?.tools).toEqual(['guess'])
  })

  it('passes difficulties of the requested range', () => {
    const rows = [...generateTasks(guessing, { seed: 's', count: 200, difficulty: [0.2, 0.4] })]
    expect(Math.min(...rows.map(({ difficulty }) => difficulty))).toBeGreaterThanOrEqual(0.2)
    expect(Math.max(...rows.map(({ difficulty }) => difficulty))).toBeLessThanOrEqual(0.4)
  })

  it('gives the environment other random numbers than the generator', () => {
    let drawn = -1
    const tasks = defineTasks({
      ...guessing,
      generate: (context) => {
        drawn = context.rng.int(0, 2 ** 40)
        return guessing.generate(context)
      },
    })
    for (const { seed } of generateTasks(tasks, { seed: 's', count: 3 }))
      expect(createRng(seed).int(0, 2 ** 40)).not.toBe(drawn)
  })

  it('skips a repeated row', () => {
    const rows = [...generateTasks(grid({ seed: 'fixed', difficulty: 0 }), { seed: 's', count: 7 })]
    expect(rows.map(({ params }) => params.map).sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('continues while some rows are new', () => {
    const rare = defineTasks({
      name: 'rare',
      environment: { name: 'grid', version: '1', tools: ['move'] },
      generate: ({ index }) => ({
        prompt: 'Cross.',
        params: { map: Math.floor(index / 900) },
        difficulty: 0,
        seed: 'fixed',
      }),
    })
    const rows = [...generateTasks(rare, { seed: 's', count: 3 })]
    expect(rows.map(({ params }) => params.map)).toEqual([0, 1, 2])
  })

  it('throws when there are no more distinct rows', () => {
    const rows = generateTasks(grid({ seed: 'fixed', difficulty: 0 }), { seed: 's', count: 8 })
    expect(() => [...rows]).toThrow(expect.objectContaining({ code: 'exhausted', details: { made: 7 } }))
  })

  it.each([
    ['parameters that the schema refuses', { params: { high: 'x' } }, 'params.high: expected number'],
    ['a parameter that the schema does not know', { params: { hihg: 9 } }, 'params.hihg: there is no such key'],
    ['a difficulty out of range', { difficulty: 2 }, 'difficulty:'],
    ['text that is not well-formed', { prompt: '\ud800' }, 'prompt holds a lone surrogate'],
  ])('refuses %s, and names the row', (_, draft, reason) => {
    const tasks = { ...guessing, generate: () => ({ prompt: 'Go.', params: {}, difficulty: 0, ...draft }) }
    const generate = () => [...generateTasks(tasks, { seed: 's', count: 1 })]
    expect(generate).toThrow(expect.objectContaining({ code: 'task-invalid' }))
    expect(generate).toThrow('Row 0 of "guessing"')
    expect(generate).toThrow(reason)
  })

  it('rejects parameters that are not JSON, without a schema', () => {
    const rows = generateTasks(grid({ params: { map: Number.NaN } }), { seed: 's', count: 1 })
    expect(() => rows.next()).toThrow(expect.objectContaining({ code: 'task-invalid' }))
  })

  it.each([
    { count: -1 },
    { count: 1.5 },
    { count: 1, difficulty: [0.5, 0.4] as const },
    { count: 1, splits: { train: 0.5, validation: 0.5, test: 0.5 } },
    { count: 1, splits: { train: 1.5, validation: -0.5, test: 0 } },
  ])('refuses %j at once', (options) => {
    expect(() => generateTasks(guessing, { seed: 's', ...options })).toThrow(
      expect.objectContaining({ code: 'options-invalid' }),
    )
  })

  it('throws errors that are recognised by their brand', () => {
    try {
      generateTasks(guessing, { seed: 's', count: -1 })
      expect.unreachable()
    } catch (error) {
      expect(DatasetError.is(error)).toBe(true)
      expect(DatasetError.is(error, 'options-invalid')).toBe(true)
      expect(DatasetError.is(error, 'exhausted')).toBe(false)
    }
  })

  it('yields rows that survive a round trip through JSON', () => {
    for (const task of guessingTasks(5)) expect(taskSchema.parse(JSON.parse(JSON.stringify(task)))).toEqual(task)
  })
})
