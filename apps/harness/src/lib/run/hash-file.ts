import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { HarnessError } from '../harness-error.ts'

/** The SHA-256 of a file, in hexadecimal. Throws `option-invalid` for one that cannot be read. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const block of createReadStream(file)) hash.update(block)
  } catch (cause) {
    throw new HarnessError('option-invalid', `${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
  return hash.digest('hex')
}
