import { readFile } from 'node:fs/promises'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/base/internal'
import { z } from 'zod'
import { HarnessError, type HarnessErrorCode } from './harness-error.ts'

/** Returns the value of JSON text; `null` for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export function objectOf(text: string): JsonObject | null {
  const value = jsonOf(text)
  return isObject(value) ? value : null
}

export function jsonAs<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

export async function jsonInFile<T>(schema: z.ZodType<T>, file: string): Promise<T | null> {
  return jsonAs(schema, await readFile(file, 'utf8').catch(() => ''))
}

/** Reads a JSON text that has to be there. Throws `code`, with `problem` and why; also if `read` throws. */
export function parseJson<T>(schema: z.ZodType<T>, read: () => string, code: HarnessErrorCode, problem: string): T {
  try {
    return schema.parse(JSON.parse(read()))
  } catch (cause) {
    throw new HarnessError(code, `${problem}: ${whyInvalid(cause)}`, { cause })
  }
}

export function whyInvalid(cause: unknown): string {
  return cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
}
