import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** What the suite found of one scenario. */
export interface Verdict {
  readonly scenario: string
  readonly passed: number
  readonly failed: number
}

export type Revision = '2025-11-25' | '2026-07-28'

/** The suite is a program, and has nothing to be imported. */
const SUITE = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance', import.meta.url))

/**
 * Milliseconds after which the suite gives a scenario up. It starts all clients of a revision at once, so on a busy
 * machine each takes longer than the half minute that it gives them by default.
 */
const TIMEOUT = 600_000

/** The scenarios that a revision requires of a server or a client, in the suite's own list. */
export async function listRequired(revision: Revision, leg: 'server' | 'client'): Promise<string[]> {
  const yaml = await readFile(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8')
  const list = yaml.split(`\n${leg}:\n`)[1]?.split(/\n\n|\n\w/)[0] ?? ''
  return [...list.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name as string)
}

/** Runs the suite with these arguments, and gives what it says of every scenario that it ran. */
export async function runSuite(args: readonly string[], folder: string): Promise<Verdict[]> {
  const child = spawn(
    process.execPath,
    [join(SUITE, 'dist/index.js'), ...args, '--timeout', String(TIMEOUT), '-o', folder],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  const verdicts = [...said.matchAll(/^[✓✗~] (\S+): (\d+) passed, (\d+) failed$/gm)].map(
    ([, scenario, passed, failed]) => ({
      scenario: scenario as string,
      passed: Number(passed),
      failed: Number(failed),
    }),
  )
  if (verdicts.length > 0) return verdicts
  // Asked for one scenario, it says its figures alone.
  const [, passed, , failed] = /^Passed: (\d+)\/(\d+), (\d+) failed/m.exec(said + complained) ?? []
  const scenario = args[args.indexOf('--scenario') + 1]
  if (passed === undefined || scenario === undefined) throw new Error(`The suite did not run:\n${said}${complained}`)
  return [{ scenario, passed: Number(passed), failed: Number(failed) }]
}
