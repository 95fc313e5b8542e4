import { PlayerStop } from '@episodic/env'
import { ServerError } from '@episodic/mcp-server'
import { HarnessError } from '@episodic/run/base/harness-error'

export interface Difference {
  /** Counts UTF-16 code units from 0. */
  readonly at: number
  readonly first: string
  readonly second: string
}

export const FINDING_KINDS = {
  'world-failed': 'the world threw during setup, so the check could not run',
  'policy-failed': 'a policy of the world threw, or returned something that is not an action',
  'rules-failed': 'the rules threw, or did what strict play forbids',
  'rejection-unhandled': 'a promise was rejected without a handler',
  'answer-differs': 'an answer depends on private state',
  'state-differs': 'the public state depends on private state',
  'view-differs': 'what a seat sees depends on what is hidden from it',
  'legal-differs': 'the legal actions of a seat depend on what is hidden from it',
  'message-differs': 'the messages for a seat depend on what is hidden from it',
  'tools-differ': 'the tools that a player has depend on what is hidden from it',
  'turn-differs': 'the turn of a seat depends on what is hidden from it',
  'end-differs': 'how the episode ends for a seat depends on what is hidden from it',
  'start-reveals': 'the initial public state determines a private value',
  'start-narrows': 'a private value determines part of the initial public state',
  'nothing-varies': 'all seeds have the same private state',
  'pairs-invalid': 'private states cannot be exchanged, so little is compared',
  'time-over': 'the time of a check was over before all of it was played',
  'hacker-failed': 'who proposes scripts of hacks threw, so that fewer were tried',
  'pairs-diverge': 'pairs diverge at their first call, so hardly anything is compared',
  'nothing-accepted': 'no call of a tool was accepted, so nothing was played',
  'secret-sent': 'a private value was sent to an agent',
  'disk-holds': 'a command prints a private value at the start',
  'answer-contradictory': 'the text of an answer says another value than its data',
  'data-unsaid': 'the text of an answer leaves out data that does not follow it',
  'data-repeated': 'the texts of a tool say all of its data, which follows them too',
  'answer-undeclared': 'an answer is not as its server declares it',
  'answer-withheld': 'an answer contains what `secrets` lists, so that a server withholds it',
  'legal-refused': 'a listed action is refused',
  'legal-missing': 'an action is accepted and not listed',
  'order-matters': 'the order of sealed moves changes what follows',
  'utility-wrong': 'the rewards of a step are not related as `utility` says',
  'turn-names-left': '`turn` names a seat that has left',
  'seat-idle': 'a seat is never in turn',
  'fork-differs': 'a fork goes on differently than its session',
  'replay-differs': 'the same actions produce different results when replayed',
  'reward-noisy': 'the same actions earn different rewards when replayed',
  'session-shared': 'a session beside it changes what an episode answers',
  'description-missing': 'the world or a tool has no description',
  'private-value-named': 'a description or schema names a private value',
  'observation-empty': 'the first observation is empty',
  'observation-long': 'the first observation is very long',
  'argument-undescribed': 'an argument has no description',
  'argument-unbounded': 'an argument has no bound',
  'defaults-missing': 'the parameters have no defaults',
  'refusal-paid': 'a refused call earns a reward',
  'truncation-paid': 'an episode that a limit cuts off earns a reward for it',
  'success-unearned': 'an episode without any work counts as success',
  'never-ended': 'the rules end no episode, and the step limit cuts all of them off',
  'reward-missing': 'a server gives no reward for any step',
  'floor-pays': 'a player that ends its task at once, and does nothing, is paid for it',
  'oracle-fails': 'the oracle solves no task',
  'task-repeated': 'tasks say the same, and answer the same actions alike',
  'reward-huge': 'a step earns too much to learn from',
  'solver-no-better': 'the solver earns no more than random play',
  'episode-failed': 'an episode failed',
  'solver-missing': 'the world exports no solver',
  'return-constant': 'every random episode earns the same',
  'exploit-pays': 'an exploit earns more than the solver',
  'exploit-ties': 'an exploit earns as much as the solver',
  'hack-pays': 'a script earns what the solver earns, and does not do what it does',
  'judge-cheated': 'code that does not do the work is paid by its judge',
} as const
export type FindingKind = keyof typeof FINDING_KINDS

/** A place in the author's files. `file` is relative to the working folder, `line` counts from 1. */
export interface RulesPlace {
  readonly file: string
  readonly line: number
}

export interface Finding {
  /** Its kind, followed by a colon and its subject if there can be several. Authors waive it by this name. */
  readonly name: FindingKind | `${FindingKind}:${string}`
  readonly what: string
  readonly again: string
  /** The other places where the same cause was found, as `again` says it. Default: none. */
  readonly also?: readonly string[]
  readonly advice: string
  readonly difference?: Difference
  /** The tool, reward term or function of the definition that it is about. Default: the subject in its name. */
  readonly part?: string
  /** The place of that in the author's files. Default: not known. */
  readonly at?: RulesPlace
}

/** Whether a warning says that so little was compared or played that its environment does not pass. */
export function isIncomplete({ name }: Finding): boolean {
  return name === 'pairs-diverge' || name === 'nothing-accepted' || name === 'time-over'
}

const BY_MESSAGE: readonly string[] = [
  'world-failed',
  'policy-failed',
  'rules-failed',
  'rejection-unhandled',
] satisfies FindingKind[]

export function oneForEachCause(findings: readonly Finding[]): Finding[] {
  const causes = new Map<string, Finding & { readonly also: string[] }>()
  for (const finding of findings) {
    const { name, what, again } = finding
    const cause = BY_MESSAGE.includes(name) ? `${name} ${what}` : name
    const first = causes.get(cause)
    if (first) first.also.push(again)
    else causes.set(cause, { ...finding, also: [...(finding.also ?? [])] })
  }
  return [...causes.values()].map(({ also, ...finding }) => (also.length > 0 ? { ...finding, also } : finding))
}

export interface WaivedFinding extends Finding {
  readonly reason: string
}

const AROUND = 60

export function findTextDifference(first: string, second: string): Difference | null {
  if (first === second) return null
  let at = 0
  while (first[at] === second[at]) at += 1
  return { at, first: around(first, at), second: around(second, at) }
}

function around(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - AROUND), at + AROUND]
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}

export function toErrorFinding(
  error: unknown,
  otherwise: Pick<Finding, 'name' | 'what' | 'advice'>,
): Pick<Finding, 'name' | 'what' | 'advice'> {
  const { message } = error as Error
  if (!HarnessError.is(error, 'policy-failed') && !PlayerStop.is(error))
    return { ...otherwise, what: `${otherwise.what}: ${message}` }
  const advice = 'Make the solver return an action for every observation of every task.'
  return { name: 'policy-failed', what: message, advice }
}

export function faultFinding(error: Error, again: string): Finding {
  // What strict play forbids, and what no environment does, says itself what to do instead.
  const advice = ServerError.is(error)
    ? 'Do what the message says: the rules may use nothing but their arguments, and leave what their schemas declare.'
    : 'Make the rules answer or refuse every call. An error is reported to the agent as a server fault.'
  const name = ServerError.is(error, 'secret-leaked') ? 'answer-withheld' : 'rules-failed'
  return { ...toErrorFinding(error, { name, what: 'The rules failed', advice }), again }
}
