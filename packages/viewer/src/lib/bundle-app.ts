import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, OutputFile } from 'esbuild'
import { APP_FILES, type BundledApp } from './viewer.ts'

const KEPT = join(import.meta.dirname, '../../node_modules/.cache/pages.json')

/**
 * Bundles the pages from their sources, or returns the last bundle if none of them has changed since. So no build is
 * older than its sources, and a start of the command from source takes a second of CPU less.
 *
 * esbuild rather than Vite: it is what builds the packages already, and it needs no configuration.
 */
export function bundleApp(folder: string): Promise<BundledApp> {
  return keepBuild(KEPT, () => build(folder))
}

async function build(folder: string) {
  const { build } = await import('esbuild')
  const options = {
    absWorkingDir: folder,
    outdir: 'out',
    bundle: true,
    metafile: true,
    write: false,
    minify: true,
    legalComments: 'none',
    charset: 'utf8',
    jsx: 'transform',
    jsxFactory: 'createElement',
    jsxFragment: 'Fragment',
    inject: ['jsx.ts'],
    define: { 'process.env.NODE_ENV': '"production"' },
  } as const satisfies BuildOptions
  const [page, markup] = await Promise.all([
    build({ ...options, entryPoints: ['page.tsx', 'play.tsx'], format: 'iife', target: 'es2022' }),
    build({ ...options, entryPoints: ['markup.tsx'], format: 'esm', target: 'node22', platform: 'node' }),
  ])
  const outputs: readonly OutputFile[] = [...page.outputFiles, ...markup.outputFiles]
  const textOf = (name: string) => outputs.find(({ path }) => path.endsWith(name))?.text ?? ''
  const result = Object.fromEntries(APP_FILES.map((name) => [name, textOf(name)])) as BundledApp
  const inputs = [page, markup].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  // These options and this bundler have made it, so another version of them makes another one.
  const makers = [import.meta.filename, fileURLToPath(import.meta.resolve('esbuild'))]
  return { result, sources: [...makers, ...inputs.map((file) => join(folder, file))] }
}

interface Built<T> {
  readonly result: T
  readonly sources: readonly string[]
}

interface Kept<T> {
  readonly result: T
  /** The state of each source when it was built, by its path. */
  readonly states: Readonly<Record<string, string>>
}

/**
 * Returns the result of a build: the one that a file keeps, if every source of that is as it was, or else a new one,
 * which it keeps. Several processes may do so at once. Where the file cannot be written, nothing is kept.
 */
export async function keepBuild<T>(file: string, build: () => Promise<Built<T>>): Promise<T> {
  const kept = await readKept<T>(file)
  if (kept !== null) return kept
  const draft = `${file}.${process.pid}`
  const begun = await touch(draft)
  try {
    const { result, sources } = await build()
    if (begun === null) return result
    const stats = await Promise.all(sources.map(async (path) => [path, await stat(path)] as const))
    // A source that was written during the build may have been read before that.
    if (stats.every(([, { mtimeMs }]) => mtimeMs < begun)) {
      const states = Object.fromEntries(stats.map(([path, found]) => [path, stateOf(found)]))
      await writeFile(draft, JSON.stringify({ result, states } satisfies Kept<T>))
      await rename(draft, file)
    }
    return result
  } finally {
    await rm(draft, { force: true })
  }
}

async function readKept<T>(file: string): Promise<T | null> {
  try {
    const { result, states }: Kept<T> = JSON.parse(await readFile(file, 'utf8'))
    const isSame = await Promise.all(
      Object.entries(states).map(async ([path, state]) => stateOf(await stat(path)) === state),
    )
    return isSame.every(Boolean) ? result : null
  } catch {
    return null
  }
}

/** Creates an empty file, and returns when: by the clock of its file system. Returns `null` if it cannot be written. */
async function touch(file: string): Promise<number | null> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '')
    return (await stat(file)).mtimeMs
  } catch {
    return null
  }
}

function stateOf({ mtimeMs, size }: { readonly mtimeMs: number; readonly size: number }): string {
  return `${mtimeMs} ${size}`
}
