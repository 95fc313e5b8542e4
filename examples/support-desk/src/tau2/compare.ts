import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import type { Json } from '@episodic/protocol'
import { z } from 'zod'
import type { Rows, Shop } from '../shop.ts'
import { readRetailData } from './retail-data.ts'
import { createRetailWorld } from './retail-world.ts'

const USAGE = `Usage: pnpm --filter @episodic-world/support-desk tau2 <folder> [--json]

Plays the golden actions of each task of the retail domain of τ²-bench, over the db.json, tasks.json and policy.md of a folder,
and prints which of them were refused, and what changed in the database. If the folder has a golden.json with what the tools of
τ²-bench did, each task in it is compared with that.

  --json  print one line of JSON: the same, with every change

The exit code is 0 if all tasks are equal, 1 if one is not, and 2 if the command is not understood.`

/** A value of the database that is another one at the end: where it is, and what it is now. */
type Change = readonly [path: readonly string[], value: Json]

const goldenSchema = z.array(
  z.object({
    task: z.string(),
    refused: z.array(z.int()),
    changes: z.array(z.tuple([z.array(z.string()), z.json()]).rest(z.unknown())),
  }),
)

/** What the golden actions of a task did. */
interface Played {
  readonly task: string
  readonly actions: number
  /** The indexes of the actions that were refused. */
  readonly refused: readonly number[]
  readonly changes: readonly Change[]
  /** Whether the world takes the task for solved. */
  readonly success: boolean
  /** What is different in the golden file; `null` if it does not have the task. */
  readonly different: readonly string[] | null
}

function main(args: readonly string[]): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  })
  const [folder, ...others] = positionals
  if (values.help || !folder || others.length > 0) {
    console.log(USAGE)
    return values.help ? 0 : 2
  }
  const played = compareRetail(folder)
  const totals = {
    tasks: played.length,
    actions: sumOf(played, ({ actions }) => actions),
    refused: sumOf(played, ({ refused }) => refused.length),
    changes: sumOf(played, ({ changes }) => changes.length),
    unchanged: played.filter(({ changes }) => changes.length === 0).length,
    success: played.filter(({ success }) => success).length,
    compared: played.filter(({ different }) => different).length,
    equal: played.filter(({ different }) => different?.length === 0).length,
  }
  if (values.json) console.log(JSON.stringify({ ...totals, played }))
  else {
    for (const { task, actions, refused, changes, different } of played) {
      const verdict = different === null ? 'not compared' : different.length === 0 ? 'equal' : 'DIFFERENT'
      const counts = `${actions} actions, ${refused.length} refused, ${changes.length} changes`
      console.log(`task ${task.padEnd(4)} ${counts.padEnd(40)} ${verdict}`)
      for (const line of different ?? []) console.log(`  ${line}`)
    }
    console.log(JSON.stringify(totals))
  }
  return totals.equal === totals.compared && totals.success === totals.tasks ? 0 : 1
}

/** Plays the golden actions of each task of a folder as the agent's steps of an episode. */
export function compareRetail(folder: string): readonly Played[] {
  const data = readRetailData(folder)
  const { environment } = createRetailWorld(data)
  const file = join(folder, 'golden.json')
  const golden = existsSync(file) ? goldenSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : []
  return data.tasks.map(({ id, golden: actions }) => {
    const world = rehearse<EnvironmentDefinition>(environment, { params: { task: id } })
    world.play('say', { text: 'Hello.' }, { seat: 'user' })
    const refused = actions.flatMap(({ tool, arguments: args }, i) =>
      world.play(tool, args, { seat: 'agent' }).refused === null ? [] : [i],
    )
    world.play('say', { text: 'It is done.' }, { seat: 'agent' })
    const end = world.play('hang_up', {}, { seat: 'user' })
    const { shop } = world.state.private as unknown as { readonly shop: Shop }
    const changes = changesBetween(rowsOf(data.shop), rowsOf(shop))
    const known = golden.find(({ task }) => task === id)
    return {
      task: id,
      actions: actions.length,
      refused,
      changes,
      success: end.success === true,
      different: known ? differencesOf(known, { refused, changes }) : null,
    }
  })
}

function rowsOf({ orders, users }: Shop): Json {
  return JSON.parse(JSON.stringify({ orders, users } satisfies Rows)) as Json
}

/** Returns what has changed between two values: in objects field by field, otherwise as a whole. */
function changesBetween(before: Json | undefined, after: Json | undefined, path: readonly string[] = []): Change[] {
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesBetween(before[key], after[key], [...path, key]),
    )
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[path, after ?? null]]
}

function differencesOf(
  golden: z.output<typeof goldenSchema>[number],
  { refused, changes }: Pick<Played, 'refused' | 'changes'>,
): string[] {
  const written = (path: readonly string[], value: unknown) => `${path.join('.')} = ${canonical(value)}`
  const wanted = golden.changes.map(([path, value]) => written(path, value))
  const found = changes.map(([path, value]) => written(path, value))
  return [
    ...(String(golden.refused) === String(refused) ? [] : [`refused ${refused}, and should be ${golden.refused}`]),
    ...wanted.filter((one) => !found.includes(one)).map((one) => `missing: ${one}`),
    ...found.filter((one) => !wanted.includes(one)).map((one) => `too much: ${one}`),
  ]
}

/** A JSON text in which the order of fields makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sumOf(played: readonly Played[], count: (one: Played) => number): number {
  return played.reduce((sum, one) => sum + count(one), 0)
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2))
