import {
  listAll,
  type McpConnection,
  McpError,
  openConnection as open,
  sentence,
  type WaitOptions,
} from '@episodic/mcp-client'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { AgentError } from '../agent-error.ts'
import type { ServerConfig } from './server-config.ts'
import { readTool, type SessionTool } from './session-tool.ts'
import { refusedAnswer, type ToolAnswer, type ToolContent, toolAnswerOf } from './tool-answer.ts'

/** The most bytes of one answer over HTTP. */
const ANSWER_BYTES = 16 * 1024 * 1024

export interface Connection {
  /** The protocol: `modern` is stateless, since 2026-07-28. Before that (`legacy`) a server may keep a session. */
  readonly protocol: 'modern' | 'legacy'
  /** Why the connection ended; `null` while it is open. */
  readonly gone: string | null
  listTools(options: WaitOptions): Promise<SessionTool[]>
  /** Rejects with the signal's own reason, or with an `McpError`. */
  call(tool: SessionTool, args: JsonObject, options: WaitOptions): Promise<ToolAnswer>
  ping(options: WaitOptions): Promise<void>
  /** Ends the session at the server, and the process that was started for it. Never rejects. */
  close(): Promise<void>
}

export interface ConnectionOptions extends WaitOptions {
  readonly openMilliseconds: number
  readonly callMilliseconds: number
}

/**
 * Connects to a server: with the handshake of the session-based versions if the server supports it, so that the server
 * can keep a session, otherwise with the stateless version 2026-07-28.
 *
 * Rejects with `connection-failed` or `unauthorized`, or with the signal's own reason.
 */
export async function openConnection(
  name: string,
  server: ServerConfig,
  { signal, ...times }: ConnectionOptions,
): Promise<Connection> {
  const protocols = new Map([['url' in server ? server.url : server.command, 'legacy' as const]])
  try {
    return connectionOf(await open(server, { signal, protocols }, { ...times, answerBytes: ANSWER_BYTES }), times)
  } catch (error) {
    signal?.throwIfAborted()
    throw openingError(name, server, error)
  }
}

function connectionOf(
  connection: McpConnection,
  { openMilliseconds, callMilliseconds }: Omit<ConnectionOptions, 'signal'>,
): Connection {
  const protocol = connection.protocol === 'legacy' ? 'legacy' : 'modern'
  return {
    protocol,
    get gone() {
      return connection.gone
    },
    async listTools({ signal }) {
      const list = (signal: AbortSignal) => listAll(connection, 'tools/list', 'tools', signal)
      try {
        return (await inTime(list, openMilliseconds, signal)).map(readTool)
      } catch (error) {
        // Some servers do not say that they have tools, and some have none.
        if (connection.capabilities.tools === undefined && isAnswer(error)) return []
        throw error
      }
    },
    async call({ name }, args, { signal }) {
      const params = { name, arguments: args }
      try {
        const call = (signal: AbortSignal) => connection.request('tools/call', params, { signal })
        return answerOf(await inTime(call, callMilliseconds, signal), name)
      } catch (error) {
        // Some servers reject arguments with an error instead of a tool's answer.
        if (isAnswer(error)) return refusedAnswer(McpError.is(error) ? error.why : (error as Error).message)
        throw error
      }
    },
    async ping({ signal }) {
      const method = protocol === 'legacy' ? 'ping' : 'server/discover'
      await inTime((signal) => connection.request(method, {}, { signal }), callMilliseconds, signal)
    },
    close: () => connection.close().catch(() => {}),
  }
}

async function inTime<T>(
  run: (signal: AbortSignal) => Promise<T>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const late = AbortSignal.timeout(milliseconds)
  try {
    return await run(signal ? AbortSignal.any([signal, late]) : late)
  } catch (error) {
    signal?.throwIfAborted()
    throw late.aborted ? new McpError('timed-out', 'no answer came in time', { cause: error }) : error
  }
}

function isAnswer(error: unknown): boolean {
  return WireError.is(error) || (McpError.is(error) && error.details.refused === true)
}

/** Reads the answer of a tool. What it breaks of the tool's own output schema is for the model to see. */
function answerOf(result: unknown, tool: string): ToolAnswer {
  const { content, structuredContent = null, isError } = isObject(result) ? result : {}
  if (!Array.isArray(content)) throw new McpError('malformed', `it answered ${tool} with what is no answer of a tool`)
  return toolAnswerOf(content as unknown as ToolContent[], structuredContent, isError === true)
}

function openingError(name: string, server: ServerConfig, cause: unknown): AgentError {
  const where = 'url' in server ? server.url : `the command ${server.command}`
  const { code, why, status } = McpError.is(cause) ? cause : { code: null, why: (cause as Error).message, status: null }
  if (code === 'unauthorized' || code === 'login-failed')
    return new AgentError(
      'unauthorized',
      `The server ${name} (${where}) wants other credentials: ${sentence(why)} Set its token, its headers or its authorization.`,
      { cause, details: { server: name, status } },
    )
  const hint =
    status === 404 || status === 405
      ? ' Its path may be another one, or it may speak the HTTP with SSE of 2024-11-05, which is not spoken here.'
      : ''
  return new AgentError(
    'connection-failed',
    `Cannot open a session with the server ${name} (${where}): ${sentence(why)}${hint}`,
    { cause, details: { server: name } },
  )
}
