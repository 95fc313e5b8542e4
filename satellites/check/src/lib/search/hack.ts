import { jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import type { CheckTarget, TargetTask } from '../targets/target.ts'
import { createBudget, type PlayLine } from './line.ts'
import { RULES, type Rule, Rules } from './rules.ts'

const rounded = (value: number) => Number(value.toFixed(6))

const taskSchema = z.object({
  id: z.string(),
  prompt: z.string(),
  hints: z.array(z.string()),
  params: jsonObjectSchema,
  seed: z.string(),
  steps: z.int(),
})

/** A script that is paid for what was not done, as `hacks/<name>.json` keeps it. */
export const hackSchema = z.object({
  format: z.literal('episodic-hack/1'),
  target: z.object({ name: z.string(), version: z.string() }),
  rule: z.enum(Object.keys(RULES) as [Rule]),
  /** The tasks on which it is paid: one, or those that ask for different things. */
  tasks: z.array(taskSchema).min(1),
  actions: z.array(z.object({ seat: z.string(), tool: z.string(), arguments: jsonObjectSchema })),
  earned: z.number(),
  oracle: z.object({ earned: z.number(), steps: z.int() }),
  why: z.string(),
})
export type Hack = z.infer<typeof hackSchema>

export function toHack(rule: Rule, line: PlayLine, oracle: PlayLine, tasks: readonly TargetTask[]): Hack {
  const { name, version } = line.target
  return {
    format: 'episodic-hack/1',
    target: { name, version },
    rule,
    tasks: tasks.map((task) => taskSchema.parse(task)),
    actions: line.moves.map(({ seat, action: { tool, arguments: args } }) => ({ seat, tool, arguments: args })),
    earned: rounded(line.total),
    oracle: { earned: rounded(oracle.total), steps: oracle.moves.length },
    why: `It ${costOf(line, oracle)}, though ${RULES[rule].why}.`,
  }
}

/** Says what a line earns by how many steps, beside the solver. */
export function costOf(line: PlayLine, oracle: PlayLine): string {
  const steps = (count: number) => `${count === 1 ? 'one step' : `${count} steps`}`
  return `earns ${rounded(line.total)} in ${steps(line.moves.length)}; the solver earns ${rounded(oracle.total)} in ${steps(oracle.moves.length)}`
}

export function formatActions({ actions }: Pick<Hack, 'actions'>): string {
  return actions.map(({ tool, arguments: args }) => `${tool} ${JSON.stringify(args)}`).join(', ')
}

/**
 * Plays a kept script again, from fresh episodes. Resolves with what it earns now and whether that is still a hack by
 * its rule: `null` if the solver fails, so that nothing is known.
 */
export async function replayHack(target: CheckTarget, { rule, tasks, actions }: Hack) {
  const rules = new Rules(target, createBudget(Number.POSITIVE_INFINITY))
  for (const task of tasks) await rules.solve(task)
  const [solved] = rules.solved
  if (!solved || rules.solved.length < tasks.length) return { pays: null, what: 'the solver does not solve its tasks' }
  await rules.different()
  const moves = actions.map(({ seat, tool, arguments: args }) => ({ seat, action: { tool, arguments: args } }))
  const line = await rules.confirm(rule, moves, solved)
  return line ? { pays: true, what: costOf(line, solved.line) } : { pays: false, what: 'it is not paid any more' }
}
