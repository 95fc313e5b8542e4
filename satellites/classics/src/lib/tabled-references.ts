import type { JsonObject } from '@episodic/protocol'
import { played } from './played.ts'
import type { Reference } from './reference.ts'

const GYMNASIUM = 'Gymnasium 1.4.0'

/** What computed returns are compared to: the references have twelve digits. */
const ROUNDING = 1e-9

/** The published facts of one variant of a world that has a transition table. */
export interface TabledFacts {
  /** The name of the variant: the first part of its references' ids. */
  readonly variant: string
  readonly params: JsonObject
  readonly rows: number
  readonly sha256: string
  /** The limit of steps. */
  readonly steps: number
  readonly optimal: number
  readonly optimalWithoutLimit: number
  readonly optimalDiscounted?: number
  readonly uniform: number
  /** Who published the best return. Default: it is computed from Gymnasium's table. */
  readonly publishedBy?: string
}

/** Returns the references of a world with a transition table. */
export function tabledReferences(variants: readonly TabledFacts[]): Reference[] {
  return variants.flatMap((facts) => {
    const { variant, params, steps, publishedBy = `value iteration on the table of ${GYMNASIUM}` } = facts
    const computed = { params, tolerance: ROUNDING, source: publishedBy }
    const exact = { params, source: `exact, from the table of ${GYMNASIUM}` }
    const optimal = { kind: 'expected-return', policy: 'optimal' } as const
    const references: Reference[] = [
      {
        id: `${variant}/table`,
        params,
        quantity: `transition table, ${facts.rows.toLocaleString('en')} rows`,
        value: facts.sha256,
        tolerance: 'exact',
        source: GYMNASIUM,
        how: { kind: 'table' },
      },
      {
        ...computed,
        id: `${variant}/optimal`,
        quantity: `optimal return within ${steps} steps`,
        value: facts.optimal,
        how: { ...optimal, steps },
      },
      {
        ...computed,
        id: `${variant}/optimal-without-limit`,
        quantity: 'optimal return without a limit of steps',
        value: facts.optimalWithoutLimit,
        how: { ...optimal, steps: null },
      },
      {
        ...exact,
        id: `${variant}/uniform`,
        quantity: `return of uniformly random actions within ${steps} steps`,
        value: facts.uniform,
        tolerance: ROUNDING,
        how: { kind: 'expected-return', policy: 'uniform', steps },
      },
      played('solver', { ...exact, variant, tolerance: 'interval', value: facts.optimal }),
      played('random', { ...exact, variant, tolerance: 'interval', value: facts.uniform }),
    ]
    if (facts.optimalDiscounted === undefined) return references
    const discounted: Reference = {
      ...computed,
      id: `${variant}/optimal-discounted`,
      quantity: 'optimal return without a limit of steps, discounted by 0.99',
      value: facts.optimalDiscounted,
      how: { ...optimal, steps: null, discount: 0.99 },
    }
    return [...references, discounted]
  })
}
