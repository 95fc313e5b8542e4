import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, relative } from 'node:path'
import { invalidOption } from '../../base/harness-error.ts'

export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const block of createReadStream(file)) hash.update(block)
  } catch (cause) {
    throw invalidOption(`${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
  return hash.digest('hex')
}

/**
 * Resolves with a SHA-256 of a module and of all files that it imports by relative paths, directly or not; of a module
 * without such imports, with that of its file. Packages do not count: they have versions. Rejects as {@link hashFile}
 * does.
 */
export async function hashModule(file: string): Promise<string> {
  const own = await hashFile(file)
  // Imported files are found by their real paths.
  const module = await realpath(file)
  const hashes = new Map([[module, own]])
  const addImports = async (path: string): Promise<void> => {
    if (!CODE.has(extname(path))) return
    const { resolve } = createRequire(path)
    for (const [, , name = ''] of (await readFile(path, 'utf8')).matchAll(RELATIVE_IMPORT)) {
      const imported = resolvedOrNull(resolve, name)
      if (imported === null || hashes.has(imported)) continue
      hashes.set(imported, await hashFile(imported))
      await addImports(imported)
    }
  }
  await addImports(module)
  if (hashes.size === 1) return own
  const lines = [...hashes].map(
    ([path, sha256]) => `${relative(dirname(module), path).replaceAll('\\', '/')} ${sha256}`,
  )
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}

const CODE: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

/** `from './a.ts'`, `import './a.ts'`, `import('./a.ts')` and `require('./a.ts')`. */
const RELATIVE_IMPORT = /\b(?:from|import|require)\s*\(?\s*(['"`])(\.{1,2}\/[^'"`\n]+)\1/g

/** Text that only looks like an import mostly names no file. */
function resolvedOrNull(resolve: NodeJS.RequireResolve, name: string): string | null {
  try {
    return resolve(name)
  } catch {
    return null
  }
}
