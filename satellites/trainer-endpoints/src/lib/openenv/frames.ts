import { parseAccepted } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { parseAction } from './action.ts'
import { errorFrame } from './errors.ts'
import { answerRpcMessage, type RpcContext } from './json-rpc.ts'
import { listToolsResult, type OpenEnvResult, resetResult, stepResult } from './observation.ts'
import type { OpenEnvSession } from './session.ts'

export interface FrameContext extends RpcContext {
  readonly session: OpenEnvSession
}

/** Answers one frame of `/ws`; resolves with `null` for the frame that closes the connection. Never rejects. */
export async function answerFrame(text: string, context: FrameContext): Promise<object | null> {
  try {
    const { type, data } = parseFrame(text)
    if (type === 'close') return null
    if (type === 'mcp') return { type: 'mcp', data: await answerRpcMessage(data, context) }
    if (type === 'state') return { type, data: await context.session.state() }
    const result = type === 'reset' ? reset(data, context.session) : step(data, context.session)
    return { type: 'observation', data: await result }
  } catch (error) {
    return errorFrame(error, context.onError)
  }
}

export async function reset(data: JsonObject, session: OpenEnvSession): Promise<OpenEnvResult> {
  return resetResult(await session.reset(data))
}

export async function step(
  data: unknown,
  session: OpenEnvSession,
  options?: { readonly opens: boolean },
): Promise<OpenEnvResult> {
  const asked = parseAction(data)
  if (asked.kind === 'list-tools') return listToolsResult(await session.info())
  return stepResult(asked.action.tool, await session.step(asked.action, options))
}

type Frame =
  | { readonly type: 'reset' | 'step' | 'mcp'; readonly data: JsonObject }
  | { readonly type: 'state' | 'close'; readonly data: null }

function parseFrame(text: string): Frame {
  const frame = parseAccepted(text, 'frame')
  if (!isObject(frame)) throw new WireError('invalid-params', 'A frame is an object with a type.')
  const { type, data } = frame
  switch (type) {
    case 'state':
    case 'close':
      return { type, data: null }
    case 'reset':
      return { type, data: objectOf(data ?? {}) }
    case 'step':
    case 'mcp':
      return { type, data: objectOf(data) }
    default:
      throw new WireError('method-not-found', `Unknown message type: ${JSON.stringify(type)}.`)
  }
}

function objectOf(data: unknown): JsonObject {
  if (isObject(data)) return data as JsonObject
  throw new WireError('invalid-params', 'The data of a frame is an object.')
}
