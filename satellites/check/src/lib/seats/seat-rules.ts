import { createRng, seedFor } from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { type Finding, faultFinding } from '../finding.ts'
import { drawPlayPolicy } from '../noisy-policy.ts'
import { formatStart, type PlayedStep, rehearseEpisode } from '../rehearsed-episode.ts'
import { countedIn } from '../time-limit.ts'
import { findOrderMatters } from './arrival-order.ts'
import { findWrongForks } from './forks.ts'
import { findWrongLegal } from './legal-actions.ts'
import { findIdleSeats, findWrongTurns } from './turns.ts'
import { findWrongUtility } from './utility.ts'

/** Episodes, and how many of them are forked. */
const EPISODES = 48
const FORKED = 8
const STEPS = 48

/**
 * Checks what the seats of an environment may do: `legal` lists what the rules accept and nothing else, and a fork goes
 * on as its session. Of several: somebody who plays is in turn before the end, the order of sealed moves does not
 * matter, and rewards are related as `utility` says.
 */
export async function checkSeats(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment } = world
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const all: PlayedStep[] = []
  const counts = { episodes: 0, steps: 0, rounds: 0, forks: 0 }
  const planned = context.episodes(EPISODES, 6)
  for (const i of countedIn(context, planned)) {
    const setting = settings[i % settings.length] as Setting
    const own = seedFor(seed, 'seats', i)
    const rng = createRng(own)
    const policy = drawPlayPolicy(world, rng)
    const episode = await rehearseEpisode({
      environment,
      setting,
      seed: own,
      policy,
      maxSteps: STEPS,
      time: context.time,
    })
    if (context.time.hasCut) break
    const { steps, fault } = episode
    counts.episodes += 1
    counts.steps += steps.length
    all.push(...steps)
    const again = `${formatStart(episode)}, policy ${policy.name}, step ${steps.length + 1}`
    if (fault) findings.push(faultFinding(fault, again))
    warnings.push(...findWrongTurns(episode))
    findings.push(...findWrongUtility(episode))
    if (environment.hasLegal) findings.push(...(await findWrongLegal(episode, rng)))
    const order = await findOrderMatters(episode, rng)
    counts.rounds += order.rounds
    findings.push(...order.findings)
    if (i >= FORKED || !environment.forkable) continue
    const forked = await findWrongForks(episode)
    counts.forks += forked.forks
    findings.push(...forked.findings)
  }
  warnings.push(...findIdleSeats(environment.seats, all, seed))
  const { episodes, steps, rounds, forks } = counts
  const found = findings.length === 0 ? 'nothing found' : `${findings.length} found`
  const of = environment.multiplayer ? '' : ' of the only seat'
  const inOrders = environment.multiplayer ? `, ${rounds} rounds in both orders` : ''
  return checkOutcome('seats', `${episodes} episodes${of}, ${steps} steps${inOrders}, ${forks} forks: ${found}`, {
    findings,
    warnings,
    figures: counts,
  })
}
