import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Policy } from '@episodic/env'
import { contentId } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { jsonInFile } from '@episodic/run/base/json'
import { z } from 'zod'
import { type CheckedWorld, learnerOf } from '../check-context.ts'
import type { CheckReport } from '../check-report.ts'
import type { CheckOptions } from '../check-world.ts'
import { seatTarget } from '../partners/seat-target.ts'
import { hackSchema, replayHack } from '../search/hack.ts'
import { hostedTarget } from '../served/served-target.ts'
import { rehearsedTarget } from '../targets/rehearsed-target.ts'
import type { CheckTarget } from '../targets/target.ts'

type Out = Pick<NodeJS.WritableStream, 'write'>

/** Returns a world as kept scripts are played in it, with partners in its other seats. */
export async function openKeptTarget(
  world: CheckedWorld,
  partners: Readonly<Record<string, Policy>> = {},
): Promise<CheckTarget> {
  const { multiplayer, tools } = world.environment
  const context = { world, settings: [], seed: '0' }
  if (Object.values(tools).some(({ preparation }) => preparation?.repeatable === false)) return hostedTarget(context, 0)
  const learner = learnerOf(world.environment, partners)
  const all = rehearsedTarget(context, 0)
  return learner && multiplayer ? seatTarget(all, learner) : all
}

/**
 * Plays the scripts of a folder that are of a target, each from fresh episodes. Resolves with what each earns: `pays`
 * is `null` if the solver fails. Rejects with `option-invalid` for a file that is no script, or without any.
 */
export async function replayKept(target: CheckTarget, folder: string) {
  const played: { readonly file: string; readonly pays: boolean | null; readonly what: string }[] = []
  const names = await readdir(folder).catch((cause) => {
    throw invalidOption(`The scripts of hacks in ${folder} cannot be read. Name a folder of them.`, { cause })
  })
  for (const name of names.filter((each) => each.endsWith('.json')).sort()) {
    const file = join(folder, name)
    const hack = await jsonInFile(hackSchema, file)
    if (!hack) throw invalidOption(`${file} is no script of a hack. Delete it, or let \`episodic check\` write one.`)
    if (hack.target.name === target.name) played.push({ file, ...(await replayHack(target, hack)) })
  }
  if (played.length > 0) return played
  throw invalidOption(`${folder} has no script of ${target.name}. Keep some: episodic check --search 5m.`)
}

/** Writes a line of each script of a folder. The exit status is 1 unless each is known to be paid no more. */
export async function playKeptHacks(target: CheckTarget, folder: string, out: Out): Promise<void> {
  for (const { file, pays, what } of await replayKept(target, folder)) {
    out.write(`${pays ? 'paid   ' : pays === null ? 'unknown' : 'closed '} ${basename(file)}: ${what}\n`)
    if (pays !== false) process.exitCode = 1
  }
}

/**
 * Writes the scripts that a check has found into a folder, and plays them again by this command, in a process that
 * knows nothing of this one. Without a folder, says which command writes them.
 */
export async function keepHacks(
  folder: string | null,
  { checks, world }: CheckReport,
  command: string,
  out: Out,
): Promise<void> {
  const hacks = checks.flatMap((check) => check.hacks ?? [])
  if (hacks.length === 0) return
  const scripts = hacks.length === 1 ? 'The script' : `Each of the ${hacks.length} scripts`
  if (folder === null)
    return void out.write(`${scripts} is kept in hacks/ by: ${command} --only exploits --search 1m\n`)
  await mkdir(folder, { recursive: true })
  for (const hack of hacks) {
    const id = contentId(JSON.stringify([hack.tasks, hack.actions])).slice(0, 8)
    const name = `${world.name.replace(/[^\w.-]/g, '-')}-${hack.rule}-${id}.json`
    await writeFile(join(folder, name), `${JSON.stringify(hack, null, 2)}\n`)
  }
  const given = process.argv.slice(1)
  const isOfSearch = (arg = '') => /^--(search|hacks)\b/.test(arg)
  const kept = given.filter((arg, i) => !isOfSearch(arg) && !(isOfSearch(given[i - 1]) && !given[i - 1]?.includes('=')))
  const args = [...process.execArgv, ...kept, '--hacks', folder]
  const [status] = await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit')
  const again =
    status === 1 ? 'is paid again' : 'is not paid again, so that chance or a memory outside the state is at work,'
  out.write(`${scripts} in ${folder} ${again} in a fresh process.\n`)
}

export const timeSchema = z.string().regex(/^\d+[smh]$/, 'Write a time such as 30s, 5m or 1h.')

const UNITS = { s: 1, m: 60, h: 3_600 } as const

/** Reads for how long hacks are searched, such as `5m`. */
export function searchFor(time: string): NonNullable<CheckOptions['search']> {
  const seconds = Number.parseInt(time, 10) * UNITS[time.at(-1) as keyof typeof UNITS]
  return { steps: Number.POSITIVE_INFINITY, seconds }
}
