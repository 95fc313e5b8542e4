import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { RunEntry } from '@episodic/report/view/run-entry'
import { isWithin } from '@episodic/run/base/own-files'
import { holdsRun, RUN_FILES, readManifest, runIdOf } from '@episodic/run/folder/record/run-folder'
import type { RunPlace } from '@episodic/run/folder/resume-commands'
import { holdsSet } from '@episodic/run/folder/set/holds-set'
import { readSet } from '@episodic/run/folder/set/set-folder'

export interface FoundRun extends RunPlace {
  readonly id: string
  /** The set that it belongs to; `null` for a run of its own. */
  readonly set: string | null
  /** Who plays it in the set; left out for a run of its own. */
  readonly member?: RunEntry['member']
}

type FoundSet = Awaited<ReturnType<typeof readMembers>>

/** Levels of folders: `runs/<run>`, and in a set `runs/<set>/<world>/<player>`, with continuations one level lower. */
const LEVELS = 4
const MOST_FOLDERS = 20_000

/**
 * Finds the runs in a folder and in those within it, or the one run that the folder holds. Links that lead out of the
 * folder are not followed. Of two copies of a run, the one with the first path is taken. Folders that look like a run
 * and cannot be read are `problems`, in sentences.
 */
export async function findRuns(folder: string) {
  const root = await realpath(folder)
  const runs = new Map<string, FoundRun>()
  const problems: string[] = []
  let visited = 0
  const visit = async (place: string, level: number, set: FoundSet | null): Promise<void> => {
    visited += 1
    if (visited > MOST_FOLDERS) return
    const own = holdsSet(place) ? await readMembers(place, problems) : set
    if (holdsRun(place)) {
      try {
        await assertLinksWithin(place, root)
        const manifest = await readManifest(place)
        const id = runIdOf(manifest)
        const { folder: setFolder = null, members } = own ?? {}
        const found = { id, folder: place, set: setFolder && basename(setFolder), setFolder, manifest }
        if (!runs.has(id)) runs.set(id, { ...found, member: members?.get(place) })
      } catch (error) {
        problems.push((error as Error).message)
      }
      return
    }
    if (level === LEVELS) return
    const entries = await readdir(place, { withFileTypes: true }).catch(() => [])
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || !(entry.isDirectory() || entry.isSymbolicLink())) continue
      const path = join(place, entry.name)
      if (entry.isDirectory() || (await isWithin(path, root))) await visit(path, level + 1, own)
    }
  }
  await visit(root, 0, null)
  // What was continued from the one run that is shown lies beside it.
  if (holdsRun(root)) for (const path of await continuedFolders(root)) await visit(path, 1, null)
  return { runs: [...runs.values()], problems }
}

export async function continuedFolders(run: string): Promise<string[]> {
  const [folder, own] = [dirname(run), basename(run)]
  const names = (await readdir(folder)).filter((name) => name.startsWith(own))
  return names.filter((name) => /^-continued(-\d+)?$/.test(name.slice(own.length))).map((name) => join(folder, name))
}

/** Reads who plays the runs of a set. Its runs are found also if the list of them cannot be read. */
async function readMembers(folder: string, problems: string[]) {
  try {
    const { worlds, asked } = await readSet(folder)
    const members = worlds.flatMap(({ members }) =>
      members.map(({ player, run }) => {
        const member = { player, isBaseline: player === asked.baseline }
        return [join(folder, run), member] as const
      }),
    )
    return { folder, members: new Map(members) }
  } catch (error) {
    problems.push((error as Error).message)
    return { folder, members: new Map<string, RunEntry['member']>() }
  }
}

/** Rejects if a file of a run is a link to elsewhere. */
async function assertLinksWithin(folder: string, root: string): Promise<void> {
  for (const name of Object.values(RUN_FILES)) {
    const path = join(folder, name)
    const found = await lstat(path).catch(() => null)
    if (found?.isSymbolicLink() && !(await isWithin(path, root)))
      throw new Error(`${path} is a link out of the folder, so the run is not shown.`)
  }
}
