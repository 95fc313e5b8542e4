import type { JsonObject } from '@episodic/protocol'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineTasks, type TaskDraft } from './define-tasks.ts'
import { guessingEnvironment } from './guessing.fixture.ts'

describe('defineTasks', () => {
  it('returns its argument', () => {
    const definition = {
      name: 'fixed',
      environment: guessingEnvironment,
      generate: () => ({ prompt: 'Go.', params: {}, difficulty: 0 }),
    }
    expect(defineTasks(definition)).toBe(definition)
  })

  it("types the parameters by the environment's schema, with defaults optional", () => {
    const tasks = defineTasks({
      name: 'typed',
      environment: guessingEnvironment,
      generate: () => ({ prompt: 'Go.', params: { high: 5 }, difficulty: 0 }),
    })
    expectTypeOf(tasks.generate).returns.toEqualTypeOf<
      TaskDraft<{ low?: number | undefined; high?: number | undefined; maxGuesses?: number | undefined }>
    >()
    defineTasks({
      name: 'mistyped',
      environment: guessingEnvironment,
      // @ts-expect-error: `high` is a number.
      generate: () => ({ prompt: 'Go.', params: { high: 'five' }, difficulty: 0 }),
    })
  })

  it('accepts any JSON object without a schema', () => {
    const tasks = defineTasks({
      name: 'untyped',
      environment: { name: 'elsewhere', version: '2', tools: ['look'] },
      generate: () => ({ prompt: 'Go.', params: { anything: ['at', 'all'] }, difficulty: 0 }),
    })
    expectTypeOf(tasks.generate).returns.toEqualTypeOf<TaskDraft<JsonObject>>()
  })
})
