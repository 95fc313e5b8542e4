import { DEFAULT_SEAT, type LimitsRequest } from '@episodic/protocol'
import { findUnknownKeys, formatUnknownKeys } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { invalid } from './definition-schema.ts'
import type { EnvironmentSpec, EventDefinition, Tool, ToolDefinition } from './environment.ts'
import type { GameSpec } from './game.ts'

type Written = { readonly [part: string]: unknown }

/** Returns the names of all parts. The compiler finds one that is missing here, and one that there is not. */
const namesOf =
  <Spec>() =>
  <const Name extends keyof Spec & string>(
    names: readonly Name[] & ([keyof Spec] extends [Name] ? unknown : never),
  ): readonly string[] =>
    names

const COMMON = [
  ...(['name', 'version', 'description', 'params', 'limits', 'history', 'start', 'observe', 'legal'] as const),
  ...(['rewards', 'potential', 'success', 'release', 'forkable', 'guarantees', 'madeOf', 'check', 'secrets'] as const),
  ...(['speech', 'greetings', 'parallelToolCalls', 'readable', 'verdicts', 'offers'] as const),
] as const
const ENVIRONMENT = namesOf<EnvironmentSpec<never, never, never, never>>()([
  ...COMMON,
  ...(['handle', 'state', 'events', 'tools', 'absent'] as const),
])
const GAME = namesOf<GameSpec<never, never, never, never, never, never>>()([
  ...COMMON,
  ...(['seats', 'utility', 'present', 'state', 'turn', 'events', 'tools', 'settle', 'absent'] as const),
])
const TOOL = namesOf<ToolDefinition<never, never, never, never> & Pick<Tool, 'seats'>>()([
  ...(['description', 'input', 'output', 'annotations', 'prepared', 'prepare', 'prepareSeconds'] as const),
  ...(['effect', 'repeatable', 'dataFollows', 'play', 'seats'] as const),
])
const LIMITS = namesOf<LimitsRequest>()(['steps', 'seconds', 'turnSeconds', 'bytes'])
const EVENT = namesOf<EventDefinition<never, never, never>>()(['description', 'data', 'apply'])

const KINDS = {
  environment: { known: ENVIRONMENT, states: ['public', 'private'], functions: [] },
  game: { known: GAME, states: ['public', 'own', 'private'], functions: ['turn'] },
} as const

/** Throws `definition-invalid` for missing, wrong or unknown parts: Node strips types without a check. */
export function assertDefinition(definition: object, kind: keyof typeof KINDS): void {
  const { known, states, functions } = KINDS[kind]
  const { name, description, params, state, rewards, limits, history, check, seats, readable, verdicts, ...parts } =
    definition as Written
  const said = String(name)
  assertKnown(said, known, definition)
  assertKnown(said, states, state, 'state')
  assertKnown(said, LIMITS, limits, 'limits')
  assertKnown(said, ['entries', 'bytes'], history, 'history')
  if (history !== undefined && history !== 'calls' && typeof history !== 'object')
    throw invalid(said, `its \`history\` is ${JSON.stringify(history)}, and has to be 'calls' or { entries, bytes }`)
  assertKnown(said, ['waive'], check, 'check')
  assertKnown(said, Array.isArray(parts.seats) ? parts.seats : [DEFAULT_SEAT], parts.greetings, 'greetings')
  if (typeof description !== 'string') throw invalid(said, 'it has no `description`: say in a sentence what is played')
  const given = OPTIONAL_FUNCTIONS.filter((part) => parts[part] !== undefined)
  for (const part of ['start', 'observe', 'tools', ...functions, ...given])
    if (typeof parts[part] !== 'function')
      throw invalid(said, `its \`${part}\` is ${kindOf(parts[part])}, and has to be a function`)
  for (const part of states)
    assertSchema(said, `\`state.${part}\``, Object(state)[part], `write ${part}: z.object({}) for an empty one`)
  if (!Array.isArray(readable)) assertKnown(said, (seats ?? [DEFAULT_SEAT]) as string[], readable, 'readable')
  for (const path of Object.values(readable ?? {}).flat()) {
    const place = String(path)
      .split('.')
      .reduceRight((inner, key) => ({ [key]: inner }), {})
    assertKnown(said, (state as { readonly private: z.ZodType }).private, place, 'private')
  }
  if (params !== undefined) assertSchema(said, '`params`', params, 'leave it out for no parameters')
  if (typeof rewards !== 'object' || rewards === null)
    throw invalid(
      said,
      'it has no `rewards`: name at least one term, such as rewards: { done: ({ end }) => (end?.reason === "done" ? 1 : 0) }',
    )
  for (const [what, functions] of Object.entries({ 'reward term': rewards, verdict: verdicts ?? {} }))
    for (const [name, value] of Object.entries(functions))
      if (typeof value !== 'function')
        throw invalid(said, `its ${what} "${name}" is ${kindOf(value)}, and has to be a function`)
  for (const name of Object.keys(verdicts ?? {}))
    if (!/^[\w-]{1,64}$/.test(name) || name === 'success')
      throw invalid(said, `its verdict "${name}" needs another name, of letters, digits, "_" and "-" (at most 64)`)
}

const OPTIONAL_FUNCTIONS = [
  ...['events', 'legal', 'offers', 'potential', 'success', 'secrets', 'release'],
  ...['present', 'settle', 'absent'],
]

function assertKnown(name: string, known: Parameters<typeof findUnknownKeys>[0], part: unknown, ...at: string[]) {
  const unknown = findUnknownKeys(known, part, at)
  if (unknown.length > 0)
    throw invalid(name, `it has what no definition has. ${formatUnknownKeys(unknown).replace(/\.$/, '')}`)
}

export function assertEvent(environment: string, type: string, event: object): void {
  assertKnown(environment, EVENT, event, 'events', type)
}

export function assertTool(environment: string, name: string, tool: object): void {
  const { description, input, output, play, preparation: _, sealed: __, ...parts } = tool as Written
  assertKnown(environment, TOOL, parts, 'tools', name)
  if (typeof description !== 'string') throw invalid(environment, `its tool ${name} has no \`description\``)
  assertSchema(environment, `\`input\` of ${name}`, input, 'write input: z.object({}) for no arguments')
  if (output !== null && output !== undefined)
    assertSchema(environment, `\`output\` of ${name}`, output, 'leave it out for the state')
  if (typeof play !== 'function')
    throw invalid(environment, `the \`play\` of its tool ${name} is ${kindOf(play)}, and has to be a function`)
}

function assertSchema(environment: string, what: string, value: unknown, orElse: string): void {
  if (typeof value === 'object' && value !== null) {
    if ('_zod' in value) return
    if ('_def' in value)
      throw invalid(
        environment,
        `its ${what} is a schema of zod 3; install zod 4 (npm install zod@4) and import { z } from 'zod'`,
      )
  }
  throw invalid(environment, `its ${what} is ${kindOf(value)}, and has to be a schema of zod; ${orElse}`)
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`
}
