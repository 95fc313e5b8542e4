import { createRng, type Rng, seedFor } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { differences } from '@episodic/state/internal'
import type { CheckContext } from './check-context.ts'
import { type CheckOutcome, checkOutcome } from './check-report.ts'
import { hasLargePart } from './deal.ts'
import { type Finding, faultFinding, findTextDifference } from './finding.ts'
import { drawPlayPolicy } from './noisy-policy.ts'
import { type EpisodeSetting, formatStart, type RehearsedEpisode, startEpisode } from './rehearsed-episode.ts'
import { countedIn } from './time-limit.ts'

const EPISODES = 48
const STEPS = 120

/**
 * Plays each episode twice in strict mode. The same parameters, seed and actions have to produce the same bytes, and
 * the rules may neither use ambient randomness, time, network or files nor return or store what no schema declares. The
 * two are played in alternation, interleaved with an episode of another seed, as on a server that hosts many sessions:
 * variables that the rules keep outside the state are shared by all of them.
 */
export async function checkDeterminism(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment } = world
  const findings: Finding[] = []
  let [steps, accepted] = [0, 0]
  const episodes = context.episodes(EPISODES, 4)
  for (const i of countedIn(context, episodes)) {
    const setting = settings[i % settings.length] as CheckContext['settings'][number]
    const own = seedFor(seed, 'determinism', i)
    const rng = createRng(own)
    const policy = drawPlayPolicy(world, rng)
    const options = { environment, setting, policy, seed: own, strict: true, maxSteps: STEPS, time: context.time }
    const again = `${formatStart(options)}, policy ${policy.name}`
    let played: Awaited<ReturnType<typeof playTogether>>
    try {
      played = await playTogether(options, seedFor(seed, 'beside', i), rng)
    } catch (error) {
      if (context.time.hasCut) break
      findings.push(faultFinding(error as Error, again))
      continue
    }
    if (context.time.hasCut) break
    const { episode: first, one, other } = played
    steps += first.steps.length
    accepted += first.steps.filter(({ refused }) => refused === null).length
    if (first.fault) findings.push(faultFinding(first.fault, `${again}, step ${first.steps.length + 1}`))
    for (const [index, line] of one.entries()) {
      const difference = findTextDifference(line, other[index] ?? '')
      if (!difference) continue
      findings.push({
        name: 'replay-differs',
        what: `${index === 0 ? 'The start' : `Step ${index}`} differs when the same episode is replayed.`,
        again: `${again}, played twice at the same time, interleaved with seed ${seedFor(seed, 'beside', i)}`,
        advice:
          'Keep everything in the state: variables of the module and of closures are shared by all episodes. Draw random numbers from rng, and take time from now and elapse(…).',
        difference,
      })
      break
    }
  }
  const unaccepted: Finding = {
    name: 'nothing-accepted',
    what: `None of ${steps} calls was accepted, so that nothing but refusals was checked.`,
    again: `check seed ${seed}`,
    advice: 'Export a solver, whose calls the rules accept, or say in the schemas of the tools what they accept.',
  }
  return checkOutcome(
    'determinism',
    `${episodes} episodes played twice at once, ${steps} steps: ${findings.length === 0 ? '0 bytes differ' : `${findings.length} with a finding`}`,
    {
      findings,
      warnings: accepted > 0 || findings.length > 0 ? [] : [unaccepted],
      figures: { episodes, steps, found: findings.length },
    },
  )
}

async function playTogether(
  options: EpisodeSetting,
  besideSeed: string,
  rng: Rng,
): Promise<{ readonly episode: RehearsedEpisode } & Readonly<Record<'one' | 'other', readonly string[]>>> {
  const one = await startEpisode(options)
  const beside = await startEpisode({ ...options, seed: besideSeed })
  const other = await startEpisode(options)
  const begun = toCompared(one.episode.rehearsal.state, other.episode.rehearsal.state)
  for (let playing = true; playing; ) {
    const first = await one.advance()
    if (rng.chance()) await beside.advance()
    playing = (await other.advance()) || first
  }
  return { episode: one.episode, one: linesOf(one.episode, begun[0]), other: linesOf(other.episode, begun[1]) }
}

function toCompared(one: SessionState, other: SessionState): readonly [unknown, unknown] {
  if (!hasLargePart(one)) return [one, other]
  const [{ path, before, after } = { path: [], before: null, after: null }] = differences(one, other)
  const [first, second] = [before, after].map((part) => [path, part])
  return [first, second]
}

/** What a replay has to reproduce: one line for the start and one for each step. */
function linesOf({ rehearsal, steps }: RehearsedEpisode, begun: unknown): string[] {
  const { start } = rehearsal
  const lines: unknown[] = [
    { observation: start.observation, state: begun, potential: start.potential, seats: start.seats },
    ...steps.map((step) => {
      const { action, observation, terms, potential, refused, end, stateHash, revealed, seats } = step
      return { action, observation, terms, potential, refused, end, stateHash, revealed, seats }
    }),
  ]
  return lines.map((line) => JSON.stringify(line))
}
