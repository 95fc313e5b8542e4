import { explainLoss, type LostEpisode, whereLost } from '@episodic/continue/lost/where-lost'
import type { ContinueRequest } from '@episodic/continue/run/continue-run'
import { completionsOf } from '@episodic/report/fold/completions'
import { seatRecordsOf } from '@episodic/report/seats/seat-record'
import { CURRENCY, formatCost, NOTHING, plural } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { type Console, colorsOf, say } from '@episodic/run/base/console'

export async function printLosses(
  [parent, request, budget, playing]: Parameters<typeof whereLost>,
  { json, out, err }: Console & { readonly json: boolean },
): Promise<readonly LostEpisode[]> {
  const { length } = request.points
  say(err, `At most ${plural(length * budget, 'continuation')} are played.${costOf(request, budget)}`)
  const found: LostEpisode[] = []
  for await (const lost of whereLost(parent, request, budget, playing)) {
    say(err, rowOf(lost).join('  '))
    found.push(lost)
  }
  const head = ['task', 'attempt', 'step', 'action', 'value before and after the step']
  const [titles = '', ...rows] = alignColumns(head, found.map(rowOf), head.length)
  const table = [colorsOf(out).bold(titles), ...rows].map((row) => row.trimEnd()).join('\n')
  out.write(`${json ? JSON.stringify(found) : table}\n`)
  return found
}

function rowOf(episode: LostEpisode): string[] {
  const { task, attempt, loss, action } = episode
  const said = action ? `${action.tool} ${JSON.stringify(action.arguments)}`.slice(0, 40) : NOTHING
  return [task, String(attempt), loss.kind === 'lost' ? String(loss.step) : NOTHING, said, explainLoss(episode)]
}

/** Says what it costs at most, if a continuation costs no more than its whole episode did. */
function costOf({ points }: ContinueRequest, budget: number): string {
  const answers = points.flatMap(({ record }) => seatRecordsOf(record).flatMap(([, seat]) => completionsOf(seat)))
  if (answers.length === 0) return ''
  const cost = formatCost(budget * answers.reduce((sum, answer) => sum + (answer.cost ?? 0), 0))
  return ` If each costs as much as its whole episode did, that is ${cost}; --cost-limit stops before. ${CURRENCY}`
}
