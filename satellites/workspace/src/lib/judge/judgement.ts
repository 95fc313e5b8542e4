import { z } from 'zod'

/**
 * The schema of what a judge found: use it as the `prepared` of the tool that judges, so that the record of the step
 * says why a test failed. It names inputs and right answers, so the agent should read no more than `passed`.
 */
export const judgement = z.strictObject({
  /** How many tests passed. */
  passed: z.int(),
  /** `why` is what came out and what should have; empty if it passed. */
  tests: z.array(z.strictObject({ name: z.string(), passed: z.boolean(), why: z.string() })),
})

export type Judgement = z.output<typeof judgement>

const MOST_WHY = 500

/** Makes a judgement of tests, each with why it failed; `null` if it passed. */
export function toJudgement(tests: readonly (readonly [name: string, why: string | null])[]): Judgement {
  // No test at all would pass everybody.
  if (tests.length === 0) throw new TypeError('A judge needs at least one test. Give it `tests`.')
  const judged = tests.map(([name, why]) => ({
    name,
    passed: why === null,
    why: (why ?? '').slice(0, MOST_WHY).toWellFormed(),
  }))
  return { passed: judged.filter(({ passed }) => passed).length, tests: judged }
}
