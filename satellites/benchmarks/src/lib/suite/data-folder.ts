import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CodedError } from '@episodic/protocol/base/internal'
import { suiteDataSchema } from './suite-data.ts'

/**
 * - `suite-data-missing`: the data of a suite was not got.
 * - `suite-data-differs`: a file of it is not the one that the suite was proved with.
 */
export type BenchmarkErrorCode = 'suite-data-missing' | 'suite-data-differs'

export class BenchmarkError extends CodedError<BenchmarkErrorCode> {
  static override readonly brand: string = 'BenchmarkError'
}

/** Returns where the data of a suite is kept: under `$EPISODIC_BENCHMARKS`, or the user's cache. */
export function placeOf(suite: string): string {
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
  const folder = placeOf(suite)
  if (checked.has(folder)) return folder
  if (!existsSync(folder))
    throw new BenchmarkError(
      'suite-data-missing',
      `The data of ${suite} is not in ${folder}. Get it: episodic suite get ${suite}`,
    )
  for (const { path, sha256 } of listFiles(suite)) {
    const file = join(folder, path)
    const found = existsSync(file) ? hash('sha256', readFileSync(file)) : null
    if (found !== sha256)
      throw new BenchmarkError(
        found === null ? 'suite-data-missing' : 'suite-data-differs',
        `${file} ${found === null ? 'is missing' : 'is another version of the file than the suite was proved with (SHA-256)'}. Get the data anew: episodic suite get ${suite}`,
      )
  }
  checked.add(folder)
  return folder
}

function listFiles(suite: string) {
  const manifest = findPackageJSON(import.meta.url)
  const file = manifest && join(dirname(manifest), `${suite}.suite.json`)
  if (!file || !existsSync(file)) return []
  const { data } = JSON.parse(readFileSync(file, 'utf8')) as { readonly data?: unknown }
  return data === undefined ? [] : suiteDataSchema.parse(data).sources.flatMap(({ files }) => files)
}
