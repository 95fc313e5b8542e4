import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineTasks, type TaskDraft } from './define-tasks.ts'
import { guessingEnvironment } from './guessing.fixture.ts'

describe('defineTasks', () => {
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
    defineTasks({
      name: 'chosen',
      environment: { ...guessingEnvironment, params: z.object({ map: z.enum(['4x4', '8x8']) }) },
      generate: ({ difficulty }) => ({ prompt: 'Go.', params: { map: difficulty < 0.5 ? '4x4' : '8x8' }, difficulty }),
    })
  })
})
