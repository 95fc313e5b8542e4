import { createRng, hashOfPart, type JsonObject } from '@episodic/protocol'
import { type Domain, ToolError } from './domain.ts'
import type { GoldenAction, RewardPart, Task } from './task-file.ts'

export interface PlayedCall {
  readonly seat: string
  readonly tool: string
  readonly arguments: JsonObject
}

/**
 * Returns for each part of the reward of the original whether it was earned; those of {@link Task.basis} count.
 * Sentences that need a judge (`NL_ASSERTION`) count as earned: they are not judged here.
 *
 * - `state`: of the domain, at the end.
 * - `calls`: of both seats, oldest first.
 */
export function earnedParts<State>(
  domain: Domain<State>,
  task: Task,
  { state, calls }: { readonly state: State; readonly calls: readonly PlayedCall[] },
): Readonly<Record<RewardPart, () => boolean>> {
  return {
    DB: () => databaseHash(domain, state) === goldenDatabaseHash(domain, task),
    ENV_ASSERTION: () => task.assertions.every((one) => domain.holds?.(state, one) === one.expected),
    ACTION: () => task.actions.every((action) => calls.some((call) => isAction(action, call))),
    COMMUNICATE: () => task.facts.every((fact) => calls.some((call) => isSaid(fact, call))),
    NL_ASSERTION: () => true,
  }
}

/** Returns the SHA-256 of the databases of both seats, without what chance decides. */
export function databaseHash<State>({ databases, random = [] }: Domain<State>, state: State): string {
  return hashOfPart(databases(state), { without: random })
}

const goldenHashes = new WeakMap<Task, string>()

/** What golden actions lead to, played one after another without a sync between them, as the original plays them. */
function goldenDatabaseHash<State>(domain: Domain<State>, task: Task): string {
  const known = goldenHashes.get(task)
  if (known !== undefined) return known
  const state = domain.start(task)
  for (const { tool: name, arguments: given } of task.actions) {
    const tool = domain.tools[name]
    const input = tool?.input.safeParse(given)
    try {
      if (input?.success) tool?.play(state, input.data as JsonObject, createRng('golden'))
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
    }
  }
  const found = databaseHash(domain, state)
  goldenHashes.set(task, found)
  return found
}

/**
 * As the original compares: by the arguments that are named, and without names by those that the call has, so that a
 * call without arguments is the action of any arguments. Whose call it is makes no difference.
 */
function isAction({ tool, arguments: wanted, compared }: GoldenAction, call: PlayedCall): boolean {
  const names = compared ?? Object.keys(call.arguments)
  const pick = (given: JsonObject) =>
    hashOfPart(Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name))))
  return call.tool === tool && pick(call.arguments) === pick(wanted)
}

function isSaid(fact: string, { seat, tool, arguments: { text } }: PlayedCall): boolean {
  if (seat !== 'agent' || tool !== 'say' || typeof text !== 'string') return false
  return text.toLowerCase().replaceAll(',', '').includes(fact.toLowerCase())
}
