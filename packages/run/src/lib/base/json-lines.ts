import { readLines } from '@episodic/dataset/jsonl'
import type { z } from 'zod'
import { jsonAs } from './json.ts'

/** Yields what the lines of a file have, other lines left out; nothing if there is no file. Rejects as `readLines`. */
export async function* linesAs<T>(schema: z.ZodType<T>, file: string): AsyncGenerator<T> {
  for await (const text of readTexts(file)) {
    const value = jsonAs(schema, text)
    if (value !== null) yield value
  }
}

/** Yields the lines of a file as they are; nothing if there is no file. Rejects as `readLines`. */
export async function* readTexts(file: string): AsyncGenerator<string> {
  try {
    for await (const { text } of readLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) yield text
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error
  }
}
