import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Domain, fail } from './domain.ts'
import { earnedParts } from './reward.ts'
import { rulesOver, toolsOf } from './rule.ts'
import { readTasks } from './task-file.ts'

/** A jar that is filled up to three. */
interface Jar {
  coins: number
  id: string
}
const put = rulesOver<Jar>()('changes', { coins: z.int() }, (state, { coins }, rng) => {
  if (state.coins + coins > 3) fail('It is full.')
  Object.assign(state, { coins: state.coins + coins, id: `${rng.int(0, 1_000_000)}` })
  return 'Put.'
})
const domain: Domain<Jar> = {
  description: 'A jar.',
  state: z.object({ coins: z.int(), id: z.string() }),
  tools: toolsOf('agent', { put }, (state: Jar) => state),
  policy: 'Be kind.',
  readable: {},
  start: () => ({ coins: 0, id: '' }),
  databases: (state) => ({ jar: { ...state } }),
  random: ['jar.id'],
}

function taskOf(criteria: JsonObject) {
  const instructions = { domain: 'jar', reason_for_call: 'Fill it.', task_instructions: 'Fill it.' }
  const scenario = { persona: null, instructions }
  const [task] = readTasks(JSON.stringify([{ id: '1', user_scenario: scenario, evaluation_criteria: criteria }]))
  return task as NonNullable<typeof task>
}
const putOf = (coins: number) => ({ name: 'put', arguments: { coins } })
const called = (args: JsonObject) => ({ seat: 'agent', tool: 'put', arguments: args })
const said = (text: string, seat = 'agent') => ({ seat, tool: 'say', arguments: { text } })

describe('earnedParts', () => {
  it('compares the database with what the golden actions lead to, without what chance decides', () => {
    // The third golden action fails, as in the original, and is passed over.
    const task = taskOf({ actions: [putOf(1), putOf(2), putOf(1)] })
    const earned = (coins: number) => earnedParts(domain, task, { state: { coins, id: 'x' }, calls: [] }).DB()
    expect([0, 2, 3].map(earned)).toEqual([false, false, true])
  })

  it('takes a call for an action by the arguments that are named, or else by those that the call has', () => {
    const earned = (compare: string[] | null, args: JsonObject) =>
      earnedParts(domain, taskOf({ actions: [{ ...putOf(1), compare_args: compare }] }), {
        state: domain.start(taskOf({})),
        calls: [called(args)],
      }).ACTION()
    expect(earned(null, { coins: 1 })).toBe(true)
    expect(earned(null, { coins: 2 })).toBe(false)
    expect(earned(['coins'], {})).toBe(false)
    // As the original does.
    expect(earned(null, {})).toBe(true)
    expect(earned([], { coins: 7 })).toBe(true)
  })

  it('finds facts in the words of the agent, without commas and in any case', () => {
    const earned = (...calls: ReturnType<typeof said>[]) =>
      earnedParts(domain, taskOf({ communicate_info: ['1200', 'Ok'] }), {
        state: { coins: 0, id: '' },
        calls,
      }).COMMUNICATE()
    expect(earned(said('It costs 1,200.'), said('That is OK.'))).toBe(true)
    expect(earned(said('It costs 1,200.'), said('That is OK.', 'user'))).toBe(false)
  })
})
