import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import type { CheckedWorld } from '../check-context.ts'
import { type Deal, type Replacement, readableBy, withReplaced } from '../deal.ts'
import { shapeOf } from '../shape-of.ts'
import { leavesOf, valueAt } from '../walk-json.ts'
import { type Form, formsOf } from './encodings.ts'

export interface Mark {
  readonly text: string
  readonly place: string
  /** The kind of field that it is: the place, with a star for any row of a table. */
  readonly kind: string
  /** The seats that hold it, or may read it. */
  readonly holders: readonly string[]
  readonly forms: readonly Form[]
  readonly isPlanted: boolean
}

/** The fewest characters of a real value that serves as a mark. Shorter ones occur by chance. */
const LEAST_TEXT = 12
const LEAST_DIGITS = 9

export interface PlantedDeal {
  readonly deal: Deal
  readonly marks: readonly Mark[]
}

export interface Planting {
  /** Where to plant, in the private state and in what seats hold. Default: everywhere. */
  readonly places?: readonly (readonly string[])[]
  /** Values by which rules find what belongs together, and which stay what they are. */
  readonly references: ReadonlySet<Json>
  /** The share of the places, by chance: rules may go another way where what they compare was replaced. */
  readonly share: number
}

/**
 * Replaces hidden values of a deal by canaries, in the private state and in what every seat of a game holds: texts by
 * 24 hexadecimal digits and numbers by nine digits. Where the schemas reject a canary, and for a reference,
 * the real value stays, and is a mark if it is long enough.
 */
export function plantDeal(
  { environment }: CheckedWorld,
  { seed, state }: Deal,
  { places, references, share }: Planting,
): PlantedDeal {
  const { own, private: hidden } = state
  const candidates = places ?? leavesOf({ ...(own && { own }), private: hidden }).map(({ path }) => path)
  const rng = createRng(seed).stream('canaries')
  const chosen = candidates.filter(() => share === 1 || rng.chance(share))
  const found = chosen.map((path) => ({ path, real: valueAt(state as unknown as JsonObject, path) as Json }))
  const canaries = found.flatMap(({ path, real }): Replacement[] => {
    const value = references.has(real) ? null : canaryFor(real, rng)
    return value === null ? [] : [{ path, value }]
  })
  const planted = withReplaced(environment, state, canaries)
  const values = new Map([...planted.replaced].map(({ path, value }) => [path, value]))
  const marks = found.flatMap(({ path, real }): Mark[] => {
    const canary = values.get(path)
    const isLong = String(real).length >= (typeof real === 'string' ? LEAST_TEXT : LEAST_DIGITS)
    if (canary === undefined && !isLong) return []
    const text = String(canary ?? real)
    return [
      {
        text,
        place: path.join('.'),
        kind: shapeOf(environment, path),
        holders: holdersOf(environment, path),
        forms: formsOf(text),
        isPlanted: canary !== undefined,
      },
    ]
  })
  return { deal: { seed, state: planted.state }, marks }
}

function holdersOf(environment: EnvironmentDefinition, [part, ...path]: readonly string[]): readonly string[] {
  if (part === 'own') return path.slice(0, 1)
  return environment.seats.filter((seat) =>
    readableBy(environment, seat).some((read) => read.every((key, i) => key === path[i])),
  )
}

function canaryFor(value: Json, rng: Rng): Json | null {
  if (typeof value === 'string') return Array.from({ length: 24 }, () => rng.int(0, 15).toString(16)).join('')
  return typeof value === 'number' ? rng.int(100_000_000, 999_999_999) : null
}
