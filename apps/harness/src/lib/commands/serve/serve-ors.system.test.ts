import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const KEY = 'the-control-token-of-this-test'
const env = { EPISODIC_CONTROL_TOKEN: KEY }

async function serve(...args: string[]) {
  return serveWorld(world, ...args)
}

async function serveWorld(module: string, ...args: string[]) {
  const serving = await workshop.serve([module, ...args], { env })
  const [, origin = ''] = await serving.until(/"orsUrl":"(http:[^"]+)"/)
  const ask = async (path: string, body: object, session?: string) => {
    const response = await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, ...(session !== undefined && { 'x-session-id': session }) },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  return { ...serving, origin, ask }
}

describe('episodic serve --ors-port', () => {
  it('prints where clients of the Open Reward Standard play, and stops in order', async () => {
    const served = workshop.start(['serve', world, '--port', '0', '--ors-port', '0'])
    const [, origin] = await served.until(/for ORS {9}(http:\S+)/)
    await served.until(/Ctrl-C stops\./)
    expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 'ok' })
    expect((await fetch(`${origin}/list_environments`)).status).toBe(401)
    served.interrupt()
    expect((await served.ended).status).toBe(0)
  })

  it('serves the tasks of a dataset, and continues its sessions after it was killed', async () => {
    const tasks = join(workshop.folder, 'tasks.jsonl')
    await workshop.main(['dataset', 'generate', world, '--count', '20', '--out', tasks])
    const training = readFileSync(tasks, 'utf8').split('"split":"train"').length - 1
    const args = ['--ors-port', '0', '--tasks', tasks, '--store', `sqlite:${workshop.folder}/ors.db`]
    const first = await serve(...args)
    expect(JSON.parse((await first.ask('/num_tasks', { split: 'train' })).text)).toEqual({ num_tasks: training })
    await first.ask('/create', { split: 'train', index: 0 }, 'session-of-a-client')
    const call = { name: 'guess', input: { value: 'five' } }
    const played = await first.ask('/call', call, 'session-of-a-client')
    const taskId = /^data: (\S+)$/m.exec(played.text)?.[1]
    first.kill('SIGKILL')
    await first.ended
    const second = await serve(...args)
    expect(await second.ask('/call', { ...call, task_id: taskId }, 'session-of-a-client')).toEqual(played)
    expect((await second.ask('/call', call, 'session-of-a-client')).text).toContain('"seq":2')
  })

  it.each([
    [['--stdio'], /--ors-port needs HTTP/],
    [['--processes', '2', '--store', 'redis://127.0.0.1:1'], /--ors-port keeps the sessions of its clients/],
    [['--tasks', 'nowhere.jsonl'], /nowhere\.jsonl/],
  ])('rejects %j', async (options, message) => {
    const { status, err } = await workshop.main(['serve', world, '--port', '0', '--ors-port', '0', ...options])
    expect(status).not.toBe(0)
    expect(err).toMatch(message)
  })

  it('rejects --ors-confirm-calls without --ors-port', async () => {
    const { status, err } = await workshop.main(['serve', world, '--port', '0', '--ors-confirm-calls'])
    expect([status, err]).toEqual([2, expect.stringContaining('--ors-confirm-calls needs --ors-port')])
  })
})
