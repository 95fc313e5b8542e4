import { resolve } from 'node:path'
import { shownPath } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { findMembers } from '@episodic/run/folder/set/set-folder'

/** Runs that are compared with each other, the baseline first, under a title if there are several such groups. */
export interface Group {
  readonly title: string | null
  readonly folders: readonly string[]
  readonly chosen: boolean
  /** Whether they are those of a set, of which some may be damaged, or not there yet. */
  readonly isSet: boolean
}

/** Throws `option-invalid` if there are fewer than two. */
export async function readGroups(
  folders: readonly string[],
  { baseline }: { readonly baseline?: string },
): Promise<Group[]> {
  const [only = ''] = folders
  const worlds = folders.length === 1 ? await findMembers(only) : null
  if (!worlds) {
    if (folders.length < 2)
      throw invalidOption(
        `${only} holds no set of runs, and one run alone cannot be compared. Give the folders of two or more runs, or of a set.`,
      )
    const members = folders.map((folder) => ({ folder, player: null }))
    return [{ title: null, isSet: false, ...withBaselineFirst(members, baseline) }]
  }
  return worlds.map(({ world, members }) => ({
    title: worlds.length > 1 ? world : null,
    isSet: true,
    ...withBaselineFirst(
      members.map(({ folder, player }) => ({ folder: shownPath(folder), player })),
      baseline,
    ),
  }))
}

/**
 * Moves the baseline to the front: the run that is named by its folder or, of a set, by its player. Throws
 * `option-invalid` if it is none of the runs.
 */
function withBaselineFirst(
  members: readonly { readonly folder: string; readonly player: string | null }[],
  baseline: string | undefined,
) {
  const folders = members.map(({ folder }) => folder)
  if (baseline === undefined) return { folders, chosen: false }
  const byPlayer = members.findIndex(({ player }) => player === baseline)
  const chosen = byPlayer >= 0 ? byPlayer : folders.findIndex((folder) => resolve(folder) === resolve(baseline))
  if (chosen >= 0) return { folders: [folders[chosen] as string, ...folders.toSpliced(chosen, 1)], chosen: true }
  const players = members.flatMap(({ player }) => player ?? [])
  throw invalidOption(
    players.length > 0
      ? `--baseline ${baseline} is neither a player of the set (${players.join(', ')}) nor the folder of one of its runs.`
      : `--baseline ${baseline} is none of the runs: ${folders.join(', ')}.`,
  )
}
