import type { JsonObject } from '@episodic/protocol'
import type { Measure, Reference } from './reference.ts'

const GYMNASIUM = 'Gymnasium 1.4.0'

export interface TabledFacts {
  /** The name of the variant: the first part of its references' ids. */
  readonly variant: string
  readonly params: JsonObject
  /** Of the transition table. */
  readonly sha256: string
  readonly optimal: number
  readonly uniform: number
  /** Who published the best return. Default: it is computed from Gymnasium's table. */
  readonly publishedBy?: string
}

export function tabledReferences(variants: readonly TabledFacts[]): Reference[] {
  return variants.flatMap(({ variant, params, sha256, optimal, uniform, publishedBy }) => {
    const exact = `exact, from the table of ${GYMNASIUM}`
    const best = publishedBy ?? `value iteration on the table of ${GYMNASIUM}`
    // The figures have twelve digits.
    const rows: readonly (readonly [string, string, number | string, Reference['tolerance'], string, Measure])[] = [
      ['table', 'transition table', sha256, 'exact', GYMNASIUM, { kind: 'table' }],
      ['optimal', 'optimal return', optimal, 1e-9, best, { kind: 'expected-return', policy: 'optimal' }],
      ['uniform', 'return of random play', uniform, 1e-9, exact, { kind: 'expected-return', policy: 'uniform' }],
      ['solver-played', 'mean return of the solver', optimal, 'interval', exact, { kind: 'played', policy: 'solver' }],
      ['random-played', 'mean return of random play', uniform, 'interval', exact, { kind: 'played', policy: 'random' }],
    ]
    return rows.map(([id, quantity, value, tolerance, source, how]) => {
      return { id: `${variant}/${id}`, params, quantity, value, tolerance, source, how }
    })
  })
}
