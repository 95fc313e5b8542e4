import { findNonJson, type JsonObject } from '@episodic/protocol'
import type { z } from 'zod'
import type { Context, ContextDefinition, Edge, Schemas, SharedSchemas } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { ConversationRecord } from '../model/conversation-record.ts'
import type { Machine, MachineHandler, MachineState } from '../model/machine.ts'
import { assertKnown } from './assert-known.ts'

/**
 * Defines a context: its data, its states, and what it accepts in each.
 *
 * Types are inferred from the schemas and from the keys of `states`, so an author annotates nothing. Pure: nothing runs
 * until a conversation is started. Throws `definition-invalid` for a definition that cannot be played, and names the
 * part.
 */
export function defineContext<
  const Name extends string,
  Data extends z.ZodType,
  Intents extends Schemas,
  State extends string,
  Result extends JsonObject | undefined = undefined,
  Events extends Schemas = Record<never, never>,
  Shared extends SharedSchemas | undefined = undefined,
  Hidden extends z.ZodType | undefined = undefined,
>(
  definition: ContextDefinition<Name, Data, Hidden, Shared, Intents, Events, State, Result>,
): Context<Name, z.output<Data>, Intents, Events, State, Result> {
  // Types are erased here once: they have checked the author's definition by now.
  const erased = definition as unknown as ErasedDefinition
  const { name, description, data, hidden = null, shared = null, intents, events = {}, initial } = erased
  const invalid = (why: string): ContextError =>
    new ContextError('definition-invalid', `The context ${name} cannot be played: ${why}.`)
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw invalid(`its name is "${name}", and a name is lower-case words joined by hyphens, such as flight-booking`)
  assertKnown(PARTS, definition, invalid)
  for (const word of [...Object.keys(erased.states), ...Object.keys(intents), ...Object.keys(events)])
    if (!/^[A-Za-z][\w.-]{0,63}$/.test(word))
      throw invalid(`"${word}" is no name of a state, intent or event: letters, digits, "_", "-" and "." (at most 64)`)
  for (const word of Object.keys(events))
    if (Object.hasOwn(intents, word)) throw invalid(`${word} is both an intent and an event`)
  for (const [what, schema] of Object.entries({ data, hidden })) if (schema) assertStart(what, schema)
  if (!Object.hasOwn(erased.states, initial)) throw invalid(`its first state "${initial}" is none of its states`)

  const known = (input: string): boolean => Object.hasOwn(intents, input) || Object.hasOwn(events, input)
  const states: Record<string, MachineState> = Object.create(null)
  for (const [state, described] of Object.entries(erased.states)) {
    assertKnown(STATE, described, invalid)
    const on = handlersOf(described.on, state, known)
    const { final = false, always = [], entry, exit, prompt } = described
    if (final && (Object.keys(on).length > 0 || always.length > 0))
      throw invalid(`its state ${state} is final and accepts something all the same`)
    assertTargets(always, state)
    states[state] = { on, always, final, ...(entry && { entry }), ...(exit && { exit }), ...(prompt && { prompt }) }
  }
  const {
    onTransition,
    unrecognised,
    result,
    topics = () => [],
    resume = ({ say }) => say(`Back to ${description}.`),
  } = erased
  const machine: Machine = {
    initial,
    states,
    opens: handlersOf(erased.opens, 'opens', (input) => Object.hasOwn(intents, input)),
    on: handlersOf(erased.on, 'on', known),
    topics,
    resume,
    ...(onTransition && { onTransition }),
    ...(unrecognised && { unrecognised }),
    ...(result && { result }),
  }
  return Object.freeze({
    name,
    description,
    states: Object.keys(states),
    initial,
    data,
    hidden,
    shared,
    intents,
    events,
    edges: edgesOf(machine, events),
    machine,
    find: (record: ConversationRecord) => record.public.stack.findLast((frame) => frame.context === name) ?? null,
    closed: ({ public: { closed } }: ConversationRecord) => closed.filter((frame) => frame.context === name),
  }) as unknown as Context<Name, z.output<Data>, Intents, Events, State, Result>

  /** The initial data of a context are its schema's output for `{}`. */
  function assertStart(what: string, schema: z.ZodType): void {
    const started = schema.safeParse({})
    const problem = started.success
      ? findNonJson(started.data, what)
      : started.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
    if (problem) throw invalid(`its ${what} schema makes no JSON object of {} (${problem}); give every field a default`)
  }

  function handlersOf(
    given: ErasedAccepts | undefined,
    where: string,
    isKnown: (input: string) => boolean,
  ): Record<string, readonly MachineHandler[]> {
    const all: Record<string, readonly MachineHandler[]> = Object.create(null)
    for (const [input, handlers] of Object.entries(given ?? {})) {
      if (!isKnown(input)) throw invalid(`${where} names "${input}", which is not declared`)
      all[input] = Array.isArray(handlers) ? handlers : [handlers as MachineHandler]
      assertTargets(all[input], `${where}, ${input}`)
    }
    return all
  }

  function assertTargets(handlers: readonly MachineHandler[], where: string): void {
    for (const handler of handlers) assertKnown(HANDLER, handler, invalid)
    for (const { target } of handlers)
      if (target !== undefined && !Object.hasOwn(erased.states, target))
        throw invalid(`${where} goes to "${target}", which is none of its states`)
  }
}

const PARTS: readonly (keyof ErasedDefinition)[] = [
  ...(['name', 'description', 'data', 'hidden', 'shared', 'intents', 'events', 'initial', 'opens', 'on'] as const),
  ...(['states', 'topics', 'onTransition', 'unrecognised', 'resume', 'result'] as const),
]
const STATE: readonly (keyof MachineState)[] = ['on', 'always', 'final', 'entry', 'exit', 'prompt']
const HANDLER: readonly (keyof MachineHandler)[] = ['guard', 'target', 'effect']

type ErasedAccepts = { readonly [input: string]: MachineHandler | readonly MachineHandler[] }

interface ErasedDefinition
  extends Partial<Pick<Machine, 'topics' | 'onTransition' | 'unrecognised' | 'resume' | 'result'>> {
  readonly name: string
  readonly description: string
  readonly data: z.ZodType
  readonly hidden?: z.ZodType
  readonly shared?: SharedSchemas
  readonly intents: Schemas
  readonly events?: Schemas
  readonly initial: string
  readonly opens?: ErasedAccepts
  readonly on?: ErasedAccepts
  readonly states: { readonly [state: string]: Partial<Omit<MachineState, 'on'>> & { readonly on?: ErasedAccepts } }
}

function edgesOf({ initial, states, opens, on }: Machine, events: Schemas): Edge[] {
  const edges: Edge[] = []
  const add = (from: string | null, input: string | null, handlers: readonly MachineHandler[]): void => {
    for (const { target, guard } of handlers)
      edges.push({
        from,
        to: target ?? from ?? initial,
        on: input,
        kind: input === null ? 'always' : Object.hasOwn(events, input) ? 'event' : 'intent',
        guard: guard ? getGuardName(guard) : null,
      })
  }
  for (const [intent, handlers] of Object.entries(opens)) add(null, intent, handlers)
  for (const [name, state] of Object.entries(states)) {
    for (const [input, handlers] of Object.entries(state.on)) add(name, input, handlers)
    if (!state.final) for (const [input, handlers] of Object.entries(on)) add(name, input, handlers)
    add(name, null, state.always)
  }
  return edges
}

function getGuardName({ name }: NonNullable<MachineHandler['guard']>): string {
  return name === '' || name === 'guard' ? 'guarded' : name
}
