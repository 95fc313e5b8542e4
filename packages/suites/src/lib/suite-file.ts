import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { jsonObjectSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { parseJson } from '@episodic/run/base/json'
import { readTextFile } from '@episodic/run/base/text-file'
import { z } from 'zod'

const policyName = z.string().regex(/^[\w-]+$/, 'not random, solver or the name of a policy that the module exports')

/** Who plays: one policy, or, in an environment of several seats, one in each. */
export const playersSchema = z.union([
  z.object({ policy: policyName }),
  z.object({
    seats: z.record(z.string(), policyName),
    /** The seat whose return it is. Default: the first. */
    focus: z.string().optional(),
  }),
])

/** A figure that many episodes have to agree with. */
const playedSchema = z.strictObject({
  /** Unique within its world. The part before the last `/` names the variant, for example `easy/solver`. */
  id: z.string().min(1),
  /** What the figure is, for people. Default: the mean return of the policy. */
  quantity: z.string().optional(),
  /** Parameters of the environment. Default: those of its generated tasks. */
  params: jsonObjectSchema.optional(),
  /** `random`, `solver` or another policy that the module exports. */
  policy: policyName.optional(),
  /** In an environment of several seats: the policy of each, instead of `policy`. */
  seats: z.record(z.string(), policyName).optional(),
  /** The seat whose return it is. Default: the first. */
  focus: z.string().optional(),
  /** The expected mean of the unshaped return. */
  expected: z.number(),
  /** How far the expected figure itself may be from the truth. Default: 0. */
  tolerance: z.number().min(0).default(0),
  /** Who says so. */
  source: z.string().min(1),
})

/** The content of a suite file, `<name>.suite.json`. */
const suiteFileSchema = z.strictObject({
  format: z.literal(1),
  /** A part of a folder's name. */
  name: z.string().regex(/^[\w-]+$/, 'not a name of letters, digits, "_" and "-"'),
  version: z.string().min(1),
  description: z.string().default(''),
  /** Decides the tasks and the chance of policies. */
  seed: z.string().min(1).default('0'),
  /** Episodes of each played figure. */
  episodes: z.int().min(2).max(1_000_000).default(1_000),
  worlds: z
    .array(
      z.strictObject({
        /** A path relative to this file, a name, or an entry of an installed package. */
        world: z.string().min(1),
        /** Ids of the references that the module exports. Default: all. */
        references: z.array(z.string()).optional(),
        played: z.array(playedSchema).default([]),
      }),
    )
    .min(1),
})
export type SuiteFile = z.infer<typeof suiteFileSchema>

export type FoundSuite = ReturnType<typeof readSuite>

const EXTENSION = '.suite.json'

/** The folder that is searched for a bare name. */
const SHELF = 'suites'

/** The package with the suites of several benchmarks. */
const BENCHMARKS = '@episodic/benchmarks'

/**
 * Reads a suite by a path to its file, which ends with `.json`, by the name of a file in `suites/`, or by the name of
 * an installed package that holds one; `@episodic/` may be left out.
 *
 * Throws `suite-not-found`, and `suite-invalid`, which names each wrong field.
 */
export function readSuite(reference: string, folder = process.cwd()) {
  const file = placesOf(reference, folder).find((place) => existsSync(place) && statSync(place).isFile())
  if (!file)
    throw new HarnessError(
      'suite-not-found',
      `There is no suite "${reference}". Give a path to a suite file, the name of one in ${SHELF}/ (${SHELF}/<name>${EXTENSION}), or an installed package that has one, such as classics.`,
    )
  const read = () => readTextFile(file)
  return { file, suite: parseJson(suiteFileSchema, read, 'suite-invalid', `${file} is not a suite file`) }
}

function placesOf(reference: string, folder: string): string[] {
  if (reference.endsWith('.json')) return [resolve(folder, reference)]
  const named = `${basename(reference)}${EXTENSION}`
  return [
    resolve(folder, SHELF, `${reference}${EXTENSION}`),
    ...packageFolders(reference, folder).map((place) => join(place, named)),
  ]
}

/** Where a package of this name, or that of the benchmarks, can be installed. A package need not export its suite. */
function packageFolders(reference: string, folder: string): string[] {
  if (!/^(@[\w.-]+\/)?[\w.-]+$/.test(reference)) return []
  const names = reference.startsWith('@') ? [reference] : [reference, `@episodic/${reference}`, BENCHMARKS]
  const shelves = createRequire(join(folder, 'package.json')).resolve.paths(reference) ?? []
  return names.flatMap((name) => shelves.map((shelf) => join(shelf, name)))
}
