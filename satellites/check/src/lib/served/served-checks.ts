import { type Policy, scriptedPolicy } from '@episodic/env'
import { canonicalJson, type Json } from '@episodic/protocol'
import { plural } from '@episodic/report/text/format'
import { type CheckName, type CheckOutcome, checkOutcome, skipped } from '../check-report.ts'
import type { Finding, FindingKind } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { createBudget, PlayLine, playOut } from '../search/line.ts'
import { undeclaredIn } from '../targets/declared-answers.ts'
import type { TargetTask } from '../targets/target.ts'
import { unclearStart, unclearTools } from '../targets/unclear-texts.ts'
import { checkDeterminism, listTasks, type TargetContext } from './determinism.ts'

/** Steps of a search of a server. */
export const SERVED_STEPS = 3_000
export const NO_STATE = 'a served environment shows no hidden state, and is played from outside'
export const NO_ORACLE = 'nobody is known to solve the tasks of the server, to compare with'

const TASKS = 20
const STEPS = 40

/** What is checked of an environment whose state is not seen. */
export const SERVED_CHECKS: Partial<Record<CheckName, (context: TargetContext) => Promise<CheckOutcome>>> = {
  determinism: checkDeterminism,
  hygiene: checkHygiene,
  rewards: checkRewards,
}

/** What to do about each finding. */
const ADVICE = {
  'task-repeated': 'Keep one of them, or let their prompts say what is different.',
  'floor-pays': 'Pay for what a task asks for, and keep tasks whose answer is to do nothing few.',
  'oracle-fails': 'Repair the oracle or the judge: a task that nobody solves may be impossible.',
  'episode-failed': 'Answer or refuse every call. An error takes an episode from its agent.',
  'refusal-paid': 'Pay nothing for a refused call.',
  'reward-missing': 'Give a reward, if only with the last step.',
  'answer-undeclared': 'Declare what is answered, in the schema of the observation or of the tool.',
  'never-ended': 'End an episode when its task is done or lost.',
} as const satisfies Partial<Record<FindingKind, string>>

function finding(name: keyof typeof ADVICE, what: string, again: string): Finding {
  return { name, what, again, advice: ADVICE[name] }
}

async function checkHygiene({ target }: TargetContext): Promise<CheckOutcome> {
  const [task] = target.tasks as [TargetTask]
  await using attempt = await target.open(task)
  const { observation, tools } = attempt.view()
  const again = `${target.name}, task ${task.id}`
  const warnings = [...unclearTools(tools, again), ...unclearStart(observation.text, 'The first observation', again)]
  const figures = { tools: tools.length, warnings: warnings.length }
  return checkOutcome('hygiene', `${plural(tools.length, 'tool')}: descriptions and bounds`, { warnings, figures })
}

const RANDOM = noisyPolicy(null, { random: 1, invalid: 0.1 })

/**
 * Plays each task at random, as the oracle, and as a player that ends it at once, by a tool that needs no arguments.
 * Finds out what steps earn, which tasks the oracle does not solve, which pay for nothing, and which are the same.
 */
async function checkRewards(context: TargetContext): Promise<CheckOutcome> {
  const { target, seed } = context
  const { oracle } = target
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const played: PlayLine[] = []
  const budget = createBudget(Number.POSITIVE_INFINITY)
  const unsolved: string[] = []
  const paid: string[] = []
  const alike = new Map<string, TargetTask[]>()
  let undeclared: string | null = null
  let tasks = 0
  for (const [task] of listTasks(context, Math.min(context.episodes(TASKS, 4), target.tasks.length), 'tasks')) {
    tasks += 1
    const play = async (policy: Policy, most = STEPS * 10) => {
      await using line = await PlayLine.start(target, task, budget)
      const { tools = [] } = line.attempt.view()
      played.push(await playOut(line, policy, most, 'check'))
      for (const [at, { refused, observation }] of line.steps.entries())
        if (!refused) undeclared ??= undeclaredIn(tools, line.moves[at]?.action.tool ?? '', observation)
      return line
    }
    const random = await play(RANDOM, STEPS)
    const best = oracle ? await play(oracle) : random
    const isSolved = best.attempt.succeeds() ?? (best.attempt.end?.kind === 'terminated' && best.total > 0)
    if (oracle && !isSolved) unsolved.push(task.id)
    await using attempt = await target.open(task)
    const free = attempt.view().tools.filter(({ inputSchema }) => [inputSchema.required ?? []].flat().length === 0)
    for (const { name } of free) {
      const { attempt, total } = await play(scriptedPolicy([{ tool: name, arguments: {} }]), 1)
      const isPaid = attempt.end !== null && (attempt.succeeds() ?? total > 0) && total >= best.total
      if (isPaid && !paid.includes(task.id)) paid.push(task.id)
    }
    const key = canonicalJson([task.prompt, attempt.view().observation, random.steps] as unknown as Json)
    alike.set(key, [...(alike.get(key) ?? []), task])
  }
  const again = (ids: readonly string[]) => `tasks ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}`
  // Of tasks that differ in their seed alone, nobody says that they are different.
  const same = [...alike.values()].filter((ones) => new Set(ones.map(({ params }) => JSON.stringify(params))).size > 1)
  for (const ones of same) {
    const what = `${ones.length} tasks say the same, and answer the same actions alike.`
    warnings.push(finding('task-repeated', what, again(ones.map(({ id }) => id))))
  }
  if (paid.length > 0) {
    const what = `Ending the task at once earns ${oracle ? 'what the oracle earns' : 'no less than random play'} on ${paid.length} of ${tasks} tasks.`
    const to = oracle && paid.length * 2 > tasks ? findings : warnings
    to.push(finding('floor-pays', what, again(paid)))
  }
  const all = `${tasks} tasks of check seed ${seed}`
  if (oracle && unsolved.length === tasks) warnings.push(finding('oracle-fails', 'The oracle solves no task.', all))
  const failed = played.filter(({ failure }) => failure)
  const errors = `${failed.length} of ${played.length} episodes failed at a step, and have no return: ${failed[0]?.failure?.error.message}`
  if (failed.length > 0) warnings.push(finding('episode-failed', errors, all))
  if (undeclared) warnings.push(finding('answer-undeclared', undeclared, all))
  const steps = played.flatMap((line) => line.steps)
  const refusal = Math.max(0, ...steps.map(({ refused, reward }) => (refused ? reward : 0)))
  if (refusal > 0) findings.push(finding('refusal-paid', `A refused call earns ${refusal}.`, all))
  const rewards = steps.map(({ reward }) => reward)
  if (rewards.length === 0) return { ...skipped('rewards', 'no step was answered'), findings, warnings }
  if (steps.every(({ terms }) => Object.keys(terms).length === 0))
    warnings.push(finding('reward-missing', 'No step has a reward.', all))
  const ended = played.filter(({ attempt }) => attempt.end?.kind === 'terminated').length
  if (ended === 0) warnings.push(finding('never-ended', `None of ${played.length} episodes ended.`, all))
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)]
  const solved = oracle ? `the oracle solves ${tasks - unsolved.length} of ${tasks} tasks` : `${tasks} tasks, no oracle`
  const summary = `steps earn ${low.toFixed(3)} to ${high.toFixed(3)}, no range is declared; ${ended} of ${played.length} episodes ended; ${solved}, ${paid.length} pay for doing nothing`
  const figures = { tasks, low, high, unsolved, paid, repeated: same.length }
  return checkOutcome('rewards', summary, { findings, warnings, figures })
}
