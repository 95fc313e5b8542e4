import { formatPoints } from '../notes/figure-notes.ts'
import { formatCount, NOTHING } from '../text/format.ts'
import type { Noise } from './noise-floor.ts'

/** Returns the noise floor in points, and in words what it means and where it is from. */
export function formatNoise({ floor, repeated, flipped }: Noise): [value: string, note: string] {
  const flips = `${formatCount(flipped)} of ${formatCount(repeated)} tasks flipped between rollouts`
  if (floor === null) return [NOTHING, repeated > 0 ? flips : 'every episode ended alike']
  const meaning = 'what another run of this size has to differ by, to be shown (95 %, power 80 %)'
  return [
    `${formatPoints(floor * 100).replace(/^\+/, '')} points`,
    repeated > 0 ? `${meaning}; ${flips}` : `at most: ${meaning}; with two rollouts it is measured`,
  ]
}
