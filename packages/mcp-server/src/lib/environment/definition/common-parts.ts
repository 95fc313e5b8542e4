import type { JsonObject, ToolInfo } from '@episodic/protocol'
import type { EventInfo } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import { type Authored, authoredEvents } from './authored.ts'
import { invalid, jsonSchemaOf } from './definition-schema.ts'
import type {
  CommonSpec,
  EnvironmentDefinition,
  FinalContext,
  StateTransition,
  Tool,
  WorldEvent,
  WorldEvents,
} from './environment.ts'
import { toToolInfo } from './make-tool.ts'

export const NO_PARAMS = z.object({})

/** A {@link CommonSpec} with its types erased: JSON in, JSON out. */
export type ErasedSpec<Seen, Seats extends readonly string[] = [], Seat = unknown> = CommonSpec<
  z.ZodType,
  { readonly [tool: string]: unknown },
  SessionState,
  Seen,
  StateTransition & Seat,
  FinalContext<SessionState, unknown> & Seat,
  Seats
>

/**
 * Returns the parts of a definition that are made alike for one seat and for several.
 *
 * @param seen - the schema of what a tool answers with, unless it says otherwise.
 */
export function commonParts(
  spec: Authored<ErasedSpec<never, readonly never[], never>>,
  tools: { readonly [name: string]: Tool },
  written: WorldEvents,
  seen: z.ZodType,
  seats: readonly string[],
) {
  const { name, version, description, params = NO_PARAMS, limits = {}, history = null, readable = [] } = spec
  const { parallelToolCalls, greetings } = spec
  const events = authoredEvents(name, written)
  const infos = Object.entries(tools).map(([toolName, tool]) => toToolInfo(name, toolName, tool, seen))
  return {
    name,
    version,
    description,
    params,
    paramsSchema: jsonSchemaOf(params, 'input', `the parameters of ${name}`),
    history,
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(greetings && { greetings }),
    toolInfos: withSpeech(name, infos, spec.speech),
    events,
    eventInfos: Object.entries(events).map(([type, event]) => toEventInfo(name, type, event)),
    terms: spec.terms,
    hasPotential: spec.potential !== undefined,
    hasSuccess: spec.success !== undefined,
    verdictNames: spec.verdictNames,
    release: spec.release ?? null,
    forkable: spec.forkable ?? spec.release === undefined,
    guarantees: spec.guarantees ?? null,
    madeOf: spec.madeOf ?? null,
    waived: spec.check?.waive ?? {},
    readable: Object.fromEntries(
      seats.map((seat) => [seat, (Array.isArray(readable) ? readable : Object(readable)[seat]) ?? []]),
    ),
    hasLegal: spec.legal !== undefined,
    limitsFor: (values) => (typeof limits === 'function' ? limits(values) : limits),
    start: spec.start,
  } satisfies Partial<EnvironmentDefinition>
}

/** Marks the tool that an answer without a call is, with its only argument. */
function withSpeech(environment: string, tools: readonly ToolInfo[], speech: string | undefined): readonly ToolInfo[] {
  if (speech === undefined) return tools
  const { properties, required = [] } = tools.find(({ name }) => name === speech)?.inputSchema ?? {}
  const [field, ...others] = Object.entries(Object(properties) as { readonly [argument: string]: JsonObject })
  if (field?.[1].type !== 'string' || others.length > 0 || ![required].flat().includes(field[0]))
    throw invalid(
      environment,
      `its \`speech\` is ${speech}, and has to be one of its tools whose input is one required text, such as z.object({ text: z.string().max(4_000) })`,
    )
  return tools.map((tool) => (tool.name === speech ? { ...tool, speech: field[0] } : tool))
}

export const makeEvent = <Data extends z.ZodType>(written: WorldEvent<Data>): WorldEvent<Data> => written

function toEventInfo(environment: string, type: string, event: WorldEvent): EventInfo {
  if (!/^[\w.-]{1,128}$/.test(type))
    throw invalid(environment, `its event "${type}" needs a name of letters, digits, "_", "-" and "." (at most 128)`)
  const dataSchema = jsonSchemaOf(event.data, 'input', `the data of ${type}`)
  if (dataSchema.type !== 'object')
    throw invalid(environment, `the data of ${type} must be an object schema, because events carry named values`)
  return { type, description: event.description, dataSchema }
}
