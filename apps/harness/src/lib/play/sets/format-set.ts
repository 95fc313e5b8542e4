import {
  cleanText,
  formatCost,
  formatCount,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  shortVoids,
  VOIDS_LEGEND,
  voidsOf,
} from '@episodic/report'
import { formatTable } from '../../base/console.ts'
import type { PlayedMember } from './play-set.ts'
import type { SetWorld } from './set-plan.ts'
import { worstCost } from './worst-cost.ts'

/** Formats the results of a set as a table, with a line break at the end. */
export function formatSet(members: readonly PlayedMember[], baseline: string): string {
  const rows = members.map(({ world, player, scheduled, summary, stopped }) => [
    cleanText(world),
    cleanText(player),
    formatPercent(summary?.success.overall.rate ?? null),
    summary ? formatShareInterval(summary.success.overall) : NOTHING,
    formatNumber(summary?.returns.unshaped?.mean.mean ?? null),
    `${formatCount(summary?.counts.finished ?? 0)}/${formatCount(scheduled)}`,
    formatCount(summary?.counts.failed ?? 0),
    formatCost(summary?.tokens?.cost ?? null),
    [
      player === baseline ? 'baseline' : [],
      stopped ? `stopped: ${stopped.code}` : [],
      summary ? shortVoids(voidsOf(summary)) : [],
    ]
      .flat()
      .join(', '),
  ])
  const head = ['WORLD', 'PLAYER', 'SUCCESS', '95 %', 'RETURN', 'FINISHED', 'FAILED', 'COST', '']
  const legend = members.some(({ summary }) => summary?.success.bounds) ? `\n${VOIDS_LEGEND}\n` : ''
  return `${formatTable([head, ...rows])}\n${legend}`
}

/** A member of a set, as `--dry-run` shows it. */
export interface ListedMember {
  readonly world: string
  readonly player: string
  readonly run: string
  readonly tasks: number
  readonly episodes: number
  /** `null` if it is not known. */
  readonly worstCost: number | null
  /** Why it is not known; `null` if it is. */
  readonly unknownCost: string | null
}

/** Lists the members of a set, and what they can cost at most. */
export function listMembers(worlds: readonly SetWorld[]): ListedMember[] {
  return worlds.flatMap(({ environment, tasks, episodes, members }) =>
    members.map((member) => {
      const worst = worstCost(member, episodes)
      const [cost, unknown] = 'amount' in worst ? [worst.amount, null] : [null, worst.unknown]
      const { player, run } = member
      return {
        world: environment.name,
        player: player.name,
        run,
        tasks,
        episodes,
        worstCost: cost,
        unknownCost: unknown,
      }
    }),
  )
}

/**
 * Formats what would be played as a table, with a line break at the end.
 *
 * @param folder - that of the set; `null` for a run of its own.
 */
export function formatMembers(listed: readonly ListedMember[], folder: string | null): string {
  const rows = listed.map(({ world, player, tasks, episodes, worstCost, unknownCost, run }) => [
    cleanText(world),
    cleanText(player),
    formatCount(tasks),
    formatCount(episodes),
    unknownCost === null ? formatCost(worstCost) : `unknown: ${unknownCost}`,
    run,
  ])
  const known = listed.reduce((sum, { worstCost }) => sum + (worstCost ?? 0), 0)
  const episodes = listed.reduce((sum, member) => sum + member.episodes, 0)
  const isKnown = listed.every(({ unknownCost }) => unknownCost === null)
  const total = `${formatCount(episodes)} episodes; worst cost ${isKnown ? formatCost(known) : 'unknown'}${folder === null ? '' : `; in ${folder}`}`
  return `${formatTable([['WORLD', 'PLAYER', 'TASKS', 'EPISODES', 'WORST COST', 'RUN'], ...rows])}\n\n${total}\n`
}
