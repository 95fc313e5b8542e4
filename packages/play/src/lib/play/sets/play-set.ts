import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import type { Summary } from '@episodic/report/fold/summary'
import { cleanText, formatPercent } from '@episodic/report/text/format'
import { type Console, say } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { holdsRun } from '@episodic/run/folder/record/run-folder'
import { completeRun } from '../complete-run.ts'
import { Spending } from '../episodes/spending.ts'
import type { PlanRunOptions } from '../plan-run.ts'
import type { PlayRunOptions } from '../play-run.ts'
import { showProgress } from '../record/progress.ts'
import type { SetMember, SetWorld } from './set-plan.ts'
import { SharedOrder } from './shared-order.ts'

export interface PlayedMember {
  readonly world: string
  readonly player: string
  /** The folder of its run, relative to that of the set. */
  readonly run: string
  readonly scheduled: number
  /** `null` if it was not played at all. */
  readonly summary: Summary | null
  /** Why it stopped before its end; `null` if it did not, or was interrupted. */
  readonly stopped: HarnessError | null
}

/**
 * Plays the missing episodes of a set: one world after another, with all players together, task by task. A player whose
 * model refuses its requests or does not answer stops alone, also in the worlds that follow.
 *
 * Rejects with what else stops a run, after all members have sealed what they played.
 */
export async function playSet(
  folder: string,
  worlds: readonly SetWorld[],
  { signal, openRunner }: Pick<PlanRunOptions, 'signal'> & Pick<PlayRunOptions, 'openRunner'>,
  { err }: Pick<Console, 'err'>,
): Promise<PlayedMember[]> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  // Players cannot have limits of their own.
  using spending = new Spending(worlds[0]?.members[0]?.run.settings ?? {})
  const out = new Map<string, HarnessError>()
  const played: PlayedMember[] = []
  for (const world of worlds) {
    const { environment, episodes, members } = world
    const order = new SharedOrder()
    const places = members.map(() => order.join())
    say(err, `${environment.name}: ${members.map(({ player }) => player.name).join(', ')}`)
    const tallies = members.map(({ player }) => createTally(player.name))
    const progress = showProgress(err, episodes * members.length, 0, {
      showReturn: false,
      players: () => formatTallies(tallies),
    })

    const play = async (
      member: SetMember,
      order: (typeof places)[number],
      tally: ReturnType<typeof createTally>,
    ): Promise<PlayedMember> => {
      using _ = order
      const { player, run } = member
      const result = { world: environment.name, player: player.name, run: member.folder, scheduled: episodes }
      const earlier = spending.signal.aborted ? (spending.signal.reason as HarnessError) : out.get(player.name)
      if (earlier || either.aborted) return { ...result, summary: null, stopped: earlier ?? null }
      const place = join(folder, member.folder)
      const resume = holdsRun(place)
      // Of a run that has not begun, nothing failed.
      const settings = resume ? run.settings : { ...run.settings, retryFailed: undefined }
      try {
        const { summary, stopped } = await completeRun(
          { ...run, settings },
          {
            folder: place,
            resume,
            signal: either,
            warn: (notice) => say(err, `${player.name}: ${notice}`),
            showProgress: (_, done) => {
              progress.skip(done)
              tally.skip(done)
              const add = (record: EpisodeRecord) => {
                tally.add(record)
                progress.add(record)
              }
              return { skip: progress.skip, add, stop: () => {} }
            },
            order,
            openRunner,
            spending,
          },
        )
        if (stopped) {
          if (isOfModel(stopped)) out.set(player.name, stopped)
          say(err, `${player.name} stopped: ${stopped.message}`)
        }
        return { ...result, summary, stopped }
      } catch (error) {
        if (either.aborted && error === either.reason) return { ...result, summary: null, stopped: null }
        failed.abort(error)
        throw error
      }
    }

    const settled = await Promise.allSettled(
      members.map((member, i) =>
        play(member, places[i] as (typeof places)[number], tallies[i] as ReturnType<typeof createTally>),
      ),
    )
    progress.stop()
    const broken = settled.find((result) => result.status === 'rejected')
    if (broken) throw broken.reason
    played.push(...settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])))
  }
  return played
}

/** More players than fit a line of a log are said by the slowest and the fastest. */
const MOST_DESCRIBED = 6

function formatTallies(tallies: readonly ReturnType<typeof createTally>[]): string[] {
  if (tallies.length <= MOST_DESCRIBED) return tallies.map((tally) => tally.describe())
  const sorted = tallies.toSorted((a, b) => a.sealed - b.sealed)
  return [`slowest: ${sorted[0]?.describe()}`, `fastest: ${sorted.at(-1)?.describe()}`]
}

/** Counts what a player has sealed, for the line of progress: `qwen 12, 75 %, 1 failed`. */
function createTally(name: string) {
  let [earlier, finished, successes, failed] = [0, 0, 0, 0]
  return {
    skip(episodes: number) {
      earlier += episodes
    },
    add(record: EpisodeRecord) {
      if (record.returns) finished += 1
      else failed += 1
      if (isSuccess(record)) successes += 1
    },
    get sealed() {
      return earlier + finished + failed
    },
    describe: () =>
      [
        `${cleanText(name)} ${earlier + finished + failed}`,
        ...(finished > 0 ? [formatPercent(successes / finished)] : []),
        ...(failed > 0 ? [`${failed} failed`] : []),
      ].join(', '),
  }
}

function isOfModel(error: HarnessError): boolean {
  return (['model-refused', 'model-unavailable', 'usage-missing'] as const).some((code) => HarnessError.is(error, code))
}
