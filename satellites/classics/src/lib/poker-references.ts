import type { GameReference, NamedProfile } from './game-reference.ts'

const OPEN_SPIEL = 'OpenSpiel 2.0.2'

/** Random play, or a solver. */
type PokerProfile = Extract<NamedProfile, 'uniform' | { readonly solver: string }>

/** The published facts of a game of poker. */
export interface PokerFacts {
  readonly informationSets: readonly [number, number]
  readonly ends: number
  readonly uniformValue: number
  /** NashConv of a solver's average strategies after some iterations. `uniform` counts none. */
  readonly nashConv: readonly (readonly [profile: PokerProfile, value: number])[]
}

/** The figures have nine digits after the point. */
const ROUNDING = 1e-9

/** Returns the references of a game of poker that is small enough to walk. */
export function pokerReferences({ informationSets, ends, uniformValue, nashConv }: PokerFacts): GameReference[] {
  const exact = { params: {}, tolerance: 'exact', source: OPEN_SPIEL } as const
  const computed = { params: {}, tolerance: ROUNDING, source: OPEN_SPIEL } as const
  return [
    {
      ...exact,
      id: 'information-sets',
      quantity: 'information sets of each seat',
      value: informationSets,
      how: { kind: 'information-sets' },
    },
    { ...exact, id: 'ends', quantity: 'ways in which a hand ends', value: ends, how: { kind: 'ends' } },
    {
      ...computed,
      id: 'uniform/value',
      quantity: 'expected return of the first seat, uniformly random actions',
      value: uniformValue,
      how: { kind: 'game-value', profile: 'uniform' },
    },
    ...nashConv.map(([profile, value]): GameReference => {
      const name =
        profile === 'uniform' ? 'uniform' : `${profile.solver === 'cfr' ? 'cfr' : 'cfr-plus'}-${profile.iterations}`
      return {
        ...computed,
        id: `${name}/nash-conv`,
        quantity:
          profile === 'uniform'
            ? 'NashConv of uniformly random actions'
            : `NashConv of ${profile.solver === 'cfr' ? 'CFR' : 'CFR+'} after ${profile.iterations} iterations`,
        value,
        how: { kind: 'nash-conv', profile },
      }
    }),
  ]
}
