import { gameTree } from '@episodic/classics/solve'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { createRng, type JsonObject, seedFor } from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import type { Finding } from '../finding.ts'
import { drawPlayPolicy } from '../noisy-policy.ts'
import { formatStart, type PlayedStep, rehearseEpisode } from '../rehearsed-episode.ts'
import { countedIn } from '../time-limit.ts'
import { findOrderMatters } from './arrival-order.ts'
import { findWrongForks } from './forks.ts'
import { findWrongLegal } from './legal-actions.ts'
import { findIdleSeats, findWrongTurns } from './turns.ts'
import { findWrongUtility } from './utility.ts'

/** Episodes of the rules alone, and how many of them are played on a host too. */
const EPISODES = 48
const SERVED = 8
const STEPS = 48
/** Branches of a game that are walked before it is too large to count its information sets. */
const MOST_BRANCHES = 20_000

/**
 * Checks what the seats of an environment may do: `legal` lists what the rules accept and nothing else, and a fork goes
 * on as its session. Of several: somebody who plays is in turn before the end, the order of sealed moves does not
 * matter, and rewards are related as `utility` says. Counts the information sets of a small game.
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
    if (fault)
      findings.push({
        name: 'rules-failed',
        what: `The rules failed: ${fault.message}`,
        again: `${formatStart(episode)}, policy ${policy.name}, step ${steps.length + 1}`,
        advice: 'Make the rules answer or refuse every call, and let a seat that plays be in turn until the end.',
      })
    warnings.push(...findWrongTurns(episode))
    findings.push(...findWrongUtility(episode))
    if (environment.hasLegal) findings.push(...(await findWrongLegal(episode, rng)))
    const order = await findOrderMatters(episode, rng)
    counts.rounds += order.rounds
    findings.push(...order.findings)
    if (i >= SERVED) continue
    const forked = await findWrongForks(episode)
    counts.forks += forked.forks
    findings.push(...forked.findings)
  }
  warnings.push(...findIdleSeats(environment.seats, all, seed))
  const { episodes, steps, rounds, forks } = counts
  const found = findings.length === 0 ? 'nothing found' : `${findings.length} found`
  if (!environment.multiplayer)
    return checkOutcome('seats', `${episodes} episodes of the only seat, ${steps} steps, ${forks} forks: ${found}`, {
      findings,
      warnings,
      figures: { episodes, steps, forks },
    })
  const sets = countInformationSets(environment, (settings[0] as Setting).params)
  const counted = sets.bySeat
    ? `information sets ${Object.entries(sets.bySeat)
        .map(([seat, number]) => `${seat} ${number}`)
        .join(', ')}`
    : `information sets not counted (${sets.why})`
  return checkOutcome(
    'seats',
    `${episodes} episodes, ${steps} steps, ${rounds} rounds in both orders, ${forks} forks: ${found}; ${counted}`,
    { findings, warnings: onceEach(warnings), figures: { ...counts, informationSets: sets.bySeat } },
  )
}

function onceEach(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.toReversed().map((finding) => [finding.name, finding])).values()].toReversed()
}

/**
 * Counts the information sets of a small game: what each seat has been shown and has done when it has to act. A leak of
 * hidden state raises the number, and a forgotten observation lowers it. Of a larger one it returns why not.
 */
function countInformationSets(environment: EnvironmentDefinition, params: JsonObject) {
  try {
    const { decisions } = gameTree(environment, params, { most: MOST_BRANCHES })
    const seats = Map.groupBy(decisions, ({ seat }) => seat)
    return { bySeat: Object.fromEntries([...seats].map(([seat, own]) => [seat, own.length])), why: '' }
  } catch (error) {
    return { bySeat: null, why: (error as Error).message }
  }
}
