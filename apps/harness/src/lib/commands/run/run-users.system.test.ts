import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readMatches } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('phone-support')
const at = (...path: string[]) => join(workshop.folder, ...path)

/** Does as the solver does, and in half of its plays says that it has rebooted, which its phone cannot. */
const USER = `
import { solver } from ${JSON.stringify(join(world, 'src/solver.ts'))}
export default {
  name: 'careless-user',
  async start(context) {
    const player = await solver.start(context)
    const isCareless = Number.parseInt(context.seed.slice(0, 8), 16) % 2 === 0
    let turns = 0
    return async (...seen) => {
      const action = await player(...seen)
      if (action.tool !== 'say' || ++turns !== 1 || !isCareless) return action
      return { tool: 'say', arguments: { text: 'I rebooted it, and it still does not work.' } }
    }
  },
}`

describe('a simulated user whose task says what it knows', () => {
  const run = (out: string, ...more: string[]) =>
    workshop.main([...['run', world, '--policy', 'solver', '--seat', 'user=./user.mjs'], ...more, '--out', out])

  it('makes an episode void that it spoils, which is played again and counted apart', async () => {
    writeFileSync(at('user.mjs'), USER)
    await workshop.main(['dataset', 'generate', world, '--count', '16', '--out', 'plain.jsonl'])
    const users = { user: { goal: 'Get mobile data to work.', claims: { reboot: ['rebooted'] } } }
    const rows = readFileSync(at('plain.jsonl'), 'utf8').trim().split('\n')
    writeFileSync(
      at('tasks.jsonl'),
      rows.map((row) => `${JSON.stringify({ ...JSON.parse(row), metadata: { users } })}\n`).join(''),
    )
    const { out, status } = await run('first', '--dataset', 'tasks.jsonl')
    expect(status).toBe(0)
    expect(out).toMatch(/user-spoiled +\d+ +Seat user: The simulated user claims what it has not done/)
    const failed = readMatches(at('first')).filter(({ outcome }) => outcome.kind === 'failed')
    expect(failed.length).toBeGreaterThan(2)
    expect(failed.length).toBeLessThan(14)
    for (const line of failed)
      expect(line).toMatchObject({
        outcome: {
          error: {
            code: 'user-spoiled',
            message: expect.stringContaining('claims what it has not done (claims-undone): "rebooted"'),
          },
          seat: 'user',
        },
      })
    expect((await workshop.main(['replay', 'first', '--dataset', 'tasks.jsonl'])).status).toBe(0)
    const again = ['--dataset', 'tasks.jsonl', '--resume', '--retry-failed']
    await run('first', ...again)
    expect(readMatches(at('first'))).toHaveLength(16)
    await run('first', ...again, 'user')
    const lines = readMatches(at('first'))
    expect(lines.length).toBeGreaterThan(16)
    expect(lines.some((line) => line.try > 0 && line.outcome.kind === 'finished')).toBe(true)
  })

  it('plays nothing if a sheet is none, also of a later task', async () => {
    const [row, second = ''] = readFileSync(at('plain.jsonl'), 'utf8').split('\n')
    const wrong = { ...JSON.parse(second), metadata: { users: { user: { goal: 1 } } } }
    writeFileSync(at('wrong.jsonl'), `${row}\n${JSON.stringify(wrong)}\n`)
    const { err, status } = await run('wrong', '--dataset', 'wrong.jsonl')
    expect([status, err]).toEqual([1, expect.stringContaining('its sheet is invalid: goal')])
    expect(existsSync(at('wrong'))).toBe(false)
  })
})
