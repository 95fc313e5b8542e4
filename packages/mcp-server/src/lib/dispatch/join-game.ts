import { type EnvironmentInfo, type JsonObject, type ToolInfo, WireError } from '@episodic/protocol'
import { EPISODE_OVER, OBSERVATION, OBSERVATION_FIELDS } from '../environment/answer/agent-answer.ts'
import { type ToolResult, toolError } from '../environment/answer/tool-result.ts'
import { handleNames } from '../environment/definition/define-environment.ts'
import type { Principal } from '../host/access/caller.ts'
import type { CreatedGame, Host, JoinedSeat } from '../host/host.ts'
import type { ScannedAnswer } from './leak-scan.ts'
import { NOT_YET } from './wait-tool.ts'

const SEAT = 'seat'
const INVITATION = 'invitation'
const INVITATIONS = 'invitations'

/**
 * Returns the tools with which clients create an episode of several seats and join one: `creating` is the former for
 * one seat, and `schema` that of the argument which names a session.
 */
export function gameTools(
  { handle = '', seats = [] }: EnvironmentInfo,
  creating: ToolInfo,
  schema: JsonObject,
): readonly ToolInfo[] {
  const { create, join, argument } = handleNames(handle)
  const seat = { type: 'string', enum: seats.map(({ name }) => name) }
  const properties = {
    [argument]: schema,
    [SEAT]: { ...seat, description: 'The seat that you play.' },
    ...OBSERVATION_FIELDS,
  }
  const required = [argument, SEAT, OBSERVATION, EPISODE_OVER]
  const invitations = {
    type: 'object',
    description: `An invitation to each other seat: its player calls ${join} with it.`,
    additionalProperties: { type: 'string' },
  }
  return [
    {
      ...creating,
      description: `${creating.description} You play one seat, and give the invitations in the answer to the players of the others.`,
      inputSchema: {
        type: 'object',
        properties: { [SEAT]: { ...seat, description: 'The seat to play. Default: the first.' } },
      },
      outputSchema: {
        type: 'object',
        properties: { ...properties, [INVITATIONS]: invitations },
        required: [...required, INVITATIONS],
      },
    },
    {
      ...creating,
      name: join,
      description: `Take the seat of an invitation that you were given. It costs no step, returns what the seat sees, and answers with the ${argument} that the other tools need. Called again, it answers with the same one.`,
      inputSchema: {
        type: 'object',
        properties: { [INVITATION]: { type: 'string', description: `One that ${create} has answered with.` } },
        required: [INVITATION],
      },
      outputSchema: { type: 'object', properties, required },
      annotations: { ...creating.annotations, idempotentHint: true },
    },
  ]
}

interface JoinRequest {
  readonly principal: Principal
  readonly environment: EnvironmentInfo & { readonly handle: string }
  readonly arguments: JsonObject
}

export async function createGame(host: Host, request: JoinRequest): Promise<ScannedAnswer> {
  const { principal, environment, arguments: given } = request
  const seat = given[SEAT]
  const names = environment.seats?.map(({ name }) => name) ?? []
  if (seat !== undefined && (typeof seat !== 'string' || !names.includes(seat)))
    return refused(`There is no seat ${JSON.stringify(seat).slice(0, 64)}. The seats are: ${names.join(', ')}.`)
  try {
    return await welcome(host, request, await host.players.create(principal, { environment: environment.name, seat }))
  } catch (error) {
    if (WireError.is(error, 'seat-taken')) return refused(error.message)
    throw error
  }
}

export async function joinGame(host: Host, request: JoinRequest): Promise<ScannedAnswer> {
  const { principal, environment, arguments: given } = request
  const invitation = given[INVITATION]
  const { create, join } = handleNames(environment.handle)
  if (typeof invitation !== 'string')
    return refused(`${INVITATION} is missing: ${join} needs one that ${create} has answered with.`)
  try {
    const joined = await host.players.join(principal, { environment: environment.name, invitation })
    return await welcome(host, request, joined)
  } catch (error) {
    if (WireError.is(error, 'seat-taken'))
      return refused(`${error.message} Ask who created the game for an invitation to another one.`)
    if (WireError.is(error, 'session-not-found'))
      return refused(
        `This invitation is not valid: it is incomplete, or its game is gone. Ask for another one, or begin a game with ${create}.`,
      )
    throw error
  }
}

async function welcome(
  host: Host,
  { principal, environment: { name: environment, handle } }: JoinRequest,
  { token, seat, ...rest }: JoinedSeat | CreatedGame,
): Promise<ScannedAnswer> {
  const { create, argument } = handleNames(handle)
  const session = await host.resolve(principal, { by: 'argument', token, environment, hold: 0 })
  const turn = await session.awaitTurn()
  const over = turn.end !== null
  const next = over ? [`The episode is over. Call ${create} to play again.`] : turn.mine ? [] : [NOT_YET]
  const seen = [...turn.messages, turn.observation.text, ...next]
  const observation = [`You play the seat ${seat}.`, ...seen].join('\n')
  const invitations = 'invitations' in rest ? rest.invitations : null
  const invited = Object.entries(invitations ?? {}).map(
    ([other, invitation]) => `Invitation to the seat ${other}: ${invitation}`,
  )
  const text = [`${argument}: ${token}`, ...invited, observation].join('\n')
  const result: ToolResult = {
    content: [{ type: 'text', text }],
    structuredContent: {
      [argument]: token,
      [SEAT]: seat,
      ...(invitations && { [INVITATIONS]: { ...invitations } }),
      [OBSERVATION]: observation,
      [EPISODE_OVER]: over,
    },
  }
  return { result, secrets: turn.secrets, worldText: () => observation }
}

export function refused(text: string): ScannedAnswer {
  return { result: toolError(text), secrets: null }
}
