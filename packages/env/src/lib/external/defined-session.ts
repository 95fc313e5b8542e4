import type { EpisodeEnd, JsonObject } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../session/call-options.ts'
import { type ExternalEnvironment, type ExternalSetting, runRule } from './external-environment.ts'
import { type EpisodeServer, openEpisodeServer } from './external-episode-server.ts'
import { callTool, createExternalServer, type ToolAnswer } from './external-server.ts'
import { type ExternalSession, type ExternalStep, type ExternalTurn, LATE_STEP } from './external-session.ts'

/** The input of `openDefinedSession`. */
export interface DefinedSessionRequest extends ExternalSetting<JsonObject> {
  readonly definition: ExternalEnvironment
  /** The names of the player's tools. */
  readonly tools: readonly string[]
}

/** Starts the server of an episode and sets it up, to be scored by this process. If that fails, stops the server. */
export async function openDefinedSession(
  request: DefinedSessionRequest,
  options: CallOptions,
): Promise<ExternalSession> {
  const { definition, params, seed } = request
  const server = await openEpisodeServer(definition, { params, seed }, options)
  const { context } = server
  try {
    const tools = createExternalServer(server.channel, options)
    await runRule('prepare', options, () => definition.prepare?.(tools, { params, seed, context }))
    let state = await readState(request, server, options)
    const text = await runRule('observe', options, () => definition.observe(state, params, context))
    return {
      params,
      observation: { text, structured: null },
      async play(turn, options) {
        const called = turn.late ? LATE_STEP : await act(request, server, turn, options)
        // An action that was not sent changed nothing.
        const sent = called.refused !== 'tool' && called.refused !== 'time'
        const before = state
        state = sent ? await readState(request, server, options) : before
        return score(definition, { ...turn, ...called, before, after: state, params, context }, options)
      },
      close: () => server.close(),
    }
  } catch (error) {
    await server.close().catch(() => {})
    throw error
  }
}

async function act(
  { tools }: DefinedSessionRequest,
  { channel }: EpisodeServer,
  { action }: ExternalTurn,
  options: CallOptions,
): Promise<ToolAnswer> {
  if (tools.includes(action.tool)) return callTool(channel, action, options)
  const text = `There is no tool "${action.tool}". The tools are: ${tools.join(', ')}.`
  return { observation: { text, structured: null }, refused: 'tool' }
}

async function score(
  { end: endOf, rewards }: ExternalEnvironment,
  { action, truncation, observation, refused, before, after, params, context }: ExternalTurn & ToolAnswer & Scored,
  options: CallOptions,
): Promise<ExternalStep> {
  const transition = { before, action, observation, refused, after, params, context }
  const reason = await runRule('end', options, () => endOf?.(transition) ?? null)
  const end: EpisodeEnd | null =
    reason !== null ? { kind: 'terminated', reason } : truncation && { kind: 'truncated', reason: truncation }
  const terms: Record<string, number> = {}
  for (const [name, term] of Object.entries(rewards)) {
    const value = await runRule(`reward term "${name}"`, options, () => term({ ...transition, end }))
    if (!Number.isFinite(value))
      throw new EnvError('rules-failed', `The reward term "${name}" is ${value}, and has to be a finite number.`)
    terms[name] = value
  }
  return { observation, refused, terms, end }
}

/** What a step is scored by, besides its answer. */
interface Scored {
  readonly before: unknown
  readonly after: unknown
  readonly params: JsonObject
  readonly context: unknown
}

function readState(
  { definition, params, seed }: DefinedSessionRequest,
  { channel, context }: EpisodeServer,
  options: CallOptions,
): Promise<unknown> {
  const tools = createExternalServer(channel, options)
  return runRule('read', options, () => definition.read?.(tools, { params, seed, context }) ?? null)
}
