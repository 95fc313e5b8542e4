import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { CACHE } from '../python-environment.ts'

const COMMAND = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))

/**
 * Gets the data of a suite, where it is not there yet, into the folder of `EPISODIC_BENCHMARKS`, or else one that these
 * programs keep. Throws if it cannot be had; the command has then said what is missing.
 *
 * @param from - a folder that is looked through before anything is downloaded.
 */
export function getSuiteData(suite: string, from?: string): void {
  process.env.EPISODIC_BENCHMARKS ??= `${CACHE}benchmarks`
  const args = [COMMAND, 'suite', 'get', suite, ...(from === undefined ? [] : ['--from', from])]
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
}
