import { existsSync } from 'node:fs'

/** Says why a module of a user does not load, and what to write instead where Node's own words do not say. */
export function loadFailure(cause: unknown): string {
  const { code, message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: String(cause) }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `${message}. Node takes types away and compiles nothing: write it in JavaScript, and set "erasableSyntaxOnly" in tsconfig.json, so that tsc finds it`
  // An import without an ending, or with that of compiled code.
  const stem = code === 'ERR_MODULE_NOT_FOUND' && /^Cannot find module '(.+?)(\.[cm]?js)?'/.exec(message)?.[1]
  const meant = stem && ['.ts', '.mts', '.js', '.mjs', '/index.ts'].map((end) => stem + end).find(existsSync)
  return meant ? `${message}. There is ${meant}: import a file by its whole name, with its ending` : message
}
