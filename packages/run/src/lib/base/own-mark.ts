import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { open, readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from './own-files.ts'

// Marks what commands of this user wrote. A folder of a run may come from somebody else, who can write everything in it
// but a mark: that needs a key in the folder of this user's own files.

export function ownFolder(): string {
  return process.env.EPISODIC_HOME ?? join(homedir(), '.episodic')
}

const KEY_FILE = 'own.key'
const KEY_BYTES = 32
/** Keys by their folders. Where there is none, none could be made. */
const keys = new Map<string, Promise<Buffer | null>>()

/** Resolves with the key, which is created once; with `null` where that is not possible. */
function ownKey(): Promise<Buffer | null> {
  const folder = ownFolder()
  const known = keys.get(folder) ?? readKey(folder).catch(() => null)
  keys.set(folder, known)
  return known
}

async function readKey(folder: string): Promise<Buffer | null> {
  const file = join(folder, KEY_FILE)
  makeFolder(folder, 0o700)
  try {
    await using handle = await open(file, 'wx', 0o600)
    await handle.writeFile(randomBytes(KEY_BYTES))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = await readFile(file)
  return key.length === KEY_BYTES ? key : null
}

/**
 * Resolves with the mark of some content in a folder: nobody without the key of this user can make it. It holds for
 * that folder alone, because what a file names may lie beside the folder. Resolves with `null` where there is no key,
 * or no such folder.
 *
 * @param what - what the content is, such as the name of its file.
 */
export async function ownMark(folder: string, what: string, content: string | Uint8Array): Promise<Buffer | null> {
  const [key, place] = await Promise.all([ownKey(), realpath(folder).catch(() => null)])
  if (key === null || place === null) return null
  return createHmac('sha256', key)
    .update(JSON.stringify([place, what]))
    .update(content)
    .digest()
}

export async function hasOwnMark(
  folder: string,
  what: string,
  content: string | Uint8Array,
  mark: Uint8Array,
): Promise<boolean> {
  const own = await ownMark(folder, what, content)
  return own !== null && own.length === mark.length && timingSafeEqual(own, mark)
}

const MARK = 'mark'

export async function markedJson(folder: string, what: string, value: object): Promise<string> {
  const mark = await ownMark(folder, what, JSON.stringify(value))
  return `${JSON.stringify({ ...value, ...(mark && { [MARK]: mark.toString('base64url') }) }, null, 2)}\n`
}

export async function isOwnJson(folder: string, what: string, text: string): Promise<boolean> {
  const { [MARK]: mark, ...value } = JSON.parse(text) as { readonly [name: string]: unknown }
  return typeof mark === 'string' && hasOwnMark(folder, what, JSON.stringify(value), Buffer.from(mark, 'base64url'))
}
