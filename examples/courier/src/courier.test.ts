import { type Rehearsal, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment as exploitable } from './exploitable.ts'
import { environment, MOVES } from './index.ts'

const walk = (rehearsal: Rehearsal<typeof environment>, ...ways: readonly ('depot' | 'house')[]) =>
  ways.map((to) => rehearsal.play('walk', { to }))

const earned = (steps: ReturnType<typeof walk>) =>
  steps.flatMap(({ terms }) => Object.values(terms)).reduce((sum, term) => sum + term, 0)

describe.each([
  { name: 'exploitable', environment: exploitable, again: 0.18 },
  { name: 'fixed', environment, again: -0.02 },
])('courier, $name', ({ environment, again }) => {
  it('pays 1.14 for a straight walk to the house, which succeeds', () => {
    const steps = walk(rehearse(environment), 'house', 'house', 'house', 'house', 'house', 'house')
    expect(earned(steps)).toBeCloseTo(1.14)
    expect(steps.at(-1)).toMatchObject({ end: { kind: 'terminated', reason: 'delivered' }, success: true })
  })

  it(`pays ${again} for turning round at the checkpoint, every time`, () => {
    const rehearsal = rehearse(environment)
    walk(rehearsal, 'house', 'house', 'house')
    for (let moves = 3; moves + 2 < MOVES; moves += 2)
      expect(earned(walk(rehearsal, 'depot', 'house'))).toBeCloseTo(again)
  })

  it('stays at the depot when it walks on', () => {
    const rehearsal = rehearse(environment)
    walk(rehearsal, 'depot')
    expect(rehearsal.state.public).toEqual({ position: 0, checked: false })
  })
})
