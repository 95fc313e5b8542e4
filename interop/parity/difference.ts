import { isDeepStrictEqual } from 'node:util'
import type { Reference } from './reference.ts'
import type { SealedSession } from './seal-session.ts'
import { expectedOf, type SeenEpisode, type Shows } from './seen-episode.ts'

/** The first place at which an episode differs from its reference. */
export interface Difference {
  readonly where: string
  readonly got: unknown
  readonly wanted: unknown
}

/** Compares an episode with its reference: what the client has shown, and what its server kept. */
export function findDifference(
  reference: Reference,
  shows: Shows,
  { seen, sealed }: { readonly seen: SeenEpisode; readonly sealed: SealedSession },
): Difference | null {
  return firstOf(seen, expectedOf(reference, shows), 'seen') ?? firstOf(sealed, reference.sealed, 'kept')
}

function firstOf(got: unknown, wanted: unknown, where: string): Difference | null {
  if (isDeepStrictEqual(got, wanted)) return null
  if (isTree(got) && isTree(wanted) && Array.isArray(got) === Array.isArray(wanted))
    for (const key of new Set([...Object.keys(wanted), ...Object.keys(got)])) {
      const inner = firstOf(got[key], wanted[key], `${where}.${key}`)
      if (inner) return inner
    }
  return { where, got, wanted }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
