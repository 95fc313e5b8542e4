import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMcpSessions } from '@episodic/agent'
import { connect } from '@episodic/env'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { CLI, openWorkshop } from '../../fixtures/episodic.fixture.ts'

/** A world that counts. Its tool `break` starts work that fails or ends the process later, in the requested way. */
const FAULTY_WORLD = `
import { exit } from 'node:process'
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
const WAYS = {
  rejection: () => void Promise.reject(new Error('a floating rejection')),
  late: () => void new Promise((_, reject) => setTimeout(() => reject(new Error('a late rejection')), 1)),
  timer: () => void setTimeout(() => { throw new Error('a throwing timer') }, 1),
  interval: () => {
    let left = 20
    const timer = setInterval(() => {
      if (--left === 0) clearInterval(timer)
      throw new Error('a throwing interval')
    }, 1)
  },
  tick: () => void process.nextTick(() => { throw new Error('a throwing tick') }),
  exit: () => process.exit(3),
  'imported exit': () => exit(3),
  'exit in a timer': () => void setTimeout(() => process.exit(3), 1),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  'kill of its group': () => process.kill(0, 'SIGKILL'),
  'kill of its group by number': () => process.kill(-process.pid, 'SIGKILL'),
}
export const environment = defineEnvironment({
  name: 'faulty',
  version: '1.0.0',
  description: 'Counts.',
  handle: false,
  params: z.object({}),
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  limits: { steps: 1_000_000 },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: ({ count }) => String(count),
  tools: ({ tool }) => ({
    count: tool({
      description: 'Counts one up.',
      input: z.object({}),
      play({ state, say }) {
        state.public.count += 1
        return say('Counted.')
      },
    }),
    break: tool({
      description: 'Fails in a way of its own.',
      input: z.object({ way: z.enum(Object.keys(WAYS)) }),
      play({ state, input, say }) {
        state.public.count += 1
        WAYS[input.way]()
        return say('Counted.')
      },
    }),
    stray: tool({
      description: 'Leaves something behind outside of the call.',
      input: z.object({}),
      play({ say }) {
        outside.dispatchEvent(new Event('stray'))
        return say('Left.')
      },
    }),
  }),
  rewards: {},
})
const outside = new EventTarget()
const queue = []
outside.addEventListener('stray', () => queue.push(1))
setInterval(() => { if (queue.pop()) throw new Error('a failure of nobody') }, 1).unref()
`

const workshop = openWorkshop()
beforeAll(() => writeFileSync(join(workshop.folder, 'faulty.ts'), FAULTY_WORLD))
afterAll(() => workshop[Symbol.dispose]())

const COUNT = { tool: 'count', arguments: {} }

describe('episodic serve', () => {
  it('fails only the session whose code fails after its call has returned', async () => {
    const server = await workshop.serve(['./faulty.ts'], {
      env: { EPISODIC_CONTROL_TOKEN: 'the-token-of-the-operator' },
    })
    await using connection = await connect({ url: server.url, token: 'the-token-of-the-operator' })
    const other = connection.environment()
    await other.reset({})
    let counted = 0
    const countOnce = async () => {
      counted += 1
      expect((await other.step(COUNT)).observation.structured).toEqual({ count: counted })
    }
    for (const way of ['rejection', 'late', 'timer', 'interval', 'tick', 'exit in a timer']) {
      const faulty = connection.environment()
      await faulty.reset({})
      // It fails after the call has been answered.
      await faulty.step({ tool: 'break', arguments: { way } })
      const refusal = await refused(() => faulty.step(COUNT), countOnce)
      expect(refusal, way).toMatchObject({ code: 'environment-failed' })
      expect(refusal.message).toContain('after it had answered an earlier call of this session')
      await countOnce()
    }
    for (const way of ['exit', 'imported exit', 'abort', 'kill', 'kill of its group', 'kill of its group by number']) {
      const faulty = connection.environment()
      await faulty.reset({})
      await expect(faulty.step({ tool: 'break', arguments: { way } }), way).rejects.toMatchObject({
        code: 'environment-failed',
        message: expect.stringContaining('which would end the server'),
      })
      await countOnce()
    }
    await using agents = createMcpSessions({ mcpServers: { faulty: { url: server.agentUrl } } })
    await using agent = await agents.open('faulty')
    await agent.callTool('break', { way: 'rejection' })
    const count = async () => {
      const { isError, text } = await agent.callTool('count')
      if (isError) throw new Error(text)
    }
    expect((await refused(count, countOnce)).message).toMatch(
      /no further calls are played in this session\. Reference: [\w-]+\. .*to play again\./,
    )
    const faulty = connection.environment()
    await faulty.reset({})
    await faulty.step({ tool: 'stray', arguments: {} })
    await server.until(/a failure of nobody/)
    await countOnce()
    const metrics = await (
      await fetch(new URL('/metrics', server.url), { headers: { authorization: 'Bearer the-token-of-the-operator' } })
    ).text()
    expect(metrics).toMatch(/episodic_stray_failures_total\{kind="exception"\} 1/)
    expect(metrics).toMatch(/episodic_faults_total\{environment="faulty"\} 13/)
    server.kill('SIGTERM')
    const { status, err } = await server.ended
    expect(status).toBe(0)
    // Reported once, however often it throws. A line of the log has the message and the stack, which begins with it.
    expect(err.split('\n').filter((line) => line.includes('a throwing interval'))).toHaveLength(1)
  })

  it('ends if its log has no reader anymore', async () => {
    const child = spawn(process.execPath, [CLI, 'serve', join(workshop.folder, 'faulty.ts'), '--stdio'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    child.stderr.destroy()
    const call = (id: number) =>
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'stray', arguments: {} } })}\n`,
      )
    child.stdin.on('error', () => {})
    child.stdin.write(
      `${JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
      })}\n`,
    )
    await once(child.stdout, 'data')
    call(1)
    const [status] = await ended
    expect(status).toBe(1)
  })
})

/** Plays until a step is rejected, because work that fails after its call fails at an unknown time. */
async function refused(step: () => Promise<unknown>, meanwhile: () => Promise<void>): Promise<Error> {
  for (;;) {
    const thrown = await step().then(
      () => null,
      (error: Error) => error,
    )
    if (thrown) return thrown
    await meanwhile()
  }
}
