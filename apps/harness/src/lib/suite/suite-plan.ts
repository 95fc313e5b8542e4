import { hash } from 'node:crypto'
import { dirname } from 'node:path'
import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { loadWorld, type World } from '../world.ts'
import type { FoundSuite, SuiteFile } from './suite-file.ts'
import { type Measured, referencesOf, type WorldReference } from './world-references.ts'

/** What a figure is compared with. */
export type Expected = Pick<WorldReference, 'value' | 'tolerance' | 'source'>

interface Line {
  /** Unique within its world. */
  readonly id: string
  readonly quantity: string
  /** `null`: the parameters of generated tasks. */
  readonly params: JsonObject | null
}

/** A figure that the world's module measures on its rules. */
export interface ExactLine extends Line {
  readonly kind: 'exact'
  readonly reference: Expected
  /** How it is measured: what the module says about it. */
  readonly how: Json
  measure(): Measured
}

/** A mean of played episodes. */
export interface PlayedLine extends Line {
  readonly kind: 'played'
  readonly policy: string
  readonly reference: Expected & { readonly value: number }
}

/** The expected means of a variant's random and best policies. Unknown ones are `null`. */
export interface Anchors {
  readonly random: number | null
  readonly optimum: number | null
}

/** A mean of played episodes of the policy that a suite is run with, which has no reference. */
export interface ScoredLine extends Line {
  readonly kind: 'scored'
  readonly policy: string
  readonly anchors: Anchors
}

export type SuiteLine = ExactLine | PlayedLine | ScoredLine

/** One world of a suite with its lines. */
export interface PlannedWorld {
  readonly world: World
  readonly lines: readonly SuiteLine[]
}

/** Everything that a suite measures and plays. */
export interface SuitePlan extends Pick<SuiteFile, 'name' | 'version' | 'description' | 'seed' | 'episodes'> {
  /** Of all that decides its figures: worlds, versions, lines and references. It does not depend on where files are. */
  readonly sha256: string
  readonly worlds: readonly PlannedWorld[]
}

/**
 * Loads the worlds of a suite and lists its lines.
 *
 * Throws `suite-invalid` if a world is named twice, if it lacks a reference that the suite names, or if two lines have the
 * same name, and the errors of `loadWorld`.
 */
export async function planSuite({ file, suite }: FoundSuite): Promise<SuitePlan> {
  const { name, version, description, seed, episodes } = suite
  const worlds: PlannedWorld[] = []
  for (const entry of suite.worlds) {
    const planned = await planWorld(entry, dirname(file))
    const { environment } = planned.world
    if (worlds.some(({ world }) => world.environment.name === environment.name))
      throw new HarnessError('suite-invalid', `${file} names ${environment.name} twice. Put its lines into one entry.`)
    worlds.push(planned)
  }
  const content = { name, version, seed, episodes, worlds: worlds.map(contentOf) }
  const sha256 = hash('sha256', canonicalJson(content as unknown as Json))
  return { name, version, description, seed, episodes, sha256, worlds }
}

/**
 * Adds a line for each variant of each world, which is played by a policy that the suite does not have. A variant is what
 * the suite's played lines have the parameters of.
 */
export function withPolicy(plan: SuitePlan, policy: string): SuitePlan {
  return {
    ...plan,
    worlds: plan.worlds.map(({ world, lines }) => {
      const played = lines.filter((line) => line.kind === 'played')
      const variants = Map.groupBy(played, ({ params }) => canonicalJson(params))
      const scored = [...variants.values()].map((group): ScoredLine => {
        const [{ id, params }] = group as [PlayedLine, ...PlayedLine[]]
        const meanOf = (name: string) => group.find((line) => line.policy === name)?.reference.value ?? null
        return {
          kind: 'scored',
          id: [...id.split('/').slice(0, -1), policy].join('/'),
          quantity: `mean return of ${policy}`,
          params,
          policy,
          anchors: { random: meanOf('random'), optimum: meanOf('solver') },
        }
      })
      return { world, lines: [...lines, ...scored] }
    }),
  }
}

/** Returns a name that a folder may have. */
export function folderName(text: string): string {
  return text.replace(/[^\w.-]+/g, '-')
}

async function planWorld(entry: SuiteFile['worlds'][number], folder: string): Promise<PlannedWorld> {
  const world = await loadWorld(entry.world, folder)
  const { name } = world.environment
  const { references, measure } = await referencesOf(world)
  const ids = new Set(references.map(({ id }) => id))
  const unknown = entry.references?.filter((id) => !ids.has(id)) ?? []
  if (unknown.length > 0)
    throw new HarnessError(
      'suite-invalid',
      `${name} has no reference ${unknown.join(', ')}. It has: ${[...ids].join(', ') || 'none'}.`,
    )
  const chosen = references.filter(({ id }) => entry.references?.includes(id) ?? true)
  const lines = [
    ...chosen.map((reference) => lineOf(reference, measure)),
    ...entry.played.map(
      ({ id, quantity, params = null, policy, expected, tolerance, source }): PlayedLine => ({
        kind: 'played',
        id,
        quantity: quantity ?? `mean return of ${policy}`,
        params,
        policy,
        reference: { value: expected, tolerance: tolerance || 'interval', source },
      }),
    ),
  ]
  const repeated = lines.find(({ id }, i) => lines.some((other, j) => j < i && folderName(other.id) === folderName(id)))
  if (repeated) throw new HarnessError('suite-invalid', `${name} has two lines called ${repeated.id}.`)
  return { world, lines }
}

function lineOf(reference: WorldReference, measure: (reference: WorldReference) => Measured): ExactLine | PlayedLine {
  const { id, quantity, params, value, tolerance, source, how } = reference
  if (how.kind !== 'played')
    return {
      kind: 'exact',
      id,
      quantity,
      params,
      reference: { value, tolerance, source },
      how: how as Json,
      measure: () => measure(reference),
    }
  if (typeof value !== 'number')
    throw new HarnessError('suite-invalid', `The reference ${id} is played, so its value has to be a number.`)
  return {
    kind: 'played',
    id,
    quantity,
    params,
    policy: String(how.policy),
    reference: { value, tolerance, source },
  }
}

function contentOf({ world, lines }: PlannedWorld) {
  const { name, version } = world.environment
  return { environment: { name, version }, lines: lines.map(({ quantity: _, ...line }) => line) }
}
