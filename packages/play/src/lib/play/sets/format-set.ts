import { noteAnchors } from '@episodic/report/anchors/anchors'
import { notePlannedTasks } from '@episodic/report/notes/few-tasks'
import { shortVoids, VOIDS_LEGEND, voidsOf } from '@episodic/report/notes/void-notes'
import {
  CURRENCY,
  cleanText,
  formatCost,
  formatCount,
  formatKnownCost,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  noteUnpriced,
} from '@episodic/report/text/format'
import { formatTable } from '@episodic/run/base/align-columns'
import type { PlayedMember } from './play-set.ts'
import type { SetWorld } from './set-plan.ts'
import { worstCostOf, worstTotal } from './worst-cost.ts'

/** Formats the results of a set as a table, with a line break at the end. */
export function formatSet(members: readonly PlayedMember[], baseline: string): string {
  const rows = bySuccess(members).map(({ world, player, scheduled, summary, stopped }) => [
    cleanText(world),
    cleanText(player),
    formatPercent(summary?.success.overall.rate ?? null),
    summary ? formatShareInterval(summary.success.overall) : NOTHING,
    formatNumber(summary?.returns.unshaped?.mean.mean ?? null),
    `${formatCount(summary?.counts.finished ?? 0)}/${formatCount(scheduled)}`,
    formatCount(summary?.counts.failed ?? 0),
    formatKnownCost(summary?.tokens ?? null),
    [
      player === baseline ? 'baseline' : [],
      stopped ? `stopped: ${stopped.code}` : [],
      summary ? shortVoids(voidsOf(summary)) : [],
    ]
      .flat()
      .join(', '),
  ])
  const head = ['WORLD', 'PLAYER', 'SUCCESS', '95 %', 'RETURN', 'FINISHED', 'FAILED', 'COST', '']
  const unpriced = members.reduce((sum, { summary }) => sum + (summary?.tokens?.unpriced?.requests ?? 0), 0)
  const worlds = Map.groupBy(members, ({ world }) => world).values()
  const legend = [
    ...worlds.flatMap(([first]) => {
      const anchors = first?.summary?.success.anchors
      return anchors ? [`\n${cleanText(`${first.world}: ${noteAnchors(anchors, '')}`)}`] : []
    }),
    members.some(({ summary }) => summary?.success.bounds) ? `\n${VOIDS_LEGEND}\n` : '',
    members.some(({ summary }) => (summary?.tokens?.cost ?? summary?.tokens?.unpriced ?? null) !== null)
      ? `\n${CURRENCY}\n`
      : '',
    unpriced > 0 ? `\n${noteUnpriced({ unpriced: { requests: unpriced, cost: 0 } })}\n` : '',
  ].join('')
  return `${formatTable([head, ...rows])}\n${legend}`
}

export type ListedSet = ReturnType<typeof listMembers>

/** Lists the members of a set, and what each and all of them can cost at most: `null` where that is not known. */
export function listMembers(worlds: readonly SetWorld[]) {
  const listed = worlds.flatMap(({ environment, tasks, episodes, members }) =>
    members.map((member) => ({
      world: environment.name,
      player: member.player.name,
      run: member.folder,
      tasks,
      episodes,
      ...worstCostOf(member, episodes),
    })),
  )
  const all = worlds.flatMap(({ members }) => members)
  // What so many tasks can show is known before anything is paid.
  const notes = worlds.flatMap(({ environment, tasks, members }) => {
    const note = notePlannedTasks(tasks, members.length)
    return note === null ? [] : [`${environment.name}: ${note}`]
  })
  return { members: listed, worstCost: worstTotal(listed, all), notes }
}

/**
 * Formats what would be played as a table, with a line break at the end.
 *
 * @param folder - that of the set; `null` for a run of its own.
 */
export function formatMembers({ members, worstCost: worst, notes }: ListedSet, folder: string | null): string {
  const rows = members.map(({ world, player, tasks, episodes, worstCost, unknownCost, run }) => [
    cleanText(world),
    cleanText(player),
    formatCount(tasks),
    formatCount(episodes),
    unknownCost === null ? formatCost(worstCost) : `unknown: ${unknownCost}`,
    run,
  ])
  const episodes = members.reduce((sum, member) => sum + member.episodes, 0)
  const total = `${formatCount(episodes)} episodes; worst cost ${worst === null ? 'unknown' : formatCost(worst)}${folder === null ? '' : `; in ${folder}`}${worst ? `\n${CURRENCY}` : ''}`
  return `${formatTable([['WORLD', 'PLAYER', 'TASKS', 'EPISODES', 'WORST COST', 'RUN'], ...rows])}\n\n${total}\n${notes.map((note) => `${note}\n`).join('')}`
}

/** World by world, the player that succeeds most first. */
function bySuccess(members: readonly PlayedMember[]): PlayedMember[] {
  const rate = ({ summary }: PlayedMember) => summary?.success.overall.rate ?? -1
  return [...Map.groupBy(members, ({ world }) => world).values()].flatMap((own) =>
    own.toSorted((a, b) => rate(b) - rate(a)),
  )
}
