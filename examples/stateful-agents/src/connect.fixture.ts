import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** A session of the SDK's own client with a server of the example, which is a process of its own. */
export interface TestSession extends AsyncDisposable {
  readonly client: Client
  readonly pid: number
  call(name: string, input?: Record<string, unknown>): Promise<CallToolResult>
  /** Calls a tool that must work, and resolves with its structured answer. */
  ask(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Calls a tool that must fail, and resolves with its text. */
  fail(name: string, input?: Record<string, unknown>): Promise<string>
}

/** Connects to a server: its file beneath `src`, its arguments and its environment. */
export async function connect(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<TestSession> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [fileURLToPath(new URL(file, import.meta.url)), ...args],
    env,
    stderr: 'inherit',
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  const call: TestSession['call'] = async (name, input = {}) =>
    (await client.callTool({ name, arguments: input })) as CallToolResult
  return {
    client,
    pid: transport.pid as number,
    call,
    async ask(name, input) {
      const result = await call(name, input)
      if (result.isError) throw new Error(textOf(result))
      return result.structuredContent ?? {}
    },
    async fail(name, input) {
      const result = await call(name, input)
      if (!result.isError) throw new Error(`${name} was to fail, and said: ${textOf(result)}`)
      return textOf(result)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')
}
