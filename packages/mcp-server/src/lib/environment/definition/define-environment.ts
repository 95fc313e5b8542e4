import { DEFAULT_SEAT, type JsonObject } from '@episodic/protocol'
import type { z } from 'zod'
import { ABSENT } from './absent-action.ts'
import { assertDefinition } from './assert-definition.ts'
import { authoredParts, authoredTools, WRITTEN } from './authored.ts'
import { commonParts, type ErasedSpec, makeEvent, type NO_PARAMS } from './common-parts.ts'
import { assertClosed, assertNamed, invalid, jsonSchemaOf } from './definition-schema.ts'
import type {
  EnvironmentDefinition,
  EnvironmentSpec,
  EventMaker,
  Tool,
  ToolMaker,
  WorldEvents,
  WorldState,
} from './environment.ts'
import { legalActions } from './legal-actions.ts'
import { makeTool } from './make-tool.ts'
import { withOffers } from './offered-tools.ts'

const SEATS: readonly string[] = [DEFAULT_SEAT]

/**
 * Describes an environment: parameters, public and private state, tools, rewards and end, in one place.
 *
 * Types flow from the schemas, so an author annotates nothing. Pure: nothing runs until a host opens a session.
 * Throws `definition-invalid`, which names the part, if the description cannot be served.
 */
export function defineEnvironment<
  Params extends z.ZodType = typeof NO_PARAMS,
  Public extends z.ZodType = z.ZodType<KeepsLiterals>,
  Private extends z.ZodType = z.ZodType<KeepsLiterals>,
  Tools extends { readonly [name: string]: Tool } = { readonly [name: string]: Tool },
  Events extends WorldEvents = WorldEvents,
  Term extends string = string,
>(
  definition: EnvironmentSpec<Params, Public, Private, Tools, Events, Term>,
): EnvironmentDefinition<Tools, Public, Params, Private, Term> {
  // Inside, types are erased once: the definition's own types have done their work on the author's side.
  assertDefinition(definition, 'environment')
  const erased = authoredParts(definition as unknown as ErasedDefinition)
  const { name, state } = erased
  assertNamed(name, erased.version)
  const maker = makeTool as ToolMaker<WorldState<z.output<Public>, z.output<Private>>, z.output<Params>, Events>
  const tools = authoredTools(name, definition.tools({ tool: maker }))
  if (Object.keys(tools).length === 0) throw invalid(name, 'it has no tools, so nothing could be done in it')
  const absent = definition.absent?.({ tool: maker }) ?? null
  if (absent && Object.hasOwn(tools, ABSENT)) throw invalid(name, `its tool ${ABSENT} has the name of its \`absent\``)
  const event = makeEvent as EventMaker<WorldState<z.output<Public>, z.output<Private>>, z.output<Params>>
  const handle = erased.handle === false ? null : (erased.handle ?? name.replaceAll('-', '_'))
  if (handle !== null) assertHandle(name, handle, tools, false)
  assertClosed(name, 'public state', state.public)
  for (const [tool, { output }] of Object.entries(tools)) if (output) assertClosed(name, `output of ${tool}`, output)
  const parts = commonParts(erased, tools, definition.events?.({ event }) ?? {}, state.public, SEATS)
  const shows: Parameters<typeof withOffers>[1] = {
    observe: (current, values) => ({ text: erased.observe(current.public, values), structured: current.public }),
    legal: (current, values) => legalActions(name, parts.toolInfos, erased.legal?.(current.public, values)),
  }
  return Object.freeze({
    ...parts,
    ...{ [WRITTEN]: definition },
    params: parts.params as unknown as Params,
    terms: parts.terms as unknown as readonly Term[],
    handle,
    state: { ...definition.state, own: null },
    seats: SEATS,
    multiplayer: false,
    utility: 'general',
    viewSchema: null,
    tools,
    absent: absent && (authoredTools(name, { absent }).absent as Tool),
    settle: null,
    present: () => SEATS,
    turn: () => SEATS,
    ...withOffers({ name, tools }, shows, erased.offers),
    rewards: erased.rewards,
    potential: erased.potential ?? nothing,
    success: erased.success ?? unjudged,
    verdicts: erased.verdicts,
    secrets: erased.secrets ?? null,
  } satisfies EnvironmentDefinition<Tools, Public, Params, Private, Term>)
}

/**
 * What the compiler takes a state for while it does not know its schema yet, which is when it reads a `start` without
 * parameters. A type with literals in it keeps it from widening `'hall'` to `string`; no state is ever held to it.
 */
export type KeepsLiterals =
  | ''
  | 0
  | boolean
  | null
  | readonly KeepsLiterals[]
  | { readonly [key: string]: KeepsLiterals }

const nothing = () => null
const unjudged = () => undefined

interface ErasedDefinition extends ErasedSpec<JsonObject> {
  readonly handle?: string | false
  readonly state: Pick<EnvironmentDefinition['state'], 'public' | 'private'>
}

/** Returns the names that a handle gives to tools and their argument. Only several seats have one to join. */
export function handleNames(noun: string) {
  return { create: `create_${noun}`, join: `join_${noun}`, destroy: `destroy_${noun}`, argument: `${noun}_id` }
}

/** Throws if names from the handle are invalid or taken. With several seats, it is the environment's name. */
export function assertHandle(
  environment: string,
  handle: string,
  tools: { readonly [name: string]: Tool },
  seats: boolean,
): void {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(handle) || handle.length > 64)
    throw invalid(environment, `its handle is "${handle}", and a handle is one lower-case noun, such as game`)
  const { create, join, destroy, argument } = handleNames(handle)
  const orElse = seats ? '' : ', or choose another `handle`'
  for (const name of seats ? [create, join, destroy] : [create, destroy])
    if (Object.hasOwn(tools, name))
      throw invalid(environment, `its tool ${name} has the name of a tool that the server adds; rename it${orElse}`)
  for (const [name, tool] of Object.entries(tools)) {
    const { properties = {} } = jsonSchemaOf(tool.input, 'input', `the input of ${name}`)
    if (Object.hasOwn(properties as JsonObject, argument))
      throw invalid(
        environment,
        `the argument ${argument} of its tool ${name} has the name of the argument that the server adds; rename it${orElse}`,
      )
  }
}
