import type { User } from '@episodic/benchmarks/tau2/shop'
import { checkTasks, generateTasks } from '@episodic/dataset'
import { connect, type Policy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { Customer } from './customer.ts'
import type { Desk } from './desk.ts'
import { SHOP } from './generated-shop.ts'
import { environment, solver, tasks } from './index.ts'

async function play(policy: Policy, count: number, difficulty: readonly [number, number] = [0, 1]) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  const rows = [...generateTasks(tasks, { seed: 'test', count, difficulty })]
  return await Promise.all(rows.map((task) => runEpisode({ createEnvironment, policy, task })))
}

describe('support-desk', () => {
  it('has tasks that pass all checks, and that the solver serves', async () => {
    const problems = []
    for await (const problem of checkTasks(generateTasks(tasks, { seed: 'test', count: 60 }), {
      environments: [environment],
    }))
      problems.push(problem)
    expect(problems).toEqual([])
    for (const episode of await play(solver, 60))
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'served' } })
  })

  it('judges the database and what was said, whatever led to it', () => {
    const served = open('Please cancel', 1)
    expect(served.use('cancel_pending_order', served.cancel).terms.unasked).toBe(-0.1)
    served.use('modify_user_address', { user_id: served.other.user_id, ...served.other.address, zip: '0' })
    served.use('modify_user_address', { user_id: served.other.user_id, ...served.other.address })
    served.use('say', { text: `You get back $${served.fact}.` })
    expect(served.use('close_case').end?.reason).toBe('served')

    const silent = open('Please cancel', 1)
    silent.use('say', { text: 'Shall I go ahead?' })
    expect(silent.use('cancel_pending_order', silent.cancel).terms.unasked).toBe(0)
    silent.use('say', { text: `You get back $1${silent.fact}.` })
    expect(silent.use('close_case').end?.reason).toBe('unserved')

    const damaging = open('Please cancel', 1)
    damaging.use('say', { text: `You get back $${damaging.fact}.` })
    damaging.use('cancel_pending_order', damaging.cancel)
    damaging.use('modify_user_address', { user_id: damaging.other.user_id, ...damaging.other.address, zip: '0' })
    expect(damaging.use('close_case').end?.reason).toBe('unserved')
  })
})

/** Opens the first case of one request that begins so, with so many facts. */
function open(beginning: string, facts: number) {
  for (let seed = 0; ; seed++) {
    const world = rehearse<EnvironmentDefinition>(environment, { seed: `seed-${seed}`, strict: true })
    const desk = world.state.private as unknown as Desk & { readonly customer: Customer }
    const [request] = desk.customer.requests
    const [order] = Object.values(desk.wanted.orders)
    if (!request?.text.startsWith(beginning) || desk.facts.length !== facts || !order) continue
    const other = Object.values(SHOP.users).find(({ user_id }) => user_id !== order.user_id) as User
    return {
      use: (tool: string, args: JsonObject = {}) => world.play(tool, args),
      customer: desk.customer,
      fact: desk.facts[0]?.text,
      cancel: { order_id: order.order_id, reason: order.cancel_reason },
      other: { user_id: other.user_id, address: { ...other.address } },
    }
  }
}
