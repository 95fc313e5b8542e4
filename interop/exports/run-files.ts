import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { guessing, startTokenEngine } from '../gateway/token-engine.ts'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'

/** The file of each format. */
const FILES: Readonly<Record<string, string>> = {
  'trl-sft': 'trl-sft.jsonl',
  'trl-preference': 'trl-preference.jsonl',
  atif: 'atif.jsonl',
  trl: 'trl.jsonl',
  csv: 'csv.csv',
  otel: 'otel.jsonl',
}

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))

const USAGE = `Usage: pnpm interop files [--openenv] [--json]

Plays a run, exports it in each format for trainers and data frames, and reads the files with datasets and
opentelemetry-proto, in a virtual environment.

  --openenv   also read the traces of a run with tokens as OpenEnv's TrainingTrace, in a virtual environment of 450 MB
  --json      print nothing but the line of JSON that ends every run`

/** Reads exported files from the command line. */
export async function runFiles(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    openenv: { type: 'boolean', default: false },
  })
  if (!options) return null
  const { python, versionOf } = openPythonEnvironment('files.txt', console.error)
  const openEnv = options.openenv ? openPythonEnvironment('openenv.txt', console.error) : null
  const { say } = options
  const folder = mkdtempSync(join(tmpdir(), 'episodic-files-'))
  try {
    const run = join(folder, 'run')
    say(episodic('run', WORLD, '--policy', 'random', '--tasks', '40', '--rollouts', '4', '--out', run))
    for (const [format, file] of Object.entries(FILES))
      say(episodic('export', run, '--format', format, '--out', join(folder, file)))
    const name = ['datasets', 'opentelemetry-proto'].map((each) => `${each} ${versionOf(each)}`).join(', ')
    const clients = { [name]: read(python, 'read_exports.py', folder, say) }
    if (openEnv) {
      await exportTokens(folder)
      clients[`openenv ${openEnv.versionOf('openenv')}`] = read(openEnv.python, 'read_traces.py', folder, say)
    }
    return { clients }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Plays a run whose answers have their tokens, and exports its traces into the folder. */
async function exportTokens(folder: string): Promise<void> {
  const run = join(folder, 'run-with-tokens')
  await using engine = await startTokenEngine(guessing(6))
  const asked = ['--policy', 'llm:served', '--token-ids', '--base-url', engine.url, '--tasks', '4', '--out', run]
  // The engine answers in this process meanwhile.
  await promisify(execFile)(process.execPath, [CLI, 'run', WORLD, ...asked])
  episodic('export', run, '--format', 'training-trace', '--out', join(folder, 'tokens-training-trace.jsonl'))
}

/** Runs a command of `episodic`, and returns what it printed. Throws if it failed. */
function episodic(...command: readonly string[]): string {
  return execFileSync(process.execPath, [CLI, ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Runs a program in Python that reads the exports in a folder and prints a line for each one that it could read. */
function read(python: string, program: string, folder: string, say: (text: string) => void) {
  const file = fileURLToPath(new URL(`../python/${program}`, import.meta.url))
  const { stdout, stderr, status } = spawnSync(python, [file, folder], {
    encoding: 'utf8',
    env: { ...process.env, HF_HUB_OFFLINE: '1' },
  })
  say(stdout.trim())
  if (status !== 0) console.error(stderr)
  return { passed: stdout.split('\n').filter((line) => line !== '').length, failed: status === 0 ? 0 : 1 }
}
