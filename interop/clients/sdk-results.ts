import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import type { JsonObject } from '@episodic/protocol'
import type { Shown } from './client.ts'

/** What either TypeScript SDK gives as the result of a tool. */
interface SdkResult {
  readonly [key: string]: unknown
  readonly content?: unknown
  readonly structuredContent?: unknown
}

/** A result as a host passes it on to its model; an error of the protocol is passed on by its message. */
export async function shownOf(result: Promise<SdkResult>): Promise<Shown> {
  try {
    const { content, structuredContent } = await result
    const blocks = content as readonly { readonly type: string; readonly text: string }[]
    return {
      text: blocks.map(({ text }) => text).join('\n'),
      structured: (structuredContent as JsonObject | undefined) ?? null,
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { text: error.message, structured: null }
    throw error
  }
}

/** The version of a package that is installed. */
export function versionOf(name: string): string {
  const file = findPackageJSON(name, import.meta.url)
  if (file === undefined) throw new Error(`${name} is not installed.`)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
