import { generateTasks } from '@episodic/dataset'
import { connect, type Policy, randomPolicy, returnsOf, runEpisode } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { environment as desk } from './assistant.ts'
import { environment, policies, solver, tasks } from './index.ts'

/** A world whose lines are said one after the other; gives what each of them earned. */
function play(lines: readonly string[], params: JsonObject = {}) {
  const world = rehearse(environment, { params, seed: 'test', strict: true })
  const steps = lines.map((text) => world.play('say', { text }))
  return { world, steps, terms: steps.map(({ terms }) => terms) }
}

const TRIP = 'Book a flight from Lahore to Dubai on 2026-01-08 for 1 passenger'

describe('flight-booking', () => {
  it('rewards a right booking, answered questions, and the goal', () => {
    const { terms, steps } = play([TRIP, "What's the weather in Dubai?", 'Yes, book it'])
    expect(terms).toEqual([
      { success: 0, turn: -0.01, accuracy: 1, digressions: 0, inVain: 0 },
      { success: 0, turn: -0.01, accuracy: 0, digressions: 1, inVain: 0 },
      { success: 1, turn: -0.01, accuracy: 0, digressions: 0, inVain: 0 },
    ])
    expect(steps.at(-1)?.end).toEqual({ kind: 'terminated', reason: 'goal-reached' })
  })

  it('charges a player who ends the conversation without the goal more than it has earned', () => {
    const world = rehearse(environment, { params: {}, seed: 'test' })
    const earned = [
      world.play('say', { text: TRIP }),
      world.play('say', { text: "What's the weather in Dubai?" }),
      world.play('act', { intent: 'end', slots: {} }),
    ]
    expect(world.end?.kind).toBe('terminated')
    const total = earned.flatMap(({ terms }) => Object.values(terms)).reduce((sum, reward) => sum + reward, 0)
    expect(total).toBeLessThan(0)
  })

  it.each([
    ['LHX', 'LHE (Lahore), LHR (London)'],
    ['lahor', 'LHE (Lahore)'],
    ['DXb', 'DXB (Dubai)'],
    ['nowhere at all, and far too long to be a city', ''],
  ])('answers a request for %s with the closest airports and how to list all', (asked, closest) => {
    const act = rehearse(environment, { params: {}, seed: 'test' }).play('act', {
      intent: 'book-flight',
      slots: { to: asked },
    })
    expect(act.observation.text).toContain(
      `"${asked.slice(0, 24)}" is no code of an airport here. The closest are ${closest}`,
    )
    expect(act.observation.text).toContain('ask-airports tells all 64')
    expect(act.observation.text.length).toBeLessThan(400)
    const call = rehearse(desk, { params: {}, seed: 'test' }).play('book-flight', { to: asked })
    expect(call.observation.text).toContain(`The closest are ${closest}`)
    expect(call.observation.text.length).toBeLessThan(600)
  })

  it.each([
    ['an unknown city', { intent: 'book-flight', slots: { from: 'XXX' } }],
    ['an intent that nothing takes now', { intent: 'confirm', slots: {} }],
    ['too many passengers', { intent: 'book-flight', slots: { passengers: 400 } }],
  ])('refuses %s, and changes nothing', (_, action) => {
    const world = rehearse(environment, { params: {}, seed: 'test' })
    const before = structuredClone(world.state)
    expect(world.play('act', action)).toMatchObject({ refused: 'rules' })
    expect(world.state).toEqual(before)
  })

  it('applies outside changes of prices and seats while an agent plays', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    const world = connection.environment()
    await world.reset({ seed: 'test' })
    const { observation } = await world.step({ tool: 'say', arguments: { text: TRIP } })
    const [flight = ''] = /EP \d{3}/.exec(observation.text) ?? []
    const event = { type: 'sold-out', data: { data: { flight }, to: { topic: `flight:${flight}` } } }
    expect(await world.publish({ id: 'a', ...event })).toMatchObject({ delivered: 'now' })
    expect(await world.publish({ id: 'a', ...event })).toMatchObject({ delivered: 'before' })
    const next = await world.step({ tool: 'say', arguments: { text: 'Tell me a joke' } })
    expect(next.observation.text).toContain(`${flight} is sold out.`)
    expect(next.observation.text.match(/EP \d{3}/g)?.at(-1)).not.toBe(flight)
    await world.close()
  })

  it('separates the solver, a careless policy and a random one by their returns', async () => {
    const [solved, careless, random] = [
      await meanReturn(solver),
      await meanReturn(policies.careless),
      await meanReturn(randomPolicy()),
    ]
    expect(solved).toBeGreaterThan(careless + 0.2)
    expect(careless).toBeGreaterThan(random + 0.5)
  })
})

async function meanReturn(policy: Policy): Promise<number> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const rows = [...generateTasks(tasks, { seed: 'returns', count: 30 })]
  let sum = 0
  for (const task of rows) {
    const createEnvironment = () => connection.environment()
    const episode = await runEpisode({ createEnvironment, policy, task, policySeed: task.id })
    if (episode.kind !== 'finished') throw episode.cause
    sum += returnsOf(episode.steps, 1).total
  }
  return sum / rows.length
}
