import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, OutputFile } from 'esbuild'
import { keepBuild } from './kept-build.ts'

export interface BundledApp {
  readonly 'page.js': string
  readonly 'page.css': string
  readonly 'markup.js': string
}

const KEPT = join(import.meta.dirname, '../../node_modules/.cache/pages.json')

/**
 * Bundles the pages from their sources, or returns the last bundle if none of them has changed since. So no build is
 * older than its sources, and a start of the command from source takes a second of CPU less.
 *
 * esbuild rather than Vite: it is what builds the packages already, and it needs no configuration.
 *
 * @param folder - the absolute path of the sources.
 */
export function bundleApp(folder: string): Promise<BundledApp> {
  return keepBuild(KEPT, () => build(folder))
}

async function build(folder: string) {
  const { build } = await import('esbuild')
  const options = {
    absWorkingDir: folder,
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
    build({ ...options, entryPoints: ['page.tsx'], outdir: 'out', format: 'iife', target: 'es2022' }),
    build({
      ...options,
      entryPoints: ['markup.tsx'],
      outdir: 'out',
      format: 'esm',
      target: 'node22',
      platform: 'node',
    }),
  ])
  const textOf = ({ outputFiles }: { readonly outputFiles: readonly OutputFile[] }, end: string) =>
    outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  const result: BundledApp = {
    'page.js': textOf(page, 'page.js'),
    'page.css': textOf(page, 'page.css'),
    'markup.js': textOf(markup, 'markup.js'),
  }
  const inputs = [page, markup].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  // These options and this bundler have made it, so another version of them makes another one.
  const makers = [import.meta.filename, fileURLToPath(import.meta.resolve('esbuild'))]
  return { result, sources: [...makers, ...inputs.map((file) => join(folder, file))] }
}
