import type { EventInfo, JsonObject, ToolAnnotations, ToolInfo } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import { ServerError } from '../server-error.ts'
import { EPISODE_OVER, OBSERVATION } from './agent-answer.ts'
import type {
  EnvironmentDefinition,
  EnvironmentSpec,
  EventMaker,
  FinalContext,
  LegalCalls,
  Preparation,
  Tool,
  ToolMaker,
  Transition,
  WorldEvent,
  WorldEvents,
  WorldState,
} from './environment.ts'
import { legalActions } from './legal-actions.ts'

const NO_PARAMS = z.object({})

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
>(definition: EnvironmentSpec<Params, Public, Private, Tools, Events>): EnvironmentDefinition<Tools, Public> {
  // Inside, types are erased once: the definition's own types have done their work on the author's side.
  const erased = definition as unknown as ErasedDefinition
  const { name, version, description, params = NO_PARAMS, state, limits = {}, history = null } = erased
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw invalid(
      name,
      `its name is "${name}", and a name is lower-case words joined by hyphens, such as number-guessing`,
    )
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw invalid(name, `its version is "${version}", and a version is semantic, such as 1.0.0`)
  const tools = definition.tools({
    tool: makeTool as ToolMaker<WorldState<z.output<Public>, z.output<Private>>, z.output<Params>, Events>,
  })
  if (Object.keys(tools).length === 0) throw invalid(name, 'it has no tools, so nothing could be done in it')
  const events: WorldEvents =
    definition.events?.({
      event: makeEvent as EventMaker<WorldState<z.output<Public>, z.output<Private>>, z.output<Params>>,
    }) ?? {}
  const handle = erased.handle === false ? null : (erased.handle ?? name.replaceAll('-', '_'))
  if (handle !== null) assertHandle(name, handle, tools)
  const terms = Object.keys(erased.rewards)
  assertClosed(name, 'public state', state.public)
  for (const [tool, { output }] of Object.entries(tools)) if (output) assertClosed(name, `output of ${tool}`, output)
  const toolInfos = Object.entries(tools).map(([toolName, tool]) => describeTool(name, toolName, tool, state.public))
  return Object.freeze({
    name,
    version,
    description,
    handle,
    params,
    paramsSchema: jsonSchemaOf(params, 'input', `the parameters of ${name}`),
    state: definition.state,
    history,
    tools,
    toolInfos,
    events,
    eventInfos: Object.entries(events).map(([type, event]) => describeEvent(name, type, event)),
    terms,
    hasPotential: erased.potential !== undefined,
    hasSuccess: erased.success !== undefined,
    waived: erased.check?.waive ?? {},
    hasLegal: erased.legal !== undefined,
    limitsFor: (values) => (typeof limits === 'function' ? limits(values) : limits),
    start: (context) => erased.start(context),
    observe: (publicState, values) => erased.observe(publicState, values),
    rewards(transition) {
      const values: Record<string, number> = {}
      for (const term of terms) {
        const value = erased.rewards[term]?.(transition)
        if (!Number.isFinite(value)) throw notFinite(name, `reward term "${term}"`, value)
        // JSON has no -0: in-process players must get the same number as remote ones.
        values[term] = (value as number) + 0
      }
      return values
    },
    potential(current, values) {
      const value = erased.potential ? erased.potential(current, values) : null
      if (value === null) return null
      if (!Number.isFinite(value)) throw notFinite(name, 'potential', value)
      return value + 0
    },
    legal: (current, values) => legalActions(name, toolInfos, erased.legal?.(current, values)),
    success: (final) => (erased.success ? judged(name, erased.success(final)) : undefined),
    secrets: (current, values) => erased.secrets?.(current, values) ?? NONE,
  } satisfies EnvironmentDefinition<Tools, Public>)
}

/**
 * What the compiler takes a state for while it does not know its schema yet, which is when it reads a `start` without
 * parameters. A type with literals in it keeps it from widening `'hall'` to `string`; no state is ever held to it.
 */
type KeepsLiterals = '' | 0 | boolean | null | readonly KeepsLiterals[] | { readonly [key: string]: KeepsLiterals }

/** The definition with its types erased: JSON in, JSON out. */
interface ErasedDefinition
  extends Pick<EnvironmentDefinition, 'name' | 'version' | 'description' | 'state' | 'start' | 'observe'> {
  readonly params?: z.ZodType
  readonly limits?: ReturnType<EnvironmentDefinition['limitsFor']> | EnvironmentDefinition['limitsFor']
  readonly history?: NonNullable<EnvironmentDefinition['history']>
  readonly handle?: string | false
  readonly rewards: { [term: string]: (transition: Transition<WorldState<JsonObject, JsonObject>, unknown>) => number }
  potential?(state: WorldState<JsonObject, JsonObject>, params: unknown): number
  readonly check?: { readonly waive?: EnvironmentDefinition['waived'] }
  success?(final: FinalContext<WorldState<JsonObject, JsonObject>, unknown>): unknown
  legal?(state: JsonObject, params: unknown): { readonly [tool: string]: LegalCalls | undefined }
  secrets?(state: SessionState, params: unknown): readonly string[]
}

const NONE: readonly string[] = []

/** A tool as it was written, its types erased. */
interface WrittenTool extends Omit<Tool, 'output' | 'preparation' | 'annotations'> {
  readonly output?: z.ZodType
  readonly annotations?: ToolAnnotations
  readonly prepared?: z.ZodType
  readonly prepareSeconds?: number
  readonly effect?: 'external'
  prepare?: Preparation['prepare']
}

/** Seconds that a preparation may take by default. */
const PREPARE_SECONDS = 30

/** A day. A timer of more than 24 days fires at once, and the session's other calls wait for a preparation. */
const MOST_PREPARE_SECONDS = 86_400

const makeTool = (written: WrittenTool): Tool => {
  const { output = null, prepared, prepare, prepareSeconds: seconds = PREPARE_SECONDS, effect, ...tool } = written
  const half = prepared ? 'prepared' : prepare ? 'prepare' : effect && 'effect'
  if (half && !(prepared && prepare))
    throw new ServerError(
      'definition-invalid',
      `A tool has ${half} alone. \`prepare\` does the preparing, and \`prepared\` is the schema of its result: write both, or neither.`,
    )
  if (!(seconds > 0 && seconds <= MOST_PREPARE_SECONDS))
    throw new ServerError(
      'definition-invalid',
      `prepareSeconds is ${seconds}, and has to be above 0, and at most ${MOST_PREPARE_SECONDS}.`,
    )
  const preparation =
    prepared && prepare ? { schema: prepared, seconds, external: effect === 'external', prepare } : null
  const annotations: ToolAnnotations = {
    readOnlyHint: false,
    destructiveHint: effect === 'external',
    idempotentHint: false,
    openWorldHint: preparation !== null,
    ...tool.annotations,
  }
  return { ...tool, output, preparation, annotations }
}

const makeEvent = <Data extends z.ZodType>(written: WorldEvent<Data>): WorldEvent<Data> => written

function describeEvent(environment: string, type: string, event: WorldEvent): EventInfo {
  if (!/^[\w.-]{1,128}$/.test(type))
    throw invalid(environment, `its event "${type}" needs a name of letters, digits, "_", "-" and "." (at most 128)`)
  const dataSchema = jsonSchemaOf(event.data, 'input', `the data of ${type}`)
  if (dataSchema.type !== 'object')
    throw invalid(environment, `the data of ${type} must be an object schema, because events carry named values`)
  return { type, description: event.description, dataSchema }
}

function describeTool(environment: string, name: string, tool: Tool, publicState: z.ZodType): ToolInfo {
  if (!/^[\w.-]{1,128}$/.test(name))
    throw invalid(environment, `its tool "${name}" needs a name of letters, digits, "_", "-" and "." (at most 128)`)
  const inputSchema = jsonSchemaOf(tool.input, 'input', `the input of ${name}`)
  if (inputSchema.type !== 'object')
    throw invalid(environment, `the input of ${name} must be an object schema, because tools take named arguments`)
  const outputSchema = jsonSchemaOf(tool.output ?? publicState, 'output', `the output of ${name}`)
  if (outputSchema.type !== 'object')
    throw invalid(environment, `the output of ${name} must be an object schema, because MCP carries objects`)
  for (const field of [OBSERVATION, EPISODE_OVER])
    if (Object.hasOwn((outputSchema.properties ?? {}) as JsonObject, field))
      throw invalid(
        environment,
        `the output of ${name} declares ${field}, which is a field that the server adds for agents; give yours another name`,
      )
  // What was prepared is recorded, and read by its schema again: a schema that changes values would change them twice.
  if (tool.preparation) jsonSchemaOf(tool.preparation.schema, 'output', `what ${name} prepares`)
  return { name, description: tool.description, inputSchema, outputSchema, annotations: tool.annotations }
}

/**
 * Returns the names that a handle gives to two tools, which create and end a session, and to the argument of all tools.
 */
export function handleNames(noun: string) {
  return { create: `create_${noun}`, destroy: `destroy_${noun}`, argument: `${noun}_id` }
}

/** Throws if the names that come from the handle are invalid or already taken by tools or arguments. */
function assertHandle(environment: string, handle: string, tools: { readonly [name: string]: Tool }): void {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(handle) || handle.length > 64)
    throw invalid(environment, `its handle is "${handle}", and a handle is one lower-case noun, such as game`)
  const { create, destroy, argument } = handleNames(handle)
  for (const name of [create, destroy])
    if (Object.hasOwn(tools, name))
      throw invalid(
        environment,
        `its tool ${name} has the name of a tool that the server adds; rename it, or choose another \`handle\``,
      )
  for (const [name, tool] of Object.entries(tools)) {
    const { properties = {} } = jsonSchemaOf(tool.input, 'input', `the input of ${name}`)
    if (Object.hasOwn(properties as JsonObject, argument))
      throw invalid(
        environment,
        `the argument ${argument} of its tool ${name} has the name of the argument that the server adds; rename it, or choose another \`handle\``,
      )
  }
}

/** Throws for a schema that lets undeclared keys through: players must see only what the author declared. */
function assertClosed(environment: string, what: string, schema: z.ZodType): void {
  const open = findOpenObject(schema)
  if (open !== null)
    throw invalid(
      environment,
      `its ${what} lets through keys that it does not declare${open && ` (${open})`}; use z.object or z.strictObject there`,
    )
}

/**
 * Returns the place in the JSON Schema of the first object that allows any key with any value, as `z.looseObject` does,
 * at any depth. It is empty for the top; `null` if there is no such object.
 */
function findOpenObject(schema: z.ZodType): string | null {
  let found: string | null = null
  z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override({ zodSchema: { _zod }, path }) {
      const { def } = _zod
      const others = def.type === 'object' ? def.catchall : def.type === 'record' ? def.valueType : undefined
      if (others && ANYTHING.has(others._zod.def.type)) found ??= path.join('.')
    },
  })
  return found
}

const ANYTHING: ReadonlySet<string> = new Set(['any', 'unknown'])

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', what: string): JsonObject {
  try {
    return z.toJSONSchema(schema, { io }) as JsonObject
  } catch (cause) {
    throw new ServerError(
      'definition-invalid',
      `JSON Schema cannot say ${what}: ${(cause as Error).message}. Use types that JSON has.`,
      { cause },
    )
  }
}

function notFinite(environment: string, what: string, value: unknown): ServerError {
  return new ServerError('rules-failed', `The ${what} of ${environment} is ${value}, and has to be a finite number.`)
}

function judged(environment: string, success: unknown): boolean {
  if (typeof success === 'boolean') return success
  throw new ServerError(
    'rules-failed',
    `The success of ${environment} is ${success instanceof Promise ? 'a promise' : JSON.stringify(success)}, and has to be true or false.`,
  )
}

function invalid(name: string, why: string): ServerError {
  return new ServerError('definition-invalid', `The environment ${name} cannot be served: ${why}.`)
}
