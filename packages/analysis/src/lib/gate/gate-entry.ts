import { resolve } from 'node:path'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { holdsRun } from '@episodic/run/folder/record/run-folder'
import { findMembers } from '@episodic/run/folder/set/set-folder'

export interface GateEntry {
  readonly folder: string
  /** The name of its world; `null` if only its own files say it. */
  readonly world: string | null
  /** Its player in a set; `null` for a run of its own. */
  readonly player: string | null
}

/** Returns the run in a folder, or those of a set or of one of its worlds; `null` if it holds none. */
export async function findEntries(folder: string): Promise<GateEntry[] | null> {
  const path = resolve(folder)
  if (holdsRun(path)) return [{ folder: path, world: null, player: null }]
  const worlds = await findMembers(path)
  return worlds?.flatMap(({ world, members }) => members.map((member) => ({ ...member, world }))) ?? null
}

export async function readEntries(folder: string): Promise<GateEntry[]> {
  const entries = await findEntries(folder)
  if (entries) return entries
  throw new HarnessError('run-invalid', `${shownPath(folder)} holds neither a run nor a set of runs.`)
}
