import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Policy } from '@episodic/env'
import { describe, expect, it } from 'vitest'
import { COMPUTERS } from './parity/parity-world.ts'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))

interface Message {
  readonly role: string
  readonly content: string
}

/** A server of chat completions whose model plays as a policy does that reads nothing but texts. */
async function startModel(policy: Policy): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (incoming, response) => {
    const { model, messages } = (await json(incoming)) as { readonly model: string; readonly messages: Message[] }
    // The server keeps nothing: it plays the conversation again, answer by answer.
    const player = await policy.start({ task: { prompt: '', hints: [], params: {} }, tools: [], seed: 'model' })
    let action = await player({ text: '', structured: null }, { last: null })
    for (const { content } of messages.filter(({ role }) => role === 'tool'))
      action = await player({ text: content, structured: null }, { last: null })
    const call = { name: action.tool, arguments: JSON.stringify(action.arguments) }
    const tool_calls = [{ id: `call_${messages.length}`, type: 'function', function: call }]
    const choice = { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: '', tool_calls } }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const body = { id: 'chat', object: 'chat.completion', created: 0, model, choices: [choice], usage }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe.each(COMPUTERS)('$name', ({ name, solver }) => {
  it('is solved by a scripted model through llm:, and replays without running a command', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'episodic-computers-'))
    try {
      await using model = await startModel(solver)
      const world = fileURLToPath(new URL(`../examples/${name}`, import.meta.url))
      const episodic = (...args: string[]) =>
        promisify(execFile)(process.execPath, [CLI, ...args], {
          cwd: folder,
          env: { ...process.env, OPENAI_API_KEY: 'none', EPISODIC_HOME: folder },
        })
      const server = ['--policy', 'llm:scripted', '--base-url', model.url]
      await episodic('run', world, ...server, '--tasks', '6', '--out', 'played')
      const { counts, success } = JSON.parse(readFileSync(join(folder, 'played/summary.json'), 'utf8'))
      expect(counts).toMatchObject({ finished: 6, failed: 0 })
      expect(success.overall).toMatchObject({ successes: 6, count: 6 })
      const { stdout } = await episodic('replay', 'played', '--world', world, '--json')
      expect(JSON.parse(stdout)).toMatchObject({ replayed: 6, diverged: 0 })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
