import { readLines } from '@episodic/dataset/jsonl'
import type { z } from 'zod'
import { jsonAs } from './json.ts'

/** Yields what the lines of a file have, other lines left out; nothing if there is no file. Rejects as `readLines`. */
export async function* linesAs<T>(schema: z.ZodType<T>, file: string): AsyncGenerator<T> {
  try {
    for await (const { text } of readLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) {
      const value = jsonAs(schema, text)
      if (value !== null) yield value
    }
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error
  }
}
