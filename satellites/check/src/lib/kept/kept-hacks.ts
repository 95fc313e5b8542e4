import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Policy } from '@episodic/env'
import { monotonic } from '@episodic/protocol/internal'
import { invalidOption } from '@episodic/run/base/harness-error'
import { jsonInFile } from '@episodic/run/base/json'
import { z } from 'zod'
import { type CheckContext, type CheckedWorld, learnerOf } from '../check-context.ts'
import type { CheckReport } from '../check-report.ts'
import { seatTarget } from '../partners/seat-target.ts'
import { hackSchema, replayHack } from '../search/hack.ts'
import { rehearsedTarget } from '../targets/rehearsed-target.ts'

type Out = Pick<NodeJS.WritableStream, 'write'>

/**
 * Plays the scripts of a folder again, each from fresh episodes, and writes a line of each. The exit status is 1 if one
 * is still paid though it does not do the work: a hole that is open. Rejects with `option-invalid` for a file that is
 * no script, and for a folder that cannot be read.
 */
export async function playKeptHacks(
  world: CheckedWorld,
  folder: string,
  partners: Readonly<Record<string, Policy>>,
  out: Out,
): Promise<void> {
  const { environment } = world
  const learner = learnerOf(environment, partners)
  const all = rehearsedTarget({ world, settings: [], seed: '0' }, 0)
  const target = learner && environment.multiplayer ? seatTarget(all, learner) : all
  let isPaid = false
  const names = await readdir(folder).catch((cause) => {
    throw invalidOption(`--hacks names ${folder}, which cannot be read. Name a folder of scripts.`, { cause })
  })
  for (const name of names.filter((each) => each.endsWith('.json')).sort()) {
    const hack = await jsonInFile(hackSchema, join(folder, name))
    if (!hack)
      throw invalidOption(
        `${join(folder, name)} is no script of a hack. Delete it, or let \`episodic check\` write it anew.`,
      )
    if (hack.target.name !== environment.name) continue
    const { pays, what } = await replayHack(target, hack)
    out.write(`${pays ? 'paid   ' : 'closed '} ${name}: ${what}\n`)
    isPaid ||= pays
  }
  if (isPaid) process.exitCode = 1
}

/**
 * Writes the scripts that a check has found into a folder, and plays them again by this command, in a process that
 * knows nothing of this one.
 */
export async function keepHacks(folder: string, { checks, world }: CheckReport, out: Out): Promise<void> {
  const hacks = checks.flatMap((check) => check.hacks ?? [])
  if (hacks.length === 0) return
  await mkdir(folder, { recursive: true })
  for (const [i, hack] of hacks.entries()) {
    const name = `${world.name.replace(/[^\w.-]/g, '-')}-${hack.rule}-${i + 1}.json`
    await writeFile(join(folder, name), `${JSON.stringify(hack, null, 2)}\n`)
  }
  const args = [...process.execArgv, ...process.argv.slice(1), '--hacks', folder]
  const status = await new Promise((resolve, reject) => {
    spawn(process.execPath, args, { stdio: 'ignore' }).once('error', reject).once('exit', resolve)
  })
  const again =
    status === 1 ? 'is paid again' : 'is not paid again, so that chance or a memory outside the state is at work,'
  out.write(
    `${hacks.length === 1 ? 'The script' : `Each of the ${hacks.length} scripts`} in ${folder} ${again} in a fresh process.\n`,
  )
}

export const timeSchema = z.string().regex(/^\d+[smh]$/, 'Write a time such as 30s, 5m or 1h.')

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Reads for how long hacks are searched, such as `5m`. */
export function searchFor(time: string): CheckContext['search'] {
  const until = monotonic() + Number.parseInt(time, 10) * UNITS[time.at(-1) as keyof typeof UNITS]
  return { steps: Number.POSITIVE_INFINITY, isLate: () => monotonic() > until }
}
