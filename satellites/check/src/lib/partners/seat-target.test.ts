import { definePolicy, type Policy, randomPolicy } from '@episodic/env'
import { HarnessError } from '@episodic/run/base/harness-error'
import { describe, expect, it } from 'vitest'
import type { CheckedWorld } from '../check-context.ts'
import { checkWorld } from '../check-world.ts'
import { leverWorld } from '../lever-world.fixture.ts'
import { counterGame } from '../rewards/counter-game.fixture.ts'

async function checkFor(world: CheckedWorld, partners?: Readonly<Record<string, Policy>>) {
  const { checks } = await checkWorld(world, { only: ['exploits'], ...(partners && { partners }) })
  return checks[0]
}

describe('the check of what one seat of a game earns', () => {
  it('searches all seats until it is said who plays the others', async () => {
    expect(await checkFor(counterGame())).toMatchObject({ outcome: 'passed' })
  })

  it('pass a sound game, with the solver as the partner', async () => {
    const world = counterGame()
    const exploits = await checkFor(world, { customer: world.solver })
    expect(exploits?.outcome).toBe('passed')
    // Only what the clerk can do is tried.
    const names = Object.keys(exploits?.figures ?? {})
    expect(names).toContain('repeats one call of greet')
    expect(names.filter((name) => name.endsWith(' ask'))).toEqual([])
  })

  it('find what pays the seat without the task, and repeat it with the same partner', async () => {
    const world = counterGame({ greeting: 0.5 })
    const exploits = await checkFor(world, { customer: world.solver })
    expect(exploits?.outcome).toBe('failed')
    expect(exploits?.findings.map(({ name }) => name)).toContain('exploit-pays:repeats one call of greet')
  })

  it('blame nothing on a zero-sum game in which one opponent is beaten by more than the solver earns', async () => {
    const { environment, solver } = counterGame({ rival: true })
    const careless = definePolicy({
      name: 'careless',
      start:
        ({ seed }) =>
        () => ({ tool: 'hand', arguments: { side: seed < '8' ? 'left' : 'right' } }),
    })
    const exploits = await checkFor({ environment, solver: careless }, { customer: solver })
    expect(exploits).toMatchObject({ outcome: 'skipped', summary: expect.stringContaining('zero-sum') })
  })

  it.each([
    ['one seat', leverWorld(), ['agent'], 'levers has one seat. Leave --seat out.'],
    ['an unknown seat', counterGame(), ['cook'], 'counter has no seat "cook". Its seats are: clerk, customer.'],
    ['every seat', counterGame(), ['clerk', 'customer'], '--seat is given for every seat of counter.'],
  ])('refuse partners for %s', async (_, world, seats, message) => {
    const partners = Object.fromEntries(seats.map((seat) => [seat, randomPolicy()]))
    const refused = await checkFor(world, partners).then(
      () => null,
      (error: unknown) => error,
    )
    expect(HarnessError.is(refused, 'option-invalid') && refused.message).toContain(message)
  })

  it('leave room for Ctrl-C between two episodes', async () => {
    let turns = 0
    const count = () => {
      turns += 1
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    await checkFor(leverWorld())
    clearImmediate(immediate)
    // It plays 32 tasks many times.
    expect(turns).toBeGreaterThan(32)
  })
})
