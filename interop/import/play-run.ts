import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type EpisodeRecord, parseSealedRecord } from '@episodic/protocol'

/** A run, as its user sees it. */
export interface ImportedRun {
  /** What the command printed. */
  readonly printed: string
  readonly report: string
  readonly episodes: readonly EpisodeRecord[]
  /** The exit status and the error of a replay. */
  readonly replayed: { readonly status: number; readonly error: string }
}

/** The policies, which the command loads from their files. */
const POLICIES = {
  counting: new URL('./counting-policy.ts', import.meta.url),
  echo: new URL('./echo-policy.ts', import.meta.url),
}
const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))

/** Plays at most eight tasks on a server with the command, and tries to replay them. */
export async function playRun(
  url: string,
  { folder, policy }: { readonly folder: string; readonly policy: keyof typeof POLICIES },
): Promise<ImportedRun> {
  const file = fileURLToPath(POLICIES[policy])
  const limits = ['--tasks', '8', ...(policy === 'echo' ? ['--max-steps', '4'] : [])]
  const { status, out, err } = await runCommand(['run', '--url', url, '--policy', file, '--out', folder, ...limits])
  if (status !== 0) throw new Error(`episodic run --url ${url} failed:\n${err.trim()}`)
  const replay = await runCommand(['replay', folder])
  const lines = (await readFile(join(folder, 'episodes.jsonl'), 'utf8')).trimEnd().split('\n')
  return {
    printed: out,
    report: await readFile(join(folder, 'report.html'), 'utf8'),
    episodes: lines.map(parseEpisode),
    replayed: { status: replay.status, error: replay.err },
  }
}

async function runCommand(args: readonly string[]) {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await ended
  return { status: Number(status), out, err }
}

/** Parses a line of a run of one seat. */
function parseEpisode(line: string): EpisodeRecord {
  const parsed = parseSealedRecord(JSON.parse(line))
  if (!parsed.success) throw parsed.error
  return parsed.data as EpisodeRecord
}
