import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
/** A lamp that is switched on, and left on or off. */
const LAMP = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { defineTasks } from '${import.meta.resolve('@episodic/dataset')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'lamp',
  version: '1.0.0',
  description: 'A lamp.',
  params: z.object({}),
  state: { public: z.object({ on: z.boolean() }), private: z.object({}) },
  start: () => ({ public: { on: false }, private: {} }),
  observe: ({ on }) => (on ? 'It is on.' : 'It is off.'),
  tools: ({ tool }) => ({
    press: tool({
      description: 'Press the switch.',
      input: z.object({}),
      play({ state, say }) {
        state.public.on = !state.public.on
        return say('Click.')
      },
    }),
    leave: tool({
      description: 'Leave the room.',
      input: z.object({}),
      play({ end, say }) {
        end('left')
        return say('Goodbye.')
      },
    }),
  }),
  rewards: { lit: ({ after, end }) => (end && after.public.on ? 1 : 0), cost: () => -0.25 },
  success: ({ state }) => state.public.on,
})
export const tasks = defineTasks({
  name: 'lamps',
  environment,
  generate: () => ({ prompt: 'Leave the lamp on.', params: {}, difficulty: 0 }),
})
`
const WORLD = './lamp.ts'
const fileOf = (name: string) => join(workshop.folder, name)

beforeAll(async () => {
  writeFileSync(fileOf('lamp.ts'), LAMP)
  await workshop.main(['dataset', 'generate', WORLD, '--count', '1', '--out', 'task.jsonl'])
})

/** A server of the task, and what closing its session prints. */
async function serveTask() {
  const server = await workshop.serve([WORLD, '--task', 'task.jsonl'])
  const close = (...more: string[]) =>
    workshop.main(['sessions', 'close', '--port', new URL(server.url).port, '--json', ...more])
  return { server, close }
}

/** Calls a tool as a plain client does. */
async function call({ agentUrl }: Serving, name: string, args: object): Promise<string> {
  const response = await fetch(agentUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  return response.text()
}

describe('episodic serve --task', () => {
  it('serves one session of the task, which a command ends and reads', async () => {
    const { server, close } = await serveTask()
    expect(await call(server, 'press', {})).toContain('It is on.')
    expect(await call(server, 'leave', {})).toContain('Goodbye.')
    const { status, out } = await close('--reward-file', 'reward.json')
    const outcome = { end: { kind: 'terminated', reason: 'left' }, success: true, return: 0.5, steps: 2 }
    expect([status, JSON.parse(out)]).toEqual([0, { ...outcome, terms: { lit: 1, cost: -0.5 } }])
    const rewards = { reward: 0.5, success: 1, truncated: 0, lit: 1, cost: -0.5 }
    expect(JSON.parse(readFileSync(fileOf('reward.json'), 'utf8'))).toEqual(rewards)
    server.kill('SIGTERM')
    expect((await server.ended).status).toBe(0)
  })

  it.each([
    ['has played', ['press'], { reason: 'closed', success: true, return: -0.25, steps: 1 }],
    ['has done nothing', [], { reason: 'no-action', success: false, return: 0, steps: 0 }],
  ])('truncates the episode of a player that %s', async (_, tools, { reason, ...figures }) => {
    const { server, close } = await serveTask()
    for (const tool of tools) await call(server, tool, {})
    const terms = { lit: 0, cost: figures.return }
    expect(JSON.parse((await close()).out)).toEqual({ end: { kind: 'truncated', reason }, terms, ...figures })
    server.kill('SIGTERM')
    await server.ended
  })

  it('counts what the world judges once its player has left, of a player that does nothing too', async () => {
    const judging = LAMP.replace(
      '  rewards:',
      "  absent: ({ tool }) => tool({ description: 'Judges.', input: z.object({}), play: ({ say }) => say('') }),\n  rewards:",
    )
    writeFileSync(fileOf('judging.ts'), judging)
    await workshop.main(['dataset', 'generate', './judging.ts', '--count', '1', '--out', 'judging.jsonl'])
    for (const [tools, outcome] of [
      [['press'], { reason: 'closed', success: true, return: 0.5, steps: 1, terms: { lit: 1, cost: -0.5 } }],
      [[], { reason: 'no-action', success: false, return: -0.25, steps: 0, terms: { lit: 0, cost: -0.25 } }],
    ] as const) {
      const server = await workshop.serve(['./judging.ts', '--task', 'judging.jsonl'])
      for (const tool of tools) await call(server, tool, {})
      const { out } = await workshop.main(['sessions', 'close', '--port', new URL(server.url).port, '--json'])
      const { reason, ...figures } = outcome
      expect(JSON.parse(out)).toEqual({ end: { kind: 'truncated', reason }, ...figures })
      server.kill('SIGTERM')
      expect((await server.ended).err).toContain('judged what a player left')
    }
  })

  it('writes no reward where the session or the server is gone', async () => {
    const { server, close } = await serveTask()
    const lost = async () => {
      const { status, err } = await close('--reward-file', 'lost.json')
      expect([status === 0, existsSync(fileOf('lost.json'))]).toEqual([false, false])
      return err
    }
    expect((await close()).status).toBe(0)
    expect(await lost()).toContain('what it earned is lost')
    server.kill('SIGKILL')
    await server.ended
    expect(await lost()).toContain('127.0.0.1')
    const other = await serveTask()
    other.server.kill('SIGTERM')
    await other.server.ended
    expect((await other.close()).err).toContain('Start it with episodic serve --task')
  })

  it('says what is wrong with the file or the options', async () => {
    writeFileSync(fileOf('none.jsonl'), '')
    await workshop.main(['dataset', 'generate', WORLD, '--count', '2', '--out', 'two.jsonl'])
    for (const [args, problem] of [
      [[WORLD, '--task', 'none.jsonl'], 'holds none'],
      [[WORLD, '--task', 'two.jsonl'], 'holds 2'],
      [[exampleWorld('number-guessing'), '--task', 'task.jsonl'], 'is not served'],
      [[WORLD, '--task', 'task.jsonl', '--stdio'], 'Leave --stdio out'],
      [[WORLD, '--task', 'task.jsonl', '--processes', '2'], 'Leave --processes 2 out'],
    ] as const) {
      const { status, err } = await workshop.main(['serve', ...args, '--port', '0'])
      expect([status === 0, err]).toEqual([false, expect.stringContaining(problem)])
    }
  })
})
