import { z } from 'zod'
import { optional, texts } from './fields.ts'

const args = z.record(z.string(), z.json())
const list = z
  .array(z.string())
  .nullish()
  .transform((given) => given ?? [])
const seat = z
  .enum(['assistant', 'user'])
  .transform((requestor): 'agent' | 'user' => (requestor === 'user' ? 'user' : 'agent'))

/** A call of a function of the original, and for an assertion what it is to return. */
const functionCall = z
  .object({ env_type: seat, func_name: z.string(), arguments: args, assert_value: z.boolean().default(true) })
  .transform(({ env_type, func_name, arguments: given, assert_value: expected }) => {
    return { seat: env_type, name: func_name, arguments: given, expected }
  })

const action = z
  .object({
    requestor: seat.default('agent'),
    name: z.string(),
    arguments: args,
    compare_args: z.array(z.string()).nullable().default(null),
  })
  .transform(({ requestor, name, arguments: given, compare_args: compared }) => {
    /** `compared`: the arguments that a call must have to be this action; `null`: all that the call has. */
    return { seat: requestor, tool: name, arguments: given, compared }
  })

const scenario = z.object({
  persona: z.string().nullish(),
  /** In the order in which they are written. */
  instructions: z.object({
    ...texts('domain', 'reason_for_call'),
    ...optional('known_info', 'unknown_info'),
    ...texts('task_instructions'),
  }),
})

const REWARD_PARTS = ['DB', 'ENV_ASSERTION', 'ACTION', 'COMMUNICATE', 'NL_ASSERTION'] as const
export type RewardPart = (typeof REWARD_PARTS)[number]

const task = z
  .object({
    id: z.string(),
    user_scenario: scenario,
    initial_state: z.object({ initialization_actions: z.array(functionCall) }).nullish(),
    evaluation_criteria: z.object({
      actions: z.array(action).default([]),
      env_assertions: z.array(functionCall).default([]),
      communicate_info: list,
      nl_assertions: list,
      reward_basis: z.array(z.enum(REWARD_PARTS)).default(['DB', 'COMMUNICATE']),
    }),
  })
  .transform(({ id, user_scenario, initial_state, evaluation_criteria: criteria }) => ({
    id,
    /** What the user reads of who it is and what it wants, as the original writes it. */
    scenario: scenarioOf(user_scenario),
    user: user_scenario.instructions,
    /** What happens to both worlds before the conversation. */
    initialization: initial_state?.initialization_actions ?? [],
    actions: criteria.actions,
    assertions: criteria.env_assertions,
    /** What the agent has to say to the user. */
    facts: criteria.communicate_info,
    /** Sentences that a judge of the original decides on; they are not judged here. */
    judged: criteria.nl_assertions,
    basis: criteria.reward_basis,
  }))

/** A task of τ², as the original's file says it. */
export type Task = z.output<typeof task>
export type Assertion = z.output<typeof functionCall>
export type GoldenAction = z.output<typeof action>

/** Reads the tasks of a file of the original. Throws a `ZodError` that says which one has a shape that is not known. */
export function readTasks(json: string): Task[] {
  return z.array(task).min(1).parse(JSON.parse(json))
}

function scenarioOf({ persona, instructions: { domain, ...said } }: z.output<typeof scenario>): string {
  const parts = Object.entries(said).flatMap(([name, text]) => {
    const heading = `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
    return text === null ? [] : [`${heading}:\n${indent(text)}`]
  })
  const instructions = indent([`Domain: ${domain}`, ...parts].join('\n'))
  return [...(persona ? ['Persona:', indent(persona)] : []), 'Instructions:', instructions].join('\n')
}

/** As `textwrap.indent` with a tab: lines of white space alone stay. */
function indent(text: string): string {
  return text.replace(/^(?=.*\S)/gm, '\t')
}
