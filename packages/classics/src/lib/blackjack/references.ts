import type { Measure, Reference } from '../reference.ts'

/** Expected returns by the treatment of naturals, from exact sums over all cards. */
const RETURNS = {
  // Exactly -3954908734551683826282634489 / 13^26.
  win: { optimal: -0.043113105413, stickOn20: -0.350111146088, dealer: -0.075851660035, uniform: -0.394174557022 },
  pay: { optimal: -0.025729182789, stickOn20: -0.332727223465, dealer: -0.058467737411, uniform: -0.38548259571 },
  count: { optimal: -0.046555977067, stickOn20: -0.353554017742, dealer: -0.079294531688, uniform: -0.395895992849 },
}

const BOOK = 'Sutton and Barto, Reinforcement Learning, 2nd edition, figure 5.2'

/** Gymnasium's Blackjack-v1 with `sab=True` (naturals win), `natural=True` (naturals pay) and neither (naturals count as 21). */
export const references: readonly Reference[] = Object.entries(RETURNS).flatMap(([naturals, returns]) => {
  const exact = (
    id: string,
    quantity: string,
    value: number,
    policy: (Measure & { kind: 'expected-return' })['policy'],
    source = 'exact, from the rules of Gymnasium 1.4.0',
  ): Reference => ({
    id: `${naturals}/${id}`,
    params: { naturals },
    quantity,
    value,
    tolerance: 1e-9,
    source,
    how: { kind: 'expected-return', policy, steps: null },
  })
  const played = (policy: 'solver' | 'random', value: number): Reference => ({
    ...exact(
      `${policy}-played`,
      `mean return of ${policy === 'solver' ? 'the solver' : 'random actions'}`,
      value,
      'optimal',
    ),
    tolerance: 'interval',
    how: { kind: 'played', policy },
  })
  return [
    exact('optimal', 'optimal return', returns.optimal, 'optimal'),
    exact(
      'figure-5.2',
      'return of the strategy of figure 5.2',
      returns.optimal,
      { strategy: 'figure-5.2' },
      `strategy: ${BOOK}`,
    ),
    exact('stick-on-20', 'return of sticking on 20 or 21', returns.stickOn20, { strategy: 'stick-on-20' }),
    exact('as-the-dealer', 'return of playing as the dealer', returns.dealer, { strategy: 'as-the-dealer' }),
    exact('uniform', 'return of uniformly random actions', returns.uniform, 'uniform'),
    played('solver', returns.optimal),
    played('random', returns.uniform),
  ]
})
