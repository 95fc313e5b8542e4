import type { EpisodeRecord, SealedRecord } from '@episodic/protocol'
import { type ForkAdvantage, forkAdvantagesOf } from '@episodic/report/group/fork-advantages'
import { formatCount, formatInterval, formatNumber } from '@episodic/report/text/format'
import { countingLines } from '../group/attempts.ts'
import { loadLines, MOST_LINES } from '../group/load-group.ts'
import { formatSigned } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import type { Source } from '../source/source.ts'
import { useLoaded } from '../source/use-source.ts'
import { loadWords } from './load-episode.ts'

const HEAD = ['Steps', 'Advantage', '95 %', 'V̂ after', 'Lines', 'V̂ of siblings', 'Siblings']

/** What the steps of a leaf were worth between its forks, beside its siblings; nothing for other episodes. */
export function ForkAdvantages({ run, record }: { readonly run: string; readonly record: SealedRecord }) {
  const tree = useLoaded((source) => loadTree(source, run, record), [run, record])
  if (tree.error) return <ErrorNote error={tree.error} />
  if (!tree.value) return tree.loading && 'branch' in record && record.branch ? <LoadingNote /> : null
  const { discount, advantages } = tree.value
  return (
    <Section title="Advantages from forks">
      <Card
        title="Steps between two forks"
        caption={`The mean return from the first of these steps, of the lines that go on after them, minus that of the siblings, which went on otherwise from the same state: unshaped${discount === 1 ? '' : `, discounted with γ = ${discount}`}, and with the chance of these steps. An interval needs two lines and two siblings that finished.`}
        empty={
          advantages
            ? 'The episode ended before it could branch.'
            : `The tree has more than ${MOST_LINES} leaves. The run has the values of some states.`
        }
        wide
      >
        {advantages && advantages.length > 0 && (
          <FiguresTable
            head={HEAD}
            rows={advantages.map(({ from, to, advantage, value, baseline, lines, siblings, ...interval }) => [
              to - from > 1 ? `${from + 1} to ${to}` : String(from + 1),
              <b>{formatSigned(advantage)}</b>,
              formatInterval(interval),
              formatNumber(value),
              formatCount(lines),
              formatNumber(baseline),
              formatCount(siblings),
            ])}
          />
        )}
      </Card>
    </Section>
  )
}

interface LoadedTree {
  readonly discount: number
  /** `null` if the tree has more leaves than are read. */
  readonly advantages: readonly ForkAdvantage[] | null
}

/** Loads the tree of an episode, and compares its steps with those of its siblings; `null` for what is no leaf. */
async function loadTree(source: Source, run: string, record: SealedRecord): Promise<LoadedTree | null> {
  const { branch = null } = record as Partial<EpisodeRecord>
  if (!branch) return null
  const { discount: set } = (await source.run(run)).configuration
  const discount = typeof set === 'number' ? set : 1
  if (branch.leaves > MOST_LINES) return { discount, advantages: null }
  const [task] = (await source.tasks(run, record.task.id)).filter(({ task: id }) => id === record.task.id)
  const lines = countingLines(await loadWords(source, run, task?.rows ?? []))
  const own = lines.filter(({ words: { attempt } }) => Math.floor(attempt / branch.leaves) === branch.rollout)
  const leaves = (await loadLines(source, run, own)) as EpisodeRecord[]
  return { discount, advantages: forkAdvantagesOf(record as EpisodeRecord, leaves, discount) }
}
