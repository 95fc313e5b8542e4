import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { guaranteesSchema } from '@episodic/report/fold/summary'
import { invalidOption } from '@episodic/run/base/harness-error'
import { parseJson } from '@episodic/run/base/json'
import { configurationSchema } from '@episodic/run/folder/plan/configuration'
import { assertFiles, writeRunFile } from '@episodic/run/folder/record/run-folder'
import { createPathScrub, scrubbed, textsIn } from '@episodic/run/folder/scrub'
import { z } from 'zod'
import type { ComparedRun } from '../compare/compared-run.ts'
import { playSchema, setupSchema } from '../compare/played-tasks.ts'
import { readComparedRun } from '../compare/read-compared-run.ts'
import { findEntries, type GateEntry } from './gate-entry.ts'

const FOLDER = 'baselines'

export interface Baseline {
  readonly name: string
  readonly runs: readonly BaselineRun[]
}

interface BaselineRun {
  readonly player: string
  /** Absolute; `null` if only its figures were kept. */
  readonly folder: string | null
  readonly run: ComparedRun
}

const taskSchema = z.strictObject({
  id: z.string(),
  difficulty: z.number(),
  setup: setupSchema.nullable(),
  plays: z.array(playSchema.extend({ attempt: z.int() })),
})

/** What is kept of runs: how each episode ended, and nothing that was seen, said or done in it. */
const baselineSchema = z.strictObject({
  format: z.literal(1),
  runs: z
    .array(
      z.strictObject({
        player: z.string(),
        name: z.string(),
        /** Left out by earlier versions. */
        createdAt: z.string().optional(),
        scheduled: z.int(),
        configuration: configurationSchema,
        guarantees: guaranteesSchema.optional(),
        tasks: z.array(taskSchema),
      }),
    )
    .min(1),
})
type KeptBaseline = z.infer<typeof baselineSchema>

/**
 * Writes runs as the baseline of a name. Resolves with the path of the file: the same bytes for the same runs, a line
 * for each task, so that a change is read in a diff. Rejects with `option-invalid`, `run-invalid` and `disk-failed`.
 */
export async function writeBaseline(name: string, entries: readonly GateEntry[]): Promise<string> {
  if (!/^(?!\.+$)[\w.-]{1,64}$/.test(name))
    throw invalidOption(`"${name}" cannot name a baseline: use up to 64 letters, digits, dots, dashes and underscores.`)
  const runs = await Promise.all(entries.map(readBaselineRun))
  const kept = runs.map(({ player, run }) => toKept(player, run))
  return writeRunFile(resolve(FOLDER), `${name}.json`, formatBaseline({ format: 1, runs: kept }))
}

/**
 * Finds the baseline that a reference names: the folder of a run or a set, or a baseline that was written under that
 * name. Rejects with `option-invalid` if there is none, and with `run-invalid`.
 *
 * @param ofSet - runs of a player of that name, which come first.
 */
export async function findBaseline(reference: string, ofSet: readonly GateEntry[] = []): Promise<Baseline> {
  const entries = ofSet.length > 0 ? ofSet : existsSync(reference) ? await findEntries(reference) : null
  if (entries) return { name: reference, runs: await Promise.all(entries.map(readBaselineRun)) }
  const file = join(FOLDER, `${reference}.json`)
  if (!existsSync(file))
    throw invalidOption(
      `${reference} is no folder of a run, and there is no baseline ${file}. Write one of a run: episodic gate <run> --write-baseline ${reference}`,
    )
  await assertFiles(FOLDER, [`${reference}.json`])
  const read = () => readFileSync(file, 'utf8')
  const { runs } = parseJson(baselineSchema, read, 'run-invalid', `${file} cannot be read as a baseline`)
  return { name: reference, runs: runs.map(fromKept) }
}

async function readBaselineRun({ folder, player }: GateEntry): Promise<BaselineRun> {
  const run = await readComparedRun(folder)
  return { player: player ?? run.manifest.configuration.policy.name, folder, run }
}

function toKept(player: string, { manifest, tasks }: ComparedRun): KeptBaseline['runs'][number] {
  const { name, createdAt, scheduled, configuration, played } = manifest
  return {
    ...{ player, name, createdAt, scheduled },
    configuration: scrubbed(configuration, createPathScrub(textsIn(configuration))),
    ...(played?.guarantees && { guarantees: played.guarantees }),
    tasks: [...tasks.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { difficulty, setup, plays }]) => ({
        ...{ id, difficulty, setup },
        plays: [...plays.entries()]
          .sort(([a], [b]) => a - b)
          .map(([attempt, { outcome, rule, ending, unshaped, steps, tokens, cost, tries }]) => ({
            ...{ attempt, outcome, rule, ending, unshaped, steps, tokens, cost, tries },
          })),
      })),
  }
}

function fromKept({ player, tasks, guarantees, ...manifest }: KeptBaseline['runs'][number]): BaselineRun {
  return {
    player,
    folder: null,
    run: {
      manifest: { ...manifest, ...(guarantees && { played: { transport: '', guarantees } }) },
      tasks: new Map(
        tasks.map(({ id, difficulty, setup, plays }) => [
          id,
          { difficulty, setup, plays: new Map(plays.map(({ attempt, ...play }) => [attempt, play])) },
        ]),
      ),
    },
  }
}

function formatBaseline({ runs, ...head }: KeptBaseline): string {
  const written = runs.map(({ tasks, ...run }) => {
    const lines = tasks.map((task) => `      ${JSON.stringify(task)}`)
    return `    ${JSON.stringify(run).slice(0, -1)}, "tasks": [\n${lines.join(',\n')}\n    ]}`
  })
  return `${JSON.stringify(head).slice(0, -1)}, "runs": [\n${written.join(',\n')}\n]}\n`
}
