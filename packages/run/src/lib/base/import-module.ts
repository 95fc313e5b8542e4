import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ownFrames } from '@episodic/mcp-server/internal'
import { HarnessError, type HarnessErrorCode } from './harness-error.ts'

/**
 * Imports a module of a user. Rejects with `code`: what does not load, why, and the frames of its own code.
 *
 * @param load - loads it otherwise. Default: Node imports it.
 */
export async function importModule(
  file: string,
  code: HarnessErrorCode,
  what = file,
  load: () => Promise<Readonly<Record<string, unknown>>> = () => import(pathToFileURL(file).href),
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await load()
  } catch (cause) {
    const frames = cause instanceof Error ? ownFrames(cause) : []
    throw new HarnessError(code, [`${what} does not load: ${loadFailure(cause)}`, ...frames], { cause })
  }
}

/** Says why a module of a user does not load, and what to write instead where Node's own words do not say. */
function loadFailure(cause: unknown): string {
  const { code, message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: String(cause) }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `${message}. Node takes types away and compiles nothing: write it in JavaScript, and set "erasableSyntaxOnly" in tsconfig.json, so that tsc finds it`
  // An import without an ending, or with that of compiled code.
  const stem = code === 'ERR_MODULE_NOT_FOUND' && /^Cannot find module '(.+?)(\.[cm]?js)?'/.exec(message)?.[1]
  const meant = stem && ['.ts', '.mts', '.js', '.mjs', '/index.ts'].map((end) => stem + end).find(existsSync)
  return meant ? `${message}. There is ${meant}: import a file by its whole name, with its ending` : message
}
