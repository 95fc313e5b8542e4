import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { meanSchema } from './mean-return.ts'
import { suiteNameSchema } from './suite-file.ts'
import { figureSchema, toleranceSchema } from './world-references.ts'

const expectedSchema = z.strictObject({ value: figureSchema, tolerance: toleranceSchema, source: z.string() })

const lineShape = {
  /** Unique within its world. */
  id: z.string(),
  quantity: z.string(),
  /** `null`: the parameters of generated tasks. */
  params: jsonObjectSchema.nullable(),
}

/** Figures of many episodes, and the run that they come from. */
const playedShape = {
  /** With several seats, that of the seat in `focus`. */
  policy: z.string(),
  /** The policy of each seat, and the seat whose return it is; `null` in an environment of one seat. */
  seats: z.record(z.string(), z.string()).nullable(),
  focus: z.string().nullable(),
  /** The mean of the unshaped returns of finished episodes; `null` for fewer than two. */
  here: meanSchema.nullable(),
  finished: z.int().min(0),
  /** Failed episodes are not part of a mean, and are never a return of zero. */
  failed: z.int().min(0),
  /** The folder of the run, relative to that of the suite. */
  run: z.string(),
  /** SHA-256 of its sealed episodes. */
  sealed: z.string(),
}

const lineResultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('exact'),
    ...lineShape,
    reference: expectedSchema,
    here: figureSchema,
    verdict: z.enum(['same', 'differs']),
  }),
  z.strictObject({
    kind: z.literal('played'),
    ...lineShape,
    ...playedShape,
    reference: z.strictObject({ ...expectedSchema.shape, value: z.number() }),
    /** `not-checked` if an episode failed, because the mean of the others is another figure. */
    verdict: z.enum(['inside', 'differs', 'not-checked']),
  }),
  z.strictObject({
    kind: z.literal('scored'),
    ...lineShape,
    ...playedShape,
    /** Expected means of the random and the best policy; `null` if unknown. */
    anchors: z.strictObject({ random: z.number().nullable(), optimum: z.number().nullable() }),
    /** `here`, on the scale on which random play has 0 and the best policy 1. */
    score: meanSchema.nullable(),
  }),
])
export type LineResult = z.infer<typeof lineResultSchema>

/**
 * The content of `suite.json`: what a suite measured and played, and whether its figures agree with their references.
 */
export const suiteResultSchema = z.strictObject({
  format: z.literal(1),
  suite: z.strictObject({
    name: suiteNameSchema,
    version: z.string(),
    /** Of all that decides its figures: worlds, versions, lines, references, seed and episodes. */
    sha256: z.string(),
  }),
  versions: z.strictObject({ episodic: z.string(), node: z.string() }),
  seed: z.string(),
  /** Episodes of each played figure. */
  episodes: z.int().min(2),
  /** The policy of the scored lines; `null` without them. */
  policy: z.string().nullable(),
  worlds: z.array(
    z.strictObject({
      environment: z.strictObject({ name: z.string(), version: z.string() }),
      lines: z.array(lineResultSchema),
    }),
  ),
  /** Lines with a reference: `references = hold + differ + notChecked`. */
  counts: z.strictObject({ references: z.int(), hold: z.int(), differ: z.int(), notChecked: z.int() }),
})
export type SuiteResult = z.infer<typeof suiteResultSchema>

/** The files of a suite's result. Runs are in a folder of their own. */
export const SUITE_FILES = { result: 'suite.json', report: 'report.html', runs: 'runs' } as const

export function countVerdicts(worlds: SuiteResult['worlds']): SuiteResult['counts'] {
  const verdicts = worlds.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.kind === 'scored' ? [] : [line.verdict])),
  )
  const count = (...wanted: readonly string[]) => verdicts.filter((verdict) => wanted.includes(verdict)).length
  return {
    references: verdicts.length,
    hold: count('same', 'inside'),
    differ: count('differs'),
    notChecked: count('not-checked'),
  }
}

/** Whether a folder holds the result of a suite, or runs of one that was stopped. */
export function holdsSuite(folder: string): boolean {
  return [SUITE_FILES.result, SUITE_FILES.runs].some((name) => existsSync(join(folder, name)))
}
