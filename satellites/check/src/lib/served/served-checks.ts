import { definePolicy, type Policy, scriptedPolicy } from '@episodic/env'
import { type Action, canonicalJson, createRng, type Json, seedFor } from '@episodic/protocol'
import { plural } from '@episodic/report/text/format'
import type { CheckContext } from '../check-context.ts'
import { type CheckName, type CheckOutcome, checkOutcome, skipped } from '../check-report.ts'
import type { Finding, FindingKind } from '../finding.ts'
import { drawPlayPolicy, noisyPolicy } from '../noisy-policy.ts'
import type { Attempt, TargetTask } from '../targets/target.ts'
import { unclearStart, unclearTools } from '../targets/unclear-texts.ts'
import { countedIn } from '../time-limit.ts'
import { type PlayedAttempt, playAttempt, totalOf } from './play-attempt.ts'
import type { ServedTarget } from './served-target.ts'

type Shared = 'seed' | 'signal' | 'time' | 'episodes' | 'searchSteps' | 'onProgress'
export interface ServedContext extends Pick<CheckContext, Shared> {
  readonly target: ServedTarget
}

/** Steps of a search of a server. */
export const SERVED_STEPS = 3_000
export const NO_STATE = 'a served environment shows no hidden state, and is played from outside'
export const NO_ORACLE = 'nobody is known to solve the tasks of the server, to compare with'

const REPLAYED = 12
const TASKS = 20
const STEPS = 40

/** What is checked of an environment whose state is not seen. */
export const SERVED_CHECKS: Partial<Record<CheckName, (context: ServedContext) => Promise<CheckOutcome>>> = {
  determinism: checkDeterminism,
  hygiene: checkHygiene,
  rewards: checkRewards,
}

function* listTasks(context: ServedContext, most: number, repeats: boolean) {
  const { tasks } = context.target
  for (const i of countedIn(context, repeats ? most : Math.min(most, tasks.length), repeats ? 'episodes' : 'tasks'))
    yield [tasks[i % tasks.length] as TargetTask, i] as const
}

/** What to do about each finding. */
const ADVICE = {
  'reward-noisy': 'Draw chance from the seed of the reset, and let a judge of chance judge several times.',
  'replay-differs': 'Draw chance from the seed of the reset, and leave times and random ids out of observations.',
  'session-shared': 'Keep the state of an episode in its own environment, not in variables of a module or in files.',
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

/**
 * Plays the actions of each episode again, alone and beside another session. What differs alone is noise, which warns;
 * what differs only beside another session is shared by both.
 */
async function checkDeterminism(context: ServedContext): Promise<CheckOutcome> {
  const { target } = context
  const findings: Finding[] = []
  const warnings: Finding[] = []
  let hasRoom = true
  const figures = { episodes: 0, steps: 0, noisy: 0, noise: 0, differing: 0, beside: 0 }
  for (const [task, i] of listTasks(context, context.episodes(REPLAYED, 2), true)) {
    const own = seedFor(context.seed, 'determinism', i)
    const policy = drawPlayPolicy({ solver: target.oracle }, createRng(own))
    const first = await playAttempt(await target.open(task), task, policy, { seed: own, most: STEPS })
    const { actions } = first
    figures.episodes += 1
    figures.steps += first.rewards.length
    const again = async (attempt: Attempt, meanwhile?: () => Promise<unknown>) =>
      difference(first, await playAttempt(attempt, task, scriptedPolicy(actions), { most: actions.length, meanwhile }))
    const beside = async () => {
      const attempt = await target.open(task)
      const next = target.tasks[(i + 1) % target.tasks.length] as TargetTask
      await using other = await target.openBeside({ ...next, seed: own })
      const left = [...actions]
      const meanwhile = async () => other?.end === null && other.step(left.pop() as Action).catch(() => {})
      if (other) return await again(attempt, meanwhile)
      await attempt[Symbol.asyncDispose]()
      return null
    }
    const noise = await again(await target.open(task))
    const where = `task ${task.id}, seed ${task.seed}, actions ${JSON.stringify(actions).slice(0, 600)}, step`
    if (noise.kind) {
      figures[noise.kind === 'reward-noisy' ? 'noisy' : 'differing'] += 1
      figures.noise = Math.max(figures.noise, noise.reward)
      const what = `The same actions on the same task and seed ${noise.kind === 'reward-noisy' ? 'earn another reward' : 'are answered otherwise'}.`
      warnings.push(finding(noise.kind, what, `${where} ${noise.step}`))
      continue
    }
    const crossed: ReturnType<typeof difference> | null = hasRoom ? await beside() : null
    hasRoom &&= crossed !== null
    if (!crossed) continue
    figures.beside += 1
    // Twice, because noise may be rare.
    if (crossed.kind && !(await again(await target.open(task))).kind && (await beside())?.kind)
      findings.push(
        finding('session-shared', 'Another session changes what an episode answers.', `${where} ${crossed.step}`),
      )
  }
  if (figures.steps === 0) return skipped('determinism', 'no step was answered')
  const { episodes, steps, noisy, noise, differing, beside } = figures
  const said = [
    `${episodes} episodes played again, ${steps} steps`,
    noisy > 0 ? `rewards differ in ${noisy}, by up to ${noise.toFixed(3)} an episode` : 'rewards do not differ',
    ...(differing > 0 ? [`answers differ in ${differing}`] : []),
    beside > 0 ? `${beside} of them beside another session` : 'none beside another session',
  ]
  return checkOutcome('determinism', said.join('; '), { findings, warnings, figures })
}

function difference(first: PlayedAttempt, other: PlayedAttempt) {
  const reward = Math.abs(totalOf(first) - totalOf(other))
  const paid = first.rewards.findIndex((one, i) => one !== other.rewards[i])
  const answered = first.answers.findIndex((answer, i) => answer !== other.answers[i])
  const kind = paid >= 0 ? 'reward-noisy' : answered >= 0 ? 'replay-differs' : null
  return { kind, step: paid >= 0 ? paid + 1 : answered, reward } as const
}

async function checkHygiene({ target }: ServedContext): Promise<CheckOutcome> {
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
async function checkRewards(context: ServedContext): Promise<CheckOutcome> {
  const { target, seed } = context
  const { oracle } = target
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const played: PlayedAttempt[] = []
  const unsolved: string[] = []
  const paid: string[] = []
  const alike = new Map<string, TargetTask[]>()
  let tasks = 0
  for (const [task] of listTasks(context, context.episodes(TASKS, 4), false)) {
    tasks += 1
    const play = async (policy: Policy, most = STEPS * 10) => {
      const attempt = await playAttempt(await target.open(task), task, policy, { most })
      played.push(attempt)
      return attempt
    }
    const random = await play(RANDOM, STEPS)
    const best = oracle ? await play(oracle) : random
    if (oracle && !(best.success ?? (best.end?.kind === 'terminated' && totalOf(best) > 0))) unsolved.push(task.id)
    await using attempt = await target.open(task)
    const free = attempt.view().tools.filter(({ inputSchema }) => [inputSchema.required ?? []].flat().length === 0)
    for (const { name } of free) {
      const idle = await play(definePolicy({ name, start: () => () => ({ tool: name, arguments: {} }) }), 1)
      const isPaid = idle.end !== null && (idle.success ?? totalOf(idle) > 0) && totalOf(idle) >= totalOf(best)
      if (isPaid && !paid.includes(task.id)) paid.push(task.id)
    }
    const key = canonicalJson([task.prompt, random.answers, random.rewards] as unknown as Json)
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
  const errors = `${failed.length} of ${played.length} episodes failed at a step, and have no return: ${failed[0]?.failure?.message}`
  if (failed.length > 0) warnings.push(finding('episode-failed', errors, all))
  const { undeclared } = played.find((one) => one.undeclared) ?? {}
  if (undeclared) warnings.push(finding('answer-undeclared', undeclared, all))
  const refusal = Math.max(0, ...played.flatMap(({ refused }) => refused))
  if (refusal > 0) findings.push(finding('refusal-paid', `A refused call earns ${refusal}.`, all))
  const rewards = played.flatMap((one) => one.rewards)
  if (rewards.length === 0) return { ...skipped('rewards', 'no step was answered'), findings, warnings }
  if (!played.some(({ isPaid }) => isPaid)) warnings.push(finding('reward-missing', 'No step has a reward.', all))
  const ended = played.filter(({ end }) => end?.kind === 'terminated').length
  if (ended === 0) warnings.push(finding('never-ended', `None of ${played.length} episodes ended.`, all))
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)]
  const solved = oracle ? `the oracle solves ${tasks - unsolved.length} of ${tasks} tasks` : `${tasks} tasks, no oracle`
  const summary = `steps earn ${low.toFixed(3)} to ${high.toFixed(3)}, no range is declared; ${ended} of ${played.length} episodes ended; ${solved}, ${paid.length} pay for doing nothing`
  const figures = { tasks, low, high, unsolved, paid, repeated: same.length }
  return checkOutcome('rewards', summary, { findings, warnings, figures })
}
