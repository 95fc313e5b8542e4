import { canonicalJson, createRng, type Json, seedFor } from '@episodic/protocol'
import type { CheckContext } from '../check-context.ts'
import { type CheckOutcome, checkOutcome, skipped } from '../check-report.ts'
import { toText } from '../deal.ts'
import { type Finding, faultFinding, findTextDifference } from '../finding.ts'
import { drawPlayPolicy } from '../noisy-policy.ts'
import { formatPlace, formatStart } from '../rehearsed-episode.ts'
import { createBudget, PlayLine, playOut } from '../search/line.ts'
import type { CheckTarget, TargetTask } from '../targets/target.ts'
import { countedIn } from '../time-limit.ts'

export interface TargetContext
  extends Pick<CheckContext, 'seed' | 'signal' | 'time' | 'episodes' | 'searchSteps' | 'onProgress'> {
  readonly target: CheckTarget
}

/** Its tasks, one after the other; again from the first one if there are fewer. */
export function* listTasks({ target: { tasks }, ...context }: TargetContext, most: number, what = 'episodes') {
  for (const i of countedIn(context, most, what)) yield [tasks[i % tasks.length] as TargetTask, i] as const
}

/** Episodes, and their steps: rules that are played alone cost less than a server. */
export const EPISODES = 48
const OWN = { most: EPISODES, least: 4, steps: 120 }
const SERVED = { most: 12, least: 2, steps: 40 }

const ADVICE = {
  'reward-noisy': 'Draw chance from the seed of the reset, and let a judge of chance judge several times.',
  'replay-differs':
    'Keep everything in the state: variables of the module and of closures are shared by all episodes. Draw random numbers from rng or the seed of the reset, and leave times and random ids out of observations.',
  'session-shared': 'Keep the state of an episode in its own environment, not in variables of a module or in files.',
} as const

/**
 * Plays the actions of each episode again: alone, and beside a session of another seed. The same parameters, seed and
 * actions have to produce the same bytes. What differs only beside another session is shared by both. Of a server, what
 * differs alone is noise, which warns. Own rules are played strictly: they may neither use ambient randomness, time,
 * network or files nor return or store what no schema declares.
 */
export async function checkDeterminism(context: TargetContext): Promise<CheckOutcome> {
  const { target, time } = context
  const [findings, warnings]: [Finding[], Finding[]] = [[], []]
  const figures = { episodes: 0, steps: 0, noisy: 0, noise: 0, differing: 0, beside: 0 }
  const counts = target.isOwn ? OWN : SERVED
  let [accepted, hasRoom] = [0, true]
  for (const [task, i] of listTasks(context, context.episodes(counts.most, counts.least))) {
    const own = seedFor(context.seed, 'determinism', i)
    const policy = drawPlayPolicy({ solver: target.oracle }, createRng(own))
    const start = { setting: task, seed: task.seed }
    const where = `${formatStart(start)}, policy ${policy.name}`
    const budget = createBudget(Number.POSITIVE_INFINITY, (share) => time.isOver(share))
    const replay = async (isBeside: boolean, { tried } = first) => {
      await using line = await PlayLine.start(target, task, budget)
      const next = target.tasks[(i + 1) % target.tasks.length] as TargetTask
      await using beside = isBeside ? await target.openBeside({ ...next, seed: own }) : null
      if (isBeside && !beside) return null
      const left = [...tried]
      return await played(line, async () => {
        for (const move of tried) {
          const other = left.pop()
          if (other && beside?.end === null) await beside.step(other.action).catch(() => {})
          if (!(await line.play(move))) break
        }
      })
    }
    let first: Played
    try {
      await using line = await PlayLine.start(target, task, budget)
      first = await played(line, () => playOut(line, policy, counts.steps, own))
    } catch (error) {
      if (!target.isOwn) throw error
      if (time.hasCut) break
      findings.push(faultFinding(error as Error, where))
      continue
    }
    if (time.hasCut) break
    figures.episodes += 1
    figures.steps += first.moves.length
    accepted += first.steps.filter(({ refused }) => refused === null).length
    if (first.failure && target.isOwn)
      findings.push(faultFinding(first.failure.error, `${where}, step ${first.moves.length + 1}`))
    const again = `${formatPlace({ ...start, steps: first.moves }, first.moves.length)}, played again`
    const alone = await replay(false)
    const noise = alone && difference(first, alone)
    if (time.hasCut) break
    if (noise) {
      const kind = noise.isPaid && !target.isOwn ? 'reward-noisy' : 'replay-differs'
      figures[kind === 'reward-noisy' ? 'noisy' : 'differing'] += 1
      figures.noise = Math.max(figures.noise, noise.reward)
      const what = `${noise.step === 0 ? 'The start' : `Step ${noise.step}`} differs when the same episode is replayed.`
      const { text } = noise
      ;(target.isOwn ? findings : warnings).push({ name: kind, what, again, advice: ADVICE[kind], difference: text })
      continue
    }
    const crossed = hasRoom ? await replay(true) : null
    hasRoom &&= crossed !== null
    if (!crossed || time.hasCut) continue
    figures.beside += 1
    const shared = difference(first, crossed)
    // Twice, because noise may be rare.
    if (!shared || difference(first, (await replay(false)) as Played)) continue
    const name = 'session-shared'
    const what = `Another session changes what an episode answers, from step ${shared.step} on.`
    if (difference(first, (await replay(true)) ?? first) && !time.hasCut)
      findings.push({
        ...{ name, what, again: `${again} beside seed ${own}`, advice: ADVICE[name], difference: shared.text },
      })
  }
  const { episodes, steps, noisy, noise, differing, beside } = figures
  if (steps === 0 && findings.length === 0 && !time.hasCut) return skipped('determinism', 'no step was answered')
  if (accepted === 0 && findings.length === 0 && target.isOwn)
    warnings.push({
      name: 'nothing-accepted',
      what: `None of ${steps} calls was accepted, so that nothing but refusals was checked.`,
      again: `check seed ${context.seed}`,
      advice: 'Export a solver, whose calls the rules accept, or say in the schemas of the tools what they accept.',
    })
  const said = [
    `${episodes} episodes played again, ${steps} steps`,
    noisy > 0 ? `rewards differ in ${noisy}, by up to ${noise.toFixed(3)} an episode` : 'rewards do not differ',
    ...(differing > 0 ? [`answers differ in ${differing}`] : []),
    beside > 0 ? `${beside} of them beside another session` : 'none beside another session',
  ]
  return checkOutcome('determinism', said.join('; '), { findings, warnings, figures })
}

type Played = Awaited<ReturnType<typeof played>>

/** Adds what is read: a text for the start, for each step, and for the failure of the step after the last one. */
async function played(line: PlayLine, play: () => Promise<unknown>) {
  const texts = [toText((line.attempt.start ?? line.attempt.view().observation) as Json)]
  await play()
  const { moves, rewards, failure, total, steps } = line
  const answers = steps.map(({ whole, ...step }) =>
    whole ? JSON.stringify({ ...whole, change: null }) : canonicalJson(step as unknown as Json),
  )
  texts.push(...answers, ...(failure ? ['failed'] : []))
  return { moves, tried: failure ? [...moves, failure.move] : moves, rewards, failure, total, steps, texts }
}

function difference(first: Played, other: Played) {
  const step = first.texts.findIndex((text, i) => text !== other.texts[i])
  const text = findTextDifference(first.texts[step] ?? '', other.texts[step] ?? '')
  const isPaid = first.rewards.some((one, i) => one !== other.rewards[i])
  return text && { step, text, isPaid, reward: Math.abs(first.total - other.total) }
}
