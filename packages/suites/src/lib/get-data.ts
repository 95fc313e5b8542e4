import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { toDataFolder } from '@episodic/benchmarks/suite/data-folder'
import type { DataSource, SuiteData } from '@episodic/benchmarks/suite/suite-data'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { cannotWrite, makeFolder } from '@episodic/run/base/own-files'
import { unzipSync } from 'fflate'

export interface GetDataOptions {
  /** Files and folders that are looked through before anything is downloaded. */
  readonly from: readonly string[]
  readonly onSource: (what: string) => void
  readonly signal: AbortSignal
}

/** Returns the content of a file of a source by its path there; `null` if there is none. */
type Read = (path: string) => Promise<Uint8Array | null>

type Wheel = Extract<DataSource, { wheel: string }>
type Repository = Extract<DataSource, { repository: string }>

/**
 * Gets the data of a suite, compares every file with its SHA-256, and puts them into their folder as a whole or not at
 * all. Resolves with the folder.
 *
 * Rejects with `suite-data-missing` for what cannot be had here, which says what to give with `--from`, and with
 * `suite-data-differs` for an archive that is cut short, or a file of another version; with `disk-failed` for a full
 * disk.
 */
export async function getData(suite: string, { sources }: SuiteData, options: GetDataOptions): Promise<string> {
  const folder = toDataFolder(suite)
  makeFolder(dirname(folder))
  const draft = mkdtempSync(`${folder}.part-`)
  const kept = join(draft, 'kept')
  try {
    for (const source of sources) {
      const read = await openSource(suite, source, draft, options)
      for (const { from, path, sha256 } of source.files) {
        const content = await read(from)
        if (!content)
          throw differs(
            `${formatSource(source)} has no ${from}${source.licence.files.includes(path) ? ', which is its licence' : ''}. Nothing was kept.`,
          )
        const found = hash('sha256', content)
        if (found !== sha256)
          throw differs(
            `${from} of ${formatSource(source)} is another version of the file: its SHA-256 is ${found.slice(0, 12)}…, and ${suite} was proved with ${sha256.slice(0, 12)}…. Nothing was kept.`,
          )
        makeFolder(dirname(join(kept, path)))
        writeFileSync(join(kept, path), content)
      }
    }
    if (existsSync(folder)) renameSync(folder, join(draft, 'old'))
    renameSync(kept, folder)
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).syscall ? cannotWrite(folder, cause as Error) : cause
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return folder
}

/** Returns a source as people write it: `bfcl-eval 2026.3.23`. */
export function formatSource(source: DataSource): string {
  return 'wheel' in source
    ? `${source.wheel} ${source.version}`
    : `${source.repository} at ${source.commit.slice(0, 7)}`
}

async function openSource(
  suite: string,
  source: DataSource,
  draft: string,
  { from, onSource, signal }: GetDataOptions,
): Promise<Read> {
  try {
    for (const given of from) {
      const place = resolve(given)
      if (!existsSync(place))
        throw invalidOption(`There is no ${given}. Give a wheel, a checkout, or a folder with one of them.`)
      const read = 'wheel' in source ? openGivenWheel(source, place) : await openGivenRepository(source, place, draft)
      if (!read) continue
      onSource(`${formatSource(source)} from ${given}`)
      return read
    }
    onSource(`${formatSource(source)} with ${'wheel' in source ? 'pip' : 'git'}`)
    return 'wheel' in source
      ? openWheel(await downloadWheel(source, draft, signal), source)
      : await fetchCommit(source, draft, signal)
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    if (HarnessError.is(cause)) throw cause
    const what =
      'wheel' in source ? `its wheel (pip download --no-deps ${source.wheel}==${source.version})` : 'a checkout of it'
    throw new HarnessError(
      'suite-data-missing',
      `${formatSource(source)} cannot be got here: ${reasonOf(cause as Error)}. Where there is a network, get ${what}, and give that: episodic suite get ${suite} --from <file or folder>`,
      { cause },
    )
  }
}

function openGivenWheel(source: Wheel, place: string): Read | null {
  const isWheel = (file: string) =>
    file.endsWith('.whl') && projectOf(file.split('-')[0] ?? '') === projectOf(source.wheel)
  if (!statSync(place).isDirectory()) return isWheel(basename(place)) ? openWheel(place, source) : null
  const wheels = readdirSync(place).filter(isWheel)
  const wheel = wheels.find((file) => file.split('-')[1] === source.version) ?? wheels[0]
  return wheel === undefined ? openFolder(source, place) : openWheel(join(place, wheel), source)
}

/** A wheel writes its project with underscores. */
function projectOf(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

function openWheel(file: string, source: Wheel): Read {
  const bytes = readFileSync(file)
  const [, version] = basename(file).split('-')
  const problem =
    version !== source.version
      ? `is of version ${version}`
      : bytes.length < source.bytes
        ? `is cut short: it has ${bytes.length} of ${source.bytes} bytes`
        : hash('sha256', bytes) !== source.sha256 && 'is another file: its SHA-256 differs'
  if (problem) throw differs(`${file} ${problem}. Give the wheel of ${formatSource(source)}.`)
  const wanted = new Set(source.files.map(({ from }) => from))
  const files = unzipSync(bytes, { filter: ({ name }) => wanted.has(name) })
  return async (path) => files[path] ?? null
}

/** A folder that has the files at their paths: a checkout, or an unpacked archive. */
function openFolder({ files }: DataSource, folder: string): Read | null {
  const read: Read = async (path) => (existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : null)
  return files.some(({ from }) => existsSync(join(folder, from))) ? read : null
}

async function openGivenRepository(source: Repository, place: string, draft: string): Promise<Read | null> {
  if (/\.(tar\.gz|tgz)$/.test(place)) {
    const folder = mkdtempSync(join(draft, 'unpacked-'))
    await run('tar', ['-xzf', place, '--strip-components', '1', '-C', folder])
    return openFolder(source, folder)
  }
  if (!statSync(place).isDirectory()) return null
  const git = (...args: string[]) => run('git', ['-C', place, ...args])
  const found = await git('cat-file', '-e', `${source.commit}^{commit}`).catch(() => null)
  return found ? readerOf(git, source) : openFolder(source, place)
}

function readerOf(git: (...args: string[]) => Promise<Uint8Array>, { commit }: Repository): Read {
  return (path) => git('cat-file', 'blob', `${commit}:${path}`).catch(() => null)
}

async function fetchCommit(source: Repository, draft: string, signal: AbortSignal): Promise<Read> {
  const folder = join(draft, 'repository')
  const git = (...args: string[]) => run('git', ['-C', folder, ...args], signal)
  await run('git', ['init', '--quiet', '--bare', folder], signal)
  await git('remote', 'add', 'origin', source.repository)
  // Only of the files that are kept is the content fetched.
  await git('fetch', '--quiet', '--depth', '1', '--filter', 'blob:none', 'origin', source.commit)
  return readerOf(git, source)
}

async function downloadWheel({ wheel, version }: Wheel, draft: string, signal: AbortSignal): Promise<string> {
  const folder = join(draft, 'wheel')
  const options = '--no-deps --only-binary :all: --ignore-requires-python --disable-pip-version-check --quiet'
  const pip = ['-m', 'pip', 'download', ...options.split(' '), '-d', folder, `${wheel}==${version}`]
  await run('python3', pip, signal).catch((error) => {
    if (error.code !== 'ENOENT') throw error
    return run('python', pip, signal)
  })
  return join(folder, readdirSync(folder)[0] as string)
}

const execute = promisify(execFile)

async function run(program: string, args: readonly string[], signal?: AbortSignal): Promise<Uint8Array> {
  const environment = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
  return (await execute(program, args, { encoding: 'buffer', env: environment, maxBuffer: 2 ** 30, signal })).stdout
}

/** Says why a program failed: its last line, or that it is not there. */
function reasonOf(error: Error & { readonly code?: unknown; stderr?: Uint8Array; path?: string }): string {
  if (error.code === 'ENOENT') return `there is no ${error.path?.startsWith('python') ? 'Python' : error.path} here`
  const said = error.stderr ? new TextDecoder().decode(error.stderr).trim().split('\n') : []
  return (said.findLast((line) => /error|fatal/i.test(line)) ?? said.at(-1) ?? error.message).replace(/\.$/, '')
}

function differs(message: string): HarnessError {
  return new HarnessError('suite-data-differs', message)
}
