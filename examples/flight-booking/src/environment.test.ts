import { generateTasks } from '@episodic/dataset'
import { connect, type Policy, randomPolicy, returnsOf, runEpisode } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { AIRPORTS } from './airports.ts'
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

  it('takes back the reward of a slot that is corrected to a wrong value', () => {
    const { terms } = play([TRIP, 'No, to Doha', 'No, to Dubai'])
    expect(terms.map(({ accuracy }) => accuracy)).toEqual([1, -0.25, 0.25])
  })

  it('continues after a wrong booking, and after one without the answers', () => {
    const { world } = play(['Book a flight from Lahore to Doha on 2026-01-08 for 1', 'yes'])
    expect(world.end).toBeNull()
    const { world: unasked, terms } = play([TRIP, 'yes', 'How is the weather in Dubai?'])
    expect(unasked.end).toEqual({ kind: 'terminated', reason: 'goal-reached' })
    expect(terms.at(-1)).toMatchObject({ success: 1, digressions: 1 })
  })

  it('remembers answered questions, however many follow', () => {
    const jokes = Array.from({ length: 17 }, () => 'Tell me a joke')
    const { terms } = play([TRIP, 'How is the weather in Dubai?', ...jokes, 'yes'])
    expect(terms.at(-1)).toMatchObject({ success: 1, digressions: 0 })
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

  it('handles an intent without words like the same intent in words', () => {
    const world = rehearse(environment, { params: {}, seed: 'test' })
    const slots = { from: 'LHE', to: 'DXB', date: '2026-01-08', passengers: 1 }
    expect(world.play('act', { intent: 'book-flight', slots }).terms.accuracy).toBe(1)
    world.play('act', { intent: 'ask-weather', slots: {} })
    expect(world.play('act', { intent: 'confirm', slots: {} }).terms.success).toBe(1)
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

  it.each(['I want to fly from Berlin to Tokyo', 'no, from berlin to Tokyo', 'Actually from Berlin'])(
    'reports an unknown city, and books nothing before another is named: %s',
    (text) => {
      const { world, steps } = play([TRIP, text, 'yes', 'Yes, book it'])
      expect(steps[1]?.observation.text).toContain('I know no airport in "')
      expect(steps[1]?.observation.text).toContain('Where do you want to fly from?')
      for (const { observation } of steps.slice(1)) expect(observation.text).not.toMatch(/Booked and paid|\$\d/)
      expect(world.play('say', { text: 'from Istanbul' }).observation.text).toMatch(/Istanbul to (Tokyo|Dubai)/)
    },
  )

  it("answers with no other city's weather than the requested one", () => {
    const { steps } = play([TRIP, "What's the weather in Berlin?", 'In Dubai'])
    expect(steps[1]?.observation.text).toMatch(/^I know no airport in "Berlin".*\nFor which city\?/)
    expect(steps[2]?.observation.text).toMatch(/^Dubai on /)
  })

  it('names the most passengers when more are requested', () => {
    const { steps } = play(['Book a flight from Lahore to Dubai on 2026-01-08 for 40 people'])
    expect(steps[0]?.observation.text).toContain('I cannot book 40 seats: 1 to 9 can fly together.')
  })

  it('refuses an unknown slot, and lists the known ones', () => {
    const world = rehearse(environment, { params: {}, seed: 'test' })
    const slots = { origin: 'Lahore', destination: 'Dubai' }
    const { observation, refused } = world.play('act', { intent: 'book-flight', slots })
    expect(refused).toBe('arguments')
    expect(observation.text).toContain('There is no slot "origin", "destination".')
    expect(observation.text).toContain('book-flight, give-details: from, to, place, date, passengers, cabin, part')
  })

  it('lists all airports on request', () => {
    const { steps } = play(['Which airports are there?', 'where can I fly to?'])
    for (const { observation } of steps)
      for (const { code, city } of AIRPORTS) expect(observation.text).toContain(`${city} (${code})`)
  })

  it('lets a person talk without a goal or a step limit', () => {
    const world = rehearse(environment, { params: environment.person, seed: 'test' })
    const trip = [TRIP, "What's the weather in Dubai?", 'Yes, book it', 'Tell me a joke']
    for (let talked = 0; talked < 10; talked++)
      for (const text of trip) expect(world.play('say', { text })).toMatchObject({ end: null, refused: null })
    expect(world.play('say', { text: "That's all, thanks" }).end).toMatchObject({ reason: 'ended-by-user' })
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

  it('answers a text that is far too long, and continues', () => {
    const world = rehearse(environment, { params: {}, seed: 'test' })
    expect(world.play('say', { text: 'x'.repeat(1_000_000) }).refused).not.toBeNull()
    expect(world.play('say', { text: TRIP }).terms.accuracy).toBe(1)
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
