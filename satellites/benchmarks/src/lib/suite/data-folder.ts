import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CodedError } from '@episodic/protocol/base/internal'
import { filesOf, type SuiteData, suiteDataSchema } from './suite-data.ts'

/**
 * - `suite-data-missing`: the data of a suite was not got.
 * - `suite-data-differs`: a file of it is not the one that the suite was proved with.
 */
export type BenchmarkErrorCode = 'suite-data-missing' | 'suite-data-differs'

export class BenchmarkError extends CodedError<BenchmarkErrorCode> {
  static override readonly brand: string = 'BenchmarkError'
}

/** Returns where the data of a suite is kept: under `$EPISODIC_BENCHMARKS`, or the user's cache. */
export function toDataFolder(suite: string): string {
  const { EPISODIC_BENCHMARKS: shelf, XDG_CACHE_HOME: cache } = process.env
  return join(shelf || join(cache || join(homedir(), '.cache'), 'episodic', 'benchmarks'), suite)
}

/** Suites whose files were found to be right. */
const checked = new Set<string>()

/**
 * Returns the folder with the data of a suite of this package. Each file is compared once with its SHA-256 in
 * `<suite>.suite.json`. Throws a {@link BenchmarkError}: `suite-data-missing`, which names the command that gets it, or
 * `suite-data-differs`.
 */
export function dataFolder(suite: string): string {
  const folder = toDataFolder(suite)
  if (checked.has(folder)) return folder
  const problem = findDataProblem(suite, readData(suite))
  if (problem) throw problem
  checked.add(folder)
  return folder
}

/** Compares the kept data of a suite with what its file says of it. Returns `null` if all is there and right. */
export function findDataProblem(suite: string, data: SuiteData | undefined): BenchmarkError | null {
  const folder = toDataFolder(suite)
  const get = `Get it: episodic suite get ${suite}`
  if (!existsSync(folder))
    return new BenchmarkError('suite-data-missing', `The data of ${suite} is not in ${folder}. ${get}`)
  for (const { path, sha256 } of filesOf(data)) {
    const file = join(folder, path)
    if (!existsSync(file)) return new BenchmarkError('suite-data-missing', `${file} is missing. ${get}`)
    if (hash('sha256', readFileSync(file)) !== sha256)
      return new BenchmarkError(
        'suite-data-differs',
        `${file} is another version of the file than ${suite} was proved with (SHA-256). ${get}`,
      )
  }
  return null
}

function readData(suite: string): SuiteData | undefined {
  const manifest = findPackageJSON(import.meta.url)
  const file = manifest && join(dirname(manifest), `${suite}.suite.json`)
  if (!file || !existsSync(file)) return undefined
  const { data } = JSON.parse(readFileSync(file, 'utf8')) as { readonly data?: unknown }
  return suiteDataSchema.optional().parse(data)
}
