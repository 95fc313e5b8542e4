import { z } from 'zod'
import { formatCount, formatPercent, formatShareInterval, NOTHING } from '../text/format.ts'

/** The success of a policy that the world itself has, measured on the tasks of a run. */
const anchorSchema = z.object({
  /** `nothing`, or `random` in a world that has no such policy; `solver`. */
  policy: z.string(),
  /** The folder of its run, relative to that of the run beside which it stands. */
  run: z.string(),
  successes: z.int(),
  count: z.int(),
  rate: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
})
export type Anchor = z.infer<typeof anchorSchema>

/**
 * The content of `anchors.json`: between what a success rate lies. The floor is what doing nothing earns, the oracle
 * what the world's reference policy does. `null` for a policy that the world does not have.
 */
export const anchorsSchema = z.object({
  format: z.literal(1),
  floor: anchorSchema.nullable(),
  oracle: anchorSchema.nullable(),
})
export type Anchors = z.infer<typeof anchorsSchema>

/** Returns floor and oracle as figures: name, value, and by whom and in how many episodes they were measured. */
export function anchorRows(anchors: Anchors | undefined): (readonly [name: string, value: string, note: string])[] {
  if (!anchors) return []
  return (['floor', 'oracle'] as const).map((kind) => {
    const anchor = anchors[kind]
    if (anchor === null) return [kind, NOTHING, 'the world has no such policy']
    const { policy, rate, low, high, successes, count } = anchor
    const interval = low === null ? '' : `   95 %: ${formatShareInterval({ low, high })}`
    return [kind, formatPercent(rate), `${policy}, ${formatCount(successes)} of ${formatCount(count)}${interval}`]
  })
}

/** Returns the same as one line of text, or the command that measures them. */
export function noteAnchors(anchors: Anchors | null | undefined, measure: string): string {
  if (!anchors) return `Floor and oracle are not measured: ${measure}`
  const rows = anchorRows(anchors).map(([name, value, note]) => `${name} ${value} (${note.replace(/ {3}/g, '; ')})`)
  return `Measured on these tasks: ${rows.join(', ')}.`
}
