import { createRng, type Rng, seedFor } from '@episodic/protocol'
import { blame } from './blame.ts'
import { type Examined, examined } from './check-report.ts'
import { findDifference } from './difference.ts'
import type { Finding } from './finding.ts'
import { beginEpisode, type EpisodeSetting, type RehearsedEpisode } from './rehearsed-episode.ts'
import type { Subject } from './subject.ts'
import { drawPolicy } from './wayward-policy.ts'

const EPISODES = 48
const STEPS = 120

/**
 * Plays episodes twice, under scrutiny: the same parameters, seed and actions have to give the same bytes, and rules may
 * neither reach for the machine's own chance, time and network nor say or keep what no schema declares. The two are played
 * step by step at the same time, beside an episode of another seed, as a server plays many: what rules keep outside of
 * the state is shared by all of them.
 */
export async function checkDeterminism(subject: Subject): Promise<Examined> {
  const { world, settings, seed } = subject
  const { environment } = world
  const findings: Finding[] = []
  let steps = 0
  for (let i = 0; i < EPISODES; i++) {
    subject.signal?.throwIfAborted()
    const setting = settings[i % settings.length] as Subject['settings'][number]
    const rng = createRng(seedFor(seed, 'determinism', i))
    const policy = drawPolicy(world, rng)
    const options = {
      environment,
      setting,
      policy,
      seed: seedFor(seed, 'determinism', i),
      strict: true,
      maxSteps: STEPS,
    }
    const again = `params ${JSON.stringify(setting.params)}, seed ${options.seed}, policy ${policy.name}`
    let played: readonly [RehearsedEpisode, RehearsedEpisode]
    try {
      played = await playTogether(options, seedFor(seed, 'beside', i), rng)
    } catch (error) {
      findings.push(faultFinding(error as Error, again))
      continue
    }
    const [first] = played
    steps += first.steps.length
    if (first.fault) findings.push(faultFinding(first.fault, `${again}, step ${first.steps.length + 1}`))
    const [one, other] = played.map(linesOf) as [string[], string[]]
    for (const [index, line] of one.entries()) {
      const difference = findDifference(line, other[index] ?? '')
      if (!difference) continue
      findings.push({
        name: 'replay-differs',
        what: `${index === 0 ? 'The start' : `Step ${index}`} differs when the same is played again.`,
        again: `${again}, played twice at the same time and beside seed ${seedFor(seed, 'beside', i)}`,
        advice:
          'Keep nothing between calls but the state: what stands in a variable of the module or in a closure is shared by all episodes. Draw chance from rng, and take time from now and elapse(…).',
        difference,
      })
      break
    }
  }
  return examined(
    'determinism',
    `${EPISODES} episodes played twice at once, ${steps} steps: ${findings.length === 0 ? '0 bytes differ' : `${findings.length} found`}`,
    { findings, figures: { episodes: EPISODES, steps, found: findings.length } },
  )
}

/** Plays the same episode twice, step by step in turn, and every now and then a step of another seed in between. */
async function playTogether(
  options: EpisodeSetting,
  besideSeed: string,
  rng: Rng,
): Promise<readonly [RehearsedEpisode, RehearsedEpisode]> {
  const one = await beginEpisode(options)
  const beside = await beginEpisode({ ...options, seed: besideSeed })
  const other = await beginEpisode(options)
  for (let playing = true; playing; ) {
    const first = await one.advance()
    if (rng.chance()) await beside.advance()
    playing = (await other.advance()) || first
  }
  return [one.episode, other.episode]
}

function faultFinding(error: Error, again: string): Finding {
  const advice =
    'Make the rules answer or refuse every call; what they throw is reported to the player as a server fault.'
  return { ...blame(error, { name: 'rules-failed', what: 'The rules failed', advice }), again }
}

/** What a replay has to reproduce: one line for the start, and one for each step. */
function linesOf({ rehearsal, steps }: RehearsedEpisode): string[] {
  const { observation, state, potential } = rehearsal.start
  const lines: unknown[] = [
    { observation, state, potential },
    ...steps.map(({ action, observation: told, terms, potential: after, refused, end, stateHash, revealed }) => ({
      action,
      observation: told,
      terms,
      potential: after,
      refused,
      end,
      stateHash,
      revealed,
    })),
  ]
  return lines.map((line) => JSON.stringify(line))
}
