import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'
import { startScriptedModel } from './scripted-model.ts'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))
const READER = fileURLToPath(new URL('../python/read_inspect.py', import.meta.url))

const USAGE = `Usage: pnpm interop inspect [--json]

Plays a run without a model and one with a model that fails some episodes, exports both as logs of Inspect, and reads them
with inspect_ai, in a virtual environment. Counts, success rates and tokens have to be those of the runs.

  --json  print nothing but the line of JSON that ends every run`

/** Reads exported logs with inspect_ai, from the command line. */
export async function runInspect(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {})
  if (!options) return null
  const { python, versionOf } = openPythonEnvironment('inspect.txt', console.error)
  const { say } = options
  const folder = mkdtempSync(join(tmpdir(), 'episodic-inspect-'))
  await using model = await startScriptedModel()
  const players = {
    random: ['--policy', 'random'],
    model: [
      '--policy',
      'llm:scripted',
      '--base-url',
      model.url,
      '--file',
      '{"prices":{"prompt":2,"completion":10}}',
      '--file',
      '{"failFast":0}',
    ],
  }
  try {
    for (const [name, player] of Object.entries(players)) {
      const run = join(folder, name)
      say(await episodic('run', WORLD, ...player, '--tasks', '20', '--rollouts', '3', '--out', run))
      say(await episodic('export', run, '--format', 'inspect', '--out', `${run}.eval`))
    }
    const { lines, failed } = await read(python, folder)
    say(lines.join('\n'))
    return { clients: { [`inspect-ai ${versionOf('inspect-ai')}`]: { passed: lines.length, failed } } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command of `episodic`, and returns what it printed. Rejects if it failed. */
async function episodic(...command: readonly string[]): Promise<string> {
  const env = { ...process.env, OPENAI_API_KEY: 'none' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, ...command], { env })
  return `${stdout}${stderr}`.trim()
}

async function read(python: string, folder: string): Promise<{ lines: string[]; failed: number }> {
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
  try {
    return { lines: linesOf((await promisify(execFile)(python, [READER, folder])).stdout), failed: 0 }
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    console.error(stderr)
    return { lines: linesOf(stdout), failed: 1 }
  }
}
