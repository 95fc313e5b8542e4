import { fileURLToPath } from 'node:url'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { playGolden } from '../../suite/golden.ts'
import { openTau2 } from '../tau2-world.ts'
import { createAirline } from './airline.ts'

// Tasks of our own making in the original's format. What is expected of them was recorded by the original.
const sample = new URL('../../../../sample/tau2/', import.meta.url)
const world = openTau2('airline', createAirline, fileURLToPath(sample), new URL('golden-airline.jsonl', sample))
const cases = [...world.golden()]

function begin(task: string) {
  const played = rehearse<EnvironmentDefinition>(world.environment, { params: { task }, seed: '1', strict: true })
  played.play('say', { text: 'Hello.' }, { seat: 'user' })
  const call = (tool: string, given: JsonObject) => played.play(tool, given, { seat: 'agent' })
  return { played, call, ask: (tool: string, given: JsonObject) => call(tool, given).observation.text }
}

describe('openTau2 of the airline', () => {
  it.each(cases)('plays the golden actions of $task as the original does', async (one) => {
    expect(one.expected).not.toBeNull()
    expect(await playGolden(world, one)).toMatchObject({ differs: [], failure: null, solved: true })
  })

  it('describes a tool by its docstring, and objects in its lists by their class', () => {
    const infoOf = (tool: string) => world.environment.toolInfos.find(({ name }) => name === tool)
    expect(infoOf('get_user_details')).toMatchObject({
      description: 'Get user details, in our own words.',
      inputSchema: { properties: { user_id: { description: 'Whose profile it is.' } } },
    })
    expect(infoOf('update_reservation_flights')).toMatchObject({
      inputSchema: {
        properties: {
          flights: {
            items: {
              properties: {
                flight_number: { description: 'Such as AB100.' },
                date: { description: 'The day of the departure.' },
              },
            },
          },
        },
      },
    })
  })

  it('solves a task whose rows stay as they are for a user who ends at once, and no other', () => {
    const solved = cases.filter(({ task }) => {
      const { played } = begin(task)
      played.play('say', { text: 'Hello.' }, { seat: 'agent' })
      return played.play('say', { text: '###STOP###' }, { seat: 'user' }).success
    })
    expect(solved.map(({ task }) => task)).toEqual(['refused', 'refuse'])
  })

  it('uses up a certificate that is to pay twice, and books nothing', () => {
    const { ask, played } = begin('not-booked')
    const [first] = cases.find(({ task }) => task === 'not-booked')?.calls.filter(({ tool }) => tool !== 'say') ?? []
    expect(ask('book_reservation', first?.arguments ?? {})).toBe("Error: 'certificate_1'")
    expect(played.state.private).toMatchObject({
      errors: 1,
      world: { users: { ada_abel_1: { reservations: ['RES001'] } }, reservations: {}, days: {} },
    })
  })

  it('finds no flight on a day before the 10th that follows a night flight', () => {
    const { ask } = begin('refuse')
    const onestop = (date: string) => ask('search_onestop_flight', { origin: 'SFO', destination: 'JFK', date })
    expect(onestop('2024-05-08')).toBe('[]')
    const pairs = JSON.parse(onestop('2024-05-16')) as { flight_number: string; date: string }[][]
    expect(
      pairs.map((pair) => pair.map(({ flight_number, date }) => `${flight_number} ${date.slice(-2)}`).join(', ')),
    ).toEqual(['AB100 16, AB200 16', 'AB400 16, AB200 17', 'AB400 16, AB300 17', 'AB400 16, AB500 17'])
  })

  it('keeps no row that a session has not changed', () => {
    const { call, played } = begin('refuse')
    call('get_user_details', { user_id: 'ada_abel_1' })
    call('get_user_details', { user_id: '__proto__' })
    call('cancel_reservation', { reservation_id: 'toString' })
    expect(played.state.private).toMatchObject({ errors: 2, world: { users: {}, reservations: {}, days: {} } })
  })
})
