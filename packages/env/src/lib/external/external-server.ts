import {
  type Action,
  type Channel,
  type JsonObject,
  jsonObjectSchema,
  type Observation,
  type Refusal,
  type ToolInfo,
  WireError,
} from '@episodic/protocol'
import { withUnsaidData } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../session/call-options.ts'
import { observationOf, parseReply, toolAnswerSchema } from '../session/reply.ts'

/** An external server, for `prepare` and `read`. They may call any of its tools. */
export interface ExternalServer {
  /**
   * Calls a tool. Rejects with `rules-failed` if the tool refuses, and with `outcome-unknown` if the reply is lost.
   */
  call(tool: string, args?: JsonObject): Promise<Observation>
}

export function createExternalServer(channel: Channel, options: CallOptions): ExternalServer {
  return {
    async call(tool, args = {}) {
      const { observation, refused } = await callTool(channel, { tool, arguments: args }, options)
      if (refused)
        throw new EnvError(
          'rules-failed',
          `The server refused ${tool}, which the world itself needs: ${observation.text}`,
        )
      return observation
    },
  }
}

/** The answer of an external server to one call. */
export interface ToolAnswer {
  readonly observation: Observation
  readonly refused: Refusal | null
}

/**
 * Calls a tool, and never retries: an external server cannot distinguish a retry from a second call.
 *
 * A refusal is an answer too. Rejects with `reply-malformed`, with the signal's own reason, or with `outcome-unknown`.
 */
export async function callTool(channel: Channel, action: Action, { signal }: CallOptions): Promise<ToolAnswer> {
  const { tool, arguments: args } = action
  let reply: unknown
  try {
    reply = await channel.request('tools/call', { name: tool, arguments: args }, { signal })
  } catch (cause) {
    signal?.throwIfAborted()
    // Some servers reject invalid arguments and unknown tools with an error instead of a tool's answer.
    if (WireError.is(cause, 'invalid-params'))
      return { observation: { text: cause.message, structured: null }, refused: 'arguments' }
    // The server has answered, with an error.
    if (WireError.is(cause) || (EnvError.is(cause) && cause.details.refused === true)) throw cause
    throw new EnvError(
      'outcome-unknown',
      `The reply to ${tool} was lost, and whether the call had its effect cannot be known: ${(cause as Error).message}`,
      { cause },
    )
  }
  const answer = parseReply(toolAnswerSchema, reply, `tools/call of ${tool}`)
  const { text, structured, ...attached } = observationOf(answer)
  // The text stays as the server sent it. A model would read nothing of an answer that has data alone.
  const observation = {
    text: text === '' && structured ? withUnsaidData(text, structured) : text,
    structured,
    ...attached,
  }
  return { observation, refused: answer.isError ? 'rules' : null }
}

const toolsPageSchema = z.object({
  tools: z.array(
    z.object({
      name: z.string().min(1),
      description: z.string().default(''),
      inputSchema: jsonObjectSchema,
      outputSchema: jsonObjectSchema.nullable().default(null),
    }),
  ),
  nextCursor: z.string().optional(),
})

/** The most pages of tools that are read, in case a server never stops paging. */
const PAGES = 100

/** Lists the tools of a server. */
export async function listTools(channel: Channel, options: CallOptions): Promise<ToolInfo[]> {
  const tools: ToolInfo[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const reply = await channel.request('tools/list', cursor === undefined ? {} : { cursor }, options)
    const { nextCursor, ...listed } = parseReply(toolsPageSchema, reply, 'tools/list')
    tools.push(...listed.tools)
    if (nextCursor === undefined) return tools
    cursor = nextCursor
  }
  throw new EnvError('reply-malformed', `The server lists its tools on more than ${PAGES} pages.`)
}
