import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main } from '@episodic/harness'
import { openPythonEnvironment } from './python-environment.ts'

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

/**
 * `pnpm interop files`: plays a run, exports it in each format, and reads the files with `datasets` and `inspect_ai`.
 * Returns the exit status.
 */
export async function runFiles(): Promise<number> {
  const { python } = openPythonEnvironment('files.txt', console.error)
  const folder = mkdtempSync(join(tmpdir(), 'episodic-files-'))
  try {
    const world = fileURLToPath(new URL('../examples/number-guessing', import.meta.url))
    const run = join(folder, 'run')
    const commands = [
      ['run', world, '--policy', 'random', '--tasks', '40', '--rollouts', '4', '--out', run],
      ...Object.entries(FILES).map(([format, file]) => [
        'export',
        run,
        '--format',
        format,
        '--out',
        join(folder, file),
      ]),
    ]
    for (const command of commands) {
      const status = await main(command)
      if (status !== 0) return status
    }
    const program = fileURLToPath(new URL('./python/read_exports.py', import.meta.url))
    execFileSync(python, [program, folder], { stdio: 'inherit', env: { ...process.env, HF_HUB_OFFLINE: '1' } })
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
