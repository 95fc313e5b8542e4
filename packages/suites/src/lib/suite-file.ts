import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { suiteDataSchema } from '@episodic/benchmarks/suite/suite-data'
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
  expected: z.number(),
  /** How far the expected figure itself may be from the truth. Default: 0. */
  tolerance: z.number().min(0).default(0),
  source: z.string().min(1),
})

export const suiteFileSchema = z.strictObject({
  format: z.literal(1),
  name: z.string().regex(/^[\w-]+$/, 'not a name of letters, digits, "_" and "-"'),
  version: z.string().min(1),
  description: z.string().default(''),
  /** Decides the tasks and the chance of policies. */
  seed: z.string().min(1).default('0'),
  episodes: z.int().min(2).max(1_000_000).default(1_000),
  worlds: z
    .array(
      z.strictObject({
        /** A path relative to this file, a name, or an entry of an installed package. */
        world: z.string().min(1),
        /** Ids of the references that the module exports. Default: all. */
        references: z.array(z.string()).optional(),
        played: z.array(playedSchema).default([]),
        /** How many tasks it has. Default: what the module says, or as many as `episodes`. */
        tasks: z.int().min(1).optional(),
        golden: z.int().min(0).optional(),
        /** A file of golden actions, relative to this one. Default: the `golden` of the module. */
        goldenFile: z.string().optional(),
        floor: z.int().min(0).optional(),
        seat: z.string().optional(),
        defects: z
          .array(z.strictObject({ issue: z.string().min(1), tasks: z.array(z.string()), what: z.string().min(1) }))
          .default([]),
      }),
    )
    .min(1),
  /** What of the original a score is without, such as judges of natural language. */
  notReproduced: z.array(z.string().min(1)).default([]),
  data: suiteDataSchema.optional(),
})
export type SuiteFile = z.infer<typeof suiteFileSchema>

export type FoundSuite = ReturnType<typeof readSuite>

const EXTENSION = '.suite.json'

const SHELF = 'suites'

/**
 * Reads a suite by a path to its file, which ends with `.json`, or by the name of one in `suites/` or in an installed
 * package; the scope of a package may stand before a name, and one of its worlds after either, as in `tau2/airline`.
 *
 * Throws `suite-not-found`, and `suite-invalid`, which names each wrong field.
 */
export function readSuite(reference: string, folder = process.cwd()) {
  const [name, world = null] = reference.replace(/^@[^/]+\//, '').split('/')
  const [path = reference, worldOfPath = null] = reference.split(/(?<=\.json)\//)
  const isPath = path.endsWith('.json')
  const file = isPath
    ? resolve(folder, path)
    : listSuiteFiles(folder).find((place) => basename(place) === `${name}${EXTENSION}`)
  if (!file || !existsSync(file) || !statSync(file).isFile())
    throw new HarnessError(
      'suite-not-found',
      `There is no suite "${reference}". Give a path to a suite file, or the name of one in ${SHELF}/ (${SHELF}/<name>${EXTENSION}) or in an installed package, as \`episodic suite list\` names them.`,
    )
  const read = () => readTextFile(file)
  const suite = parseJson(suiteFileSchema, read, 'suite-invalid', `${file} is not a suite file`)
  return { file, suite, world: isPath ? worldOfPath : world }
}

/** Lists the suite files of a folder's `suites/`, of its installed packages, and of those beside the command. */
export function listSuiteFiles(folder = process.cwd()): string[] {
  const shelves = [folder, import.meta.dirname].flatMap(
    (place) => createRequire(join(place, 'package.json')).resolve.paths('packages') ?? [],
  )
  const packages = shelves.flatMap((shelf) =>
    filesIn(shelf).flatMap((place) => (basename(place).startsWith('@') ? filesIn(place) : [place])),
  )
  const files = [resolve(folder, SHELF), ...packages].flatMap(filesIn).filter((file) => file.endsWith(EXTENSION))
  return files.filter((file, i) => files.findIndex((other) => basename(other) === basename(file)) === i)
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}
