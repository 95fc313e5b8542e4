import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The content of a folder: files in base64 by their paths, and folders, with a slash at the end and no content. */
export type SavedFolder = Readonly<Record<string, string>>

/** What has changed in a folder: the new content by path, and `null` for what is gone. */
export type Changes = Record<string, string | null>

/** Reads all files of a folder. Links are not followed, and not saved. */
export async function readFolder(folder: string, within = ''): Promise<SavedFolder> {
  const saved: Record<string, string> = {}
  const entries = await readdir(join(folder, within), { withFileTypes: true })
  for (const entry of entries) {
    const path = `${within}${entry.name}`
    if (entry.isDirectory()) Object.assign(saved, { [`${path}/`]: '' }, await readFolder(folder, `${path}/`))
    else if (entry.isFile()) saved[path] = await readFile(join(folder, path), 'base64')
  }
  return saved
}

/** Writes the files of a folder into another one, which is created. */
export async function writeFolder(folder: string, saved: SavedFolder): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [path, content] of Object.entries(saved)) {
    const target = join(folder, path)
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true })
    if (!path.endsWith('/')) await writeFile(target, content, 'base64')
  }
}

/** Returns what has changed. */
export function changesOf(before: SavedFolder, now: SavedFolder): Changes {
  const gone = Object.keys(before).filter((path) => !Object.hasOwn(now, path))
  const changed = Object.entries(now).filter(([path, content]) => before[path] !== content)
  return Object.fromEntries([...gone.map((path) => [path, null] as const), ...changed])
}
