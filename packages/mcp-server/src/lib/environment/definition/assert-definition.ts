import { invalid } from './definition-schema.ts'

/** The parts of a definition that an author writes, all unknown: rules without types are checked by nobody before. */
type Written = { readonly [part: string]: unknown }

/**
 * Throws `definition-invalid` for a definition without a needed part, or with one of another kind. The compiler finds
 * these too, but Node strips types without a check.
 *
 * @param states - the parts of the state, such as `public` and `private`.
 * @param functions - the functions that it needs.
 */
export function assertDefinition(definition: object, states: readonly string[], functions: readonly string[]): void {
  const { name, description, params, state, rewards, ...parts } = definition as Written
  const said = String(name)
  if (typeof description !== 'string') throw invalid(said, 'it has no `description`: say in a sentence what is played')
  for (const part of ['start', 'observe', 'tools', ...functions])
    if (typeof parts[part] !== 'function')
      throw invalid(said, `its \`${part}\` is ${kindOf(parts[part])}, and has to be a function`)
  for (const part of OPTIONAL_FUNCTIONS)
    if (parts[part] !== undefined && typeof parts[part] !== 'function')
      throw invalid(said, `its \`${part}\` is ${kindOf(parts[part])}, and has to be a function`)
  for (const part of states)
    assertSchema(
      said,
      `\`state.${part}\``,
      (state as Written | undefined)?.[part],
      `write ${part}: z.object({}) for an empty one`,
    )
  if (params !== undefined) assertSchema(said, '`params`', params, 'leave it out for no parameters')
  if (typeof rewards !== 'object' || rewards === null)
    throw invalid(
      said,
      'it has no `rewards`: name at least one term, such as rewards: { done: ({ end }) => (end?.reason === "done" ? 1 : 0) }',
    )
  for (const [term, value] of Object.entries(rewards))
    if (typeof value !== 'function')
      throw invalid(said, `its reward term "${term}" is ${kindOf(value)}, and has to be a function`)
}

const OPTIONAL_FUNCTIONS = [
  'events',
  'legal',
  'potential',
  'success',
  'secrets',
  'present',
  'settle',
  'absent',
  'release',
]

/** Throws `definition-invalid` for a tool without a needed part. */
export function assertTool(environment: string, name: string, tool: object): void {
  const { description, input, output, play } = tool as Written
  if (typeof description !== 'string') throw invalid(environment, `its tool ${name} has no \`description\``)
  assertSchema(environment, `\`input\` of ${name}`, input, 'write input: z.object({}) for no arguments')
  if (output !== null && output !== undefined)
    assertSchema(environment, `\`output\` of ${name}`, output, 'leave it out for the state')
  if (typeof play !== 'function')
    throw invalid(environment, `the \`play\` of its tool ${name} is ${kindOf(play)}, and has to be a function`)
}

/** Throws `definition-invalid` for what is no schema of zod 4. */
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
