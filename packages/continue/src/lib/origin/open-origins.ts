import type { Origins } from '@episodic/analysis/replay/replayed-step'
import type { OriginOf } from '@episodic/play/play/episodes/rollout'
import { limitsOf } from '@episodic/play/play/plan/plan'
import { isMatchRecord } from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import type { Parent, Point } from '../run/parent.ts'
import { episodeOrigin, putAtStep } from './episode-origin.ts'
import { matchOrigin } from './match-origin.ts'
import { recordsOf } from './origins-file.ts'

/** Points whose worlds are kept. Continuations of a point are played side by side, or soon after each other. */
const MOST_KEPT = 16

type ParentRules = Pick<Parent, 'origins'> & { readonly world: Pick<Parent['world'], 'environment'> }

/**
 * Returns what puts planned episodes back at their points. A world is put back once for all continuations of a
 * point.
 */
export function openOrigins(
  { world: { environment }, origins: earlier }: ParentRules,
  points: readonly Point[],
  maxSteps: number | null = null,
): OriginOf {
  const origins: Origins = new Map([
    ...recordsOf(earlier),
    ...points.map(({ record }) => [record.seal as string, record] as const),
  ])
  const kept = new Map<string, ReturnType<typeof episodeOrigin> | ReturnType<typeof matchOrigin>>()
  const putBack = (origin: Origin, limits: Parameters<typeof limitsOf>[0]) => {
    const name = `${origin.seal} ${origin.step}`
    const known = kept.get(name)
    if (known) return known
    const { parent, snapshot } = putAtStep(environment, origin, { origins, limits: limitsOf(limits, maxSteps) })
    const put = isMatchRecord(parent)
      ? matchOrigin(origin, { parent, snapshot }, origins)
      : episodeOrigin(origin, { parent, snapshot }, origins)
    kept.set(name, put)
    const [oldest] = kept.keys()
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    return put
  }
  return ({ task, origin }) => {
    if (!origin) return null
    const put = putBack(origin, task)
    return origin.seed === null ? put : { ...put, snapshot: { ...put.snapshot, seed: origin.seed, rng: {} } }
  }
}
