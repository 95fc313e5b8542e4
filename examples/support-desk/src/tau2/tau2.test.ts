import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateTasks } from '@episodic/dataset'
import { connect, definePolicy, runMatch } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { createRng } from '@episodic/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { SHOP } from '../generated-shop.ts'
import { drawCase } from '../requests.ts'
import { createShop, type Shop } from '../shop.ts'
import { compareRetail } from './compare.ts'
import { readRetailData } from './retail-data.ts'
import { createRetailWorld } from './retail-world.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-tau2-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A few users of the shop, and their orders: what is read for each task is small. */
const SMALL = smallShop()
const CASES = [0, 1, 2, 3].map((i) => drawCase(SMALL, createRng(`tau2 ${i}`), 3, true))

function smallShop(): Shop {
  const users = Object.entries(SHOP.users).slice(0, 20)
  const orders = users.flatMap(([, user]) => user.orders).map((id) => [id, SHOP.orders[id]])
  return createShop({ products: SHOP.products, users: Object.fromEntries(users), orders: Object.fromEntries(orders) })
}

/** Files in the form of τ²-bench, with the customers of this shop. The last action of each task is refused. */
function writeFiles(golden?: unknown): void {
  const tasks = CASES.map(({ identity, requests, solution, facts }, i) => ({
    id: String(i),
    user_scenario: {
      persona: null,
      instructions: {
        reason_for_call: requests.map(({ text }) => text).join(' '),
        known_info: identity,
        unknown_info: null,
        task_instructions: 'You are in a hurry.',
      },
    },
    evaluation_criteria: {
      actions: [
        ...solution.map(({ tool, arguments: args }) => ({ name: tool, arguments: args, info: null })),
        { name: 'get_order_details', arguments: { order_id: '#0' }, info: null },
      ],
      communicate_info: facts,
      nl_assertions: i === 0 ? ['Agent should be quick.'] : null,
    },
  }))
  const { products, users, orders } = SMALL
  writeFileSync(join(folder, 'db.json'), JSON.stringify({ products, users, orders }))
  writeFileSync(join(folder, 'tasks.json'), JSON.stringify(tasks))
  writeFileSync(join(folder, 'policy.md'), '# Policy\n')
  writeFileSync(join(folder, 'golden.json'), JSON.stringify(golden ?? []))
}

async function play(change: 'nothing' | 'one action less') {
  const { environment, tasks, solver } = createRetailWorld(readRetailData(folder))
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createGame = () => connection.game(environment.name)
  const lazy = definePolicy({
    name: 'lazy',
    start: () => () => ({ tool: 'say', arguments: { text: 'No.' } }),
  })
  const agent = change === 'nothing' ? solver : lazy
  const matches = []
  for (const task of generateTasks(tasks, { seed: 'test', count: CASES.length }))
    matches.push(await runMatch({ createGame, policies: { agent, user: solver }, task }))
  return matches
}

describe('the retail domain of τ²-bench', () => {
  it('is solved by its golden actions, judged by the final database', async () => {
    writeFiles()
    for (const match of await play('nothing'))
      expect(match).toMatchObject({ kind: 'finished', seats: { agent: { success: true, terms: { database: 1 } } } })
    for (const [i, match] of (await play('one action less')).entries())
      expect(match).toMatchObject({
        kind: 'finished',
        seats: { agent: { success: CASES[i]?.solution.every(({ tool }) => tool.startsWith('transfer')) } },
      })
  })

  it('gives the agent the policy, and the user the scenario', () => {
    writeFiles()
    const { tasks } = createRetailWorld(readRetailData(folder))
    const [task] = generateTasks(tasks, { seed: 'test', count: 1 })
    expect(task).toMatchObject({ params: { task: '0' }, tags: ['assertions'] })
    expect(task?.prompt).toContain('# Policy')
    expect(task?.seats?.user?.prompt).toContain('How you behave: You are in a hurry.')
    expect(task?.seats?.user?.prompt).not.toContain('# Policy')
  })

  it('is compared with what the tools of τ²-bench did', () => {
    writeFiles()
    const played = compareRetail(folder)
    expect(played.map(({ refused, actions }) => [refused, actions])).toEqual(
      CASES.map(({ solution }) => [[solution.length], solution.length + 1]),
    )
    expect(played.every(({ success, different }) => success && different === null)).toBe(true)
    const [first, second] = played.map(({ task, refused, changes }) => ({ task, refused, changes }))
    writeFiles([first, { ...second, refused: [], changes: [...(second?.changes ?? []), [['orders', '#0'], null]] }])
    expect(compareRetail(folder).map(({ different }) => different)).toEqual([
      [],
      [`refused ${second?.refused}, and should be `, 'missing: orders.#0 = null'],
      null,
      null,
    ])
  })
})
