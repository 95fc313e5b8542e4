import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { guessing, startTokenEngine } from '../gateway/token-engine.ts'
import { openNemoGymEnvironment } from '../nemo-gym/nemo-gym-environment.ts'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'

/** The file of each format. */
const FILES: Readonly<Record<string, string>> = {
  'trl-sft': 'trl-sft.jsonl',
  'trl-preference': 'trl-preference.jsonl',
  openai: 'openai.jsonl',
  sharegpt: 'sharegpt.jsonl',
  'nemo-gym': 'nemo-gym.jsonl',
  atif: 'atif.jsonl',
  verl: 'verl.jsonl',
  trl: 'trl.jsonl',
  csv: 'csv.csv',
  otel: 'otel.jsonl',
  // The name that its reader looks for, in a folder.
  verifiers: 'results.jsonl',
}

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))

const USAGE = `Usage: pnpm interop files [--openenv] [--nemo-gym] [--verifiers] [--python <command>] [--json]

Plays a run, exports it in each format for trainers and data frames, and reads the files with datasets and
opentelemetry-proto, in a virtual environment.

  --openenv   also read the traces of a run with tokens as OpenEnv's TrainingTrace, in a virtual environment of 450 MB
  --nemo-gym  also profile the rollouts with NeMo Gym, and have it assert that the tokens of a run are contiguous, in a
              virtual environment of 1.1 GB
  --verifiers also read the rows of verifiers with its version 0.1, in a virtual environment of 700 MB
  --python    a Python of 3.13 or newer for it. Default: the first of python3, python3.13 and python3.14 that is
  --json      print nothing but the line of JSON that ends every run`

/** Reads exported files from the command line. */
export async function runFiles(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    openenv: { type: 'boolean', default: false },
    'nemo-gym': { type: 'boolean', default: false },
    verifiers: { type: 'boolean', default: false },
    python: { type: 'string' },
  })
  if (!options) return null
  const { python, versionOf } = openPythonEnvironment('files.txt', console.error)
  const openEnv = options.openenv ? openPythonEnvironment('openenv.txt', console.error) : null
  const nemoGym = options['nemo-gym'] ? openNemoGymEnvironment(options.python, console.error) : null
  const verifiers = options.verifiers ? openPythonEnvironment('verifiers.txt', console.error) : null
  const { say } = options
  const folder = mkdtempSync(join(tmpdir(), 'episodic-files-'))
  try {
    const run = join(folder, 'run')
    say(episodic('run', WORLD, '--policy', 'random', '--tasks', '40', '--rollouts', '4', '--out', run))
    for (const [format, file] of Object.entries(FILES))
      say(episodic('export', run, '--format', format, '--out', join(folder, file)))
    const name = ['datasets', 'opentelemetry-proto'].map((each) => `${each} ${versionOf(each)}`).join(', ')
    if (openEnv || nemoGym) await exportTokens(folder)
    const clients = { [name]: read(python, 'read_exports.py', folder, say) }
    if (openEnv)
      clients[`openenv ${openEnv.versionOf('openenv')}`] = read(openEnv.python, 'read_traces.py', folder, say)
    if (nemoGym)
      clients[`nemo-gym ${nemoGym.versionOf('nemo-gym')}`] = read(nemoGym.python, 'read_nemo_gym.py', folder, say)
    if (verifiers)
      clients[`verifiers ${verifiers.versionOf('verifiers')}`] = read(
        verifiers.python,
        'read_verifiers.py',
        folder,
        say,
      )
    return { clients }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Plays a run whose answers have their tokens, and exports it into the folder for what reads those. */
async function exportTokens(folder: string): Promise<void> {
  const run = join(folder, 'run-with-tokens')
  await using engine = await startTokenEngine(guessing(6))
  const asked = ['--policy', 'llm:served', '--token-ids', '--base-url', engine.url, '--tasks', '4', '--out', run]
  // The engine answers in this process meanwhile.
  await promisify(execFile)(process.execPath, [CLI, 'run', WORLD, ...asked])
  for (const format of ['training-trace', 'nemo-gym'])
    episodic('export', run, '--format', format, '--out', join(folder, `tokens-${format}.jsonl`))
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
