import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openPythonEnvironment } from './python-environment.ts'
import type { Report } from './report.ts'

/** The file of each format. Inspect recognises its logs by the end of their names. */
const FILES: Readonly<Record<string, string>> = {
  'trl-sft': 'trl-sft.jsonl',
  'trl-preference': 'trl-preference.jsonl',
  openai: 'openai.jsonl',
  sharegpt: 'sharegpt.jsonl',
  'nemo-gym': 'nemo-gym.jsonl',
  atif: 'atif.jsonl',
  verl: 'verl.jsonl',
  inspect: 'inspect.json',
}

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const WORLD = fileURLToPath(new URL('../examples/number-guessing', import.meta.url))
const READER = fileURLToPath(new URL('./python/read_exports.py', import.meta.url))

const USAGE = `Usage: pnpm interop files [--json]

Plays a run, exports it in each format for trainers and viewers, and reads the files with datasets and inspect_ai, in a
virtual environment.

  --json  print nothing but the line of JSON that ends every run`

/** Reads exported files from the command line. */
export async function runFiles(args: readonly string[]): Promise<Report | null> {
  const { values: options } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  })
  if (options.help) {
    console.log(USAGE)
    return null
  }
  const { python, versionOf } = openPythonEnvironment('files.txt', console.error)
  const say = options.json ? () => {} : console.log
  const folder = mkdtempSync(join(tmpdir(), 'episodic-files-'))
  try {
    const run = join(folder, 'run')
    say(episodic('run', WORLD, '--policy', 'random', '--tasks', '40', '--rollouts', '4', '--out', run))
    for (const [format, file] of Object.entries(FILES))
      say(episodic('export', run, '--format', format, '--out', join(folder, file)))
    const read = spawnSync(python, ['-B', READER, folder], {
      encoding: 'utf8',
      env: { ...process.env, HF_HUB_OFFLINE: '1' },
    })
    say(read.stdout.trim())
    if (read.status !== 0) console.error(read.stderr)
    const passed = read.stdout.split('\n').filter((line) => line !== '').length
    const name = `datasets ${versionOf('datasets')}, inspect-ai ${versionOf('inspect-ai')}`
    return { clients: { [name]: { passed, failed: read.status === 0 ? 0 : 1 } } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command of `episodic`, and returns what it printed. Throws if it failed. */
function episodic(...command: readonly string[]): string {
  return execFileSync(process.execPath, [CLI, ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
