import { checkTasks, generateTasks } from '@episodic/dataset'
import { connect, type Policy, randomPolicy, runEpisode } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import { type Disk, readFile } from '@episodic/workspace'
import { describe, expect, it } from 'vitest'
import { KINDS } from './incidents.ts'
import { environment, policies, solver, tasks } from './index.ts'
import { checkout } from './machine.ts'

async function play(policy: Policy, count: number) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  const rows = [...generateTasks(tasks, { seed: 'test', count })]
  return await Promise.all(rows.map((task) => runEpisode({ createEnvironment, policy, task })))
}

/** Opens the first incident of a kind. */
function open(kind: (typeof KINDS)[number]) {
  for (let seed = 0; ; seed++) {
    const world = rehearse<EnvironmentDefinition>(environment, { seed: `seed-${seed}`, strict: true })
    const shop = () => world.state.private as unknown as { disk: Disk; kinds: readonly string[] }
    if (!shop().kinds.includes(kind)) continue
    const use = async (tool: string, args: Record<string, string> = {}) =>
      world.play(tool, args, { prepared: await world.prepare(tool, args) })
    const bash = async (command: string) => (await use('bash', { command })).observation.text
    return { shop, use, bash, read: (path: string) => readFile(shop().disk, path) }
  }
}

describe('on-call', () => {
  it('has tasks of every kind that pass all checks, and that the solver restores', async () => {
    const rows = [...generateTasks(tasks, { seed: 'test', count: 60 })]
    const problems = []
    for await (const problem of checkTasks(rows, { environments: [environment] })) problems.push(problem)
    expect(problems).toEqual([])
    const drawn = rows.flatMap(({ params, seed }) => rehearse(environment, { params, seed }).state.private.kinds)
    expect(new Set(drawn)).toEqual(new Set(KINDS))
    for (const episode of await play(solver, 60))
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'restored' } })
  })

  it('is not restored by who restarts everything, nor at random', async () => {
    for (const policy of [policies.stumbling, randomPolicy()])
      for (const episode of await play(policy, 8)) expect(episode).not.toMatchObject({ end: { reason: 'restored' } })
  })

  it('fails in another way for each kind', () => {
    const causes = KINDS.map((kind) => checkout(open(kind).read)).map((found) => 'cause' in found && found.cause)
    expect(causes.every(Boolean)).toBe(true)
    expect(new Set(causes.map((cause) => String(cause).replaceAll(/[\d.]+/g, 'N'))).size).toBe(KINDS.length)
  })

  it('runs with what was there when a service was started, and not with a file that it cannot read', async () => {
    const { bash } = open('timeout')
    const order = 'curl -s http://web.internal/checkout'
    await bash("sed -i 's/^timeout_ms = .*/timeout_ms = 5000/' /etc/shop/web.conf")
    expect(await bash(order)).toMatch(/The order failed/)
    expect(await bash(`restart web && ${order}`)).toMatch(/web was restarted\.\n\{"order":"accepted"}/)
    expect(await bash('echo timeout >> /etc/shop/web.conf; restart web; services')).toMatch(/not understood: timeout/)
    expect(await bash(order)).toMatch(/accepted/)
  })

  it('pays for no order that was made possible by changing what belongs to others', async () => {
    const { bash, use } = open('key')
    await bash('sed -n "s/^stock_key = //p" /etc/shop/orders.conf > /etc/shop/keys/stock.key')
    expect(await bash('curl -s http://web.internal/checkout')).toMatch(/accepted/)
    const { end, terms, success } = await use('close_incident')
    expect([end?.reason, terms.restored, success]).toEqual(['damaged', 0, false])
  })

  it('shows no file of its machines', async () => {
    const { bash } = open('address')
    expect(await bash('ls /run; find / -name "facts*"; cat /run/facts')).toMatch(/^ls: [\s\S]*cat: .*No such file/)
  })
})
