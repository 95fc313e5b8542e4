import { generateTasks } from '@episodic/dataset'
import { connect, definePolicy, randomPolicy, runMatch } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment } from './environment.ts'
import { solver } from './solver.ts'
import { tasks } from './tasks.ts'

async function play(count: number, policies: Parameters<typeof runMatch>[0]['policies']) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createGame = () => connection.game(environment.name)
  const matches = []
  for (const task of generateTasks(tasks, { seed: '0', count }))
    matches.push(await runMatch({ createGame, policies, task }))
  return matches
}

describe('phone-support', () => {
  it('is solved by an agent and a customer that work together, with any faults', async () => {
    for (const match of await play(60, { agent: solver, user: solver }))
      expect(match).toMatchObject({
        kind: 'finished',
        seats: { agent: { success: true, terms: { solved: 1 } }, user: { success: true } },
      })
  })

  it('is not solved by an agent whose customer does nothing', async () => {
    const silent = definePolicy({ name: 'silent', start: () => () => ({ tool: 'say', arguments: { text: 'Hm.' } }) })
    const matches = await play(20, { agent: solver, user: silent })
    expect(matches.every((match) => match.kind === 'finished' && match.seats.agent?.success === false)).toBe(true)
    expect((await play(20, { agent: randomPolicy(), user: randomPolicy() })).map(({ kind }) => kind)).not.toContain(
      'failed',
    )
  })

  it('gives each seat its own instruction and tools', async () => {
    const given: Record<string, unknown> = {}
    const noting = definePolicy({
      name: 'noting',
      start(context) {
        const { seat = '', task, tools } = context
        given[seat] = [task.prompt.split(' ').slice(0, 4).join(' '), tools.map(({ name }) => name)]
        return solver.start(context)
      },
    })
    await play(1, { agent: noting, user: noting })
    expect(given).toEqual({
      agent: ['You are an agent', ['say', 'look_up_line', 'restore_line', 'close_case']],
      user: ['You are a customer', ['say', 'switch_setting', 'open_page']],
    })
  })
})
