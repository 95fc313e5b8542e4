import { connect, definePolicy, runMatch } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment } from '../leduc-poker.ts'

/** Checks, and raises whatever is raised. */
const checkRaise = definePolicy({
  name: 'check-raise',
  start: () => (observation) => {
    const { firstRound, secondRound, card } = observation.structured as {
      readonly [round: string]: string
    }
    const round = (card ? secondRound : firstRound) ?? ''
    return { tool: 'act', arguments: { move: round === '' || round === 'crr' ? 'call' : 'raise' } }
  },
})

describe('leduc-poker', () => {
  it('plays the longest hand for 13 chips, within the limit of steps', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    const createGame = () => connection.game(environment.name)
    const returns = new Set<number>()
    for (let deal = 0; deal < 20; deal++) {
      const policies = { first: checkRaise, second: checkRaise }
      const match = await runMatch({ createGame, policies, seed: `deal-${deal}` })
      if (match.kind === 'failed') throw match.cause
      expect(match.steps).toHaveLength(8)
      expect(match.seats.first?.end).toEqual({ kind: 'terminated', reason: 'showdown' })
      returns.add(match.seats.first?.return ?? Number.NaN)
      expect((match.seats.first?.return ?? 0) + (match.seats.second?.return ?? 0)).toBe(0)
    }
    expect([...returns].sort((a, b) => a - b)).toEqual([-13, 0, 13])
  })

  it('refuses a fold without a raise, and a third raise', () => {
    const hand = rehearse(environment)
    expect(hand.play('act', { move: 'fold' }, { seat: 'first' }).refused).toBeTruthy()
    hand.play('act', { move: 'raise' }, { seat: 'first' })
    hand.play('act', { move: 'raise' }, { seat: 'second' })
    expect(hand.play('act', { move: 'raise' }, { seat: 'first' }).refused).toBeTruthy()
    const { terms, seats } = hand.play('act', { move: 'fold' }, { seat: 'first' })
    expect([terms, seats?.terms]).toEqual([{ chips: -3 }, { second: { chips: 3 } }])
  })
})
