import { readFileSync } from 'node:fs'
import { encodingOf } from '@episodic/protocol/base/internal'
import { invalidOption } from './harness-error.ts'

/** Reads the file that an option names, as {@link readTextFile}. Throws `option-invalid`. */
export function readOptionFile(option: string, file: string): string {
  try {
    return readTextFile(file)
  } catch (cause) {
    throw invalidOption(`${option} ${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Reads a file that a person wrote, without a byte order mark. Throws an `Error` whose message says why it cannot be
 * read, also for one that is not UTF-8: it would be read with wrong letters.
 */
export function readTextFile(file: string): string {
  const bytes = readFileSync(file)
  const encoding = encodingOf(bytes)
  if (encoding === 'UTF-8') return new TextDecoder().decode(bytes)
  throw new Error(`it is not UTF-8, but seems to be ${encoding}. iconv -f ${encoding} -t UTF-8 writes it anew`)
}
