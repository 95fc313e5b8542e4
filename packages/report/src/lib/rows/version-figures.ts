import { computeStaleness } from '../fold/policy-versions.ts'
import { type EpisodeColumns, readColumns } from './columns.ts'
import { FIGURE_COLUMNS, type RowFigures, rowFigures } from './row-figures.ts'

export interface VersionFigures {
  readonly version: string
  readonly figures: RowFigures
  /** Of these episodes: those in which a newer version wrote answers too. */
  readonly updated: number
  /** Updates from it to the newest version of the run; `null` if they cannot be counted. */
  readonly behind: number | null
}

export const VERSION_COLUMNS = [...FIGURE_COLUMNS, 'version', 'staleness', 'started'] as const

/**
 * Computes the figures of every version of the weights that is known, over the episodes that count, from the oldest
 * version to the newest: in the order of their numbers, and where they cannot be counted in that of their first
 * episodes.
 *
 * Throws a `RangeError` without {@link VERSION_COLUMNS}.
 */
export function versionFigures(episodes: EpisodeColumns): VersionFigures[] {
  const { rows: size, dictionaries } = episodes
  const at = readColumns(episodes, VERSION_COLUMNS)
  const known = Array.from({ length: size }, (_, row) => row).filter(
    (row) => at('counts', row) === 1 && dictionaries.version[at('version', row)] !== '',
  )
  const byVersion = Map.groupBy(
    known.sort((a, b) => at('started', a) - at('started', b)),
    (row) => dictionaries.version[at('version', row)] as string,
  )
  const names = [...byVersion.keys()]
  const newest = names.reduce((last, each) => ((computeStaleness(last, each) ?? 1) > 0 ? each : last), names[0] ?? '')
  const versions = [...byVersion].map(([version, rows]) => ({
    version,
    figures: rowFigures(episodes, rows),
    updated: rows.filter((row) => at('staleness', row) > 0).length,
    behind: computeStaleness(version, newest),
  }))
  return versions.every(({ behind }) => behind !== null)
    ? versions.sort((a, b) => (b.behind ?? 0) - (a.behind ?? 0))
    : versions
}
