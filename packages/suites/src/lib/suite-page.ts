import { formatCount, plural } from '@episodic/report/text/format'
import type { ResultCell, ResultPage } from '@episodic/report/view/result-page'
import { formatFigureName, formatHere, formatReference, formatVerdict } from './format-figure.ts'
import { listScores, proofTable } from './format-proof.ts'
import type { LineResult, SuiteResult } from './suite-result.ts'

export function suitePage(result: SuiteResult): ResultPage {
  const { suite, counts, seed, episodes, policy, worlds, versions, notReproduced } = result
  const proof = proofTable(result)
  const facts = [
    `seed ${seed}`,
    `${plural(episodes, 'episode')} of each played figure`,
    ...(policy === null ? [] : [`scored: ${policy}`]),
    `Episodic ${versions.episodic}, Node ${versions.node}`,
  ]
  return {
    kind: 'suite',
    title: `${suite.name} ${suite.version}`,
    facts: facts.join(' · '),
    alarms: counts.differ + counts.notChecked > 0 ? [formatProblems(counts)] : [],
    figures: [
      { name: 'References', value: formatCount(counts.references), notes: [`in ${plural(worlds.length, 'world')}`] },
      { name: 'Hold', value: formatCount(counts.hold), notes: ['exact, or inside the 99.9 % interval'] },
      { name: 'Differ', value: formatCount(counts.differ), notes: [] },
      { name: 'Not checked', value: formatCount(counts.notChecked), notes: ['because episodes failed'] },
    ],
    sections: [
      ...(proof.rows.length > 0
        ? [
            {
              title: 'Proof',
              cards: [{ title: 'Without a model', table: { head: proof.head, texts: 2, rows: proof.rows } }],
            },
          ]
        : []),
      {
        title: 'Figures',
        cards: worlds.map(({ environment, lines }) => ({
          title: `${environment.name} ${environment.version}`,
          table: { head: HEAD, texts: 3, rows: lines.map(cellsOf) },
        })),
      },
    ],
    methods: [
      ...listScores(result),
      ...notReproduced.map((what) => `Not reproduced: ${what}`),
      'An exact figure is measured on the rules of its world as they are served. A played figure is the mean unshaped return of independent episodes: it agrees if its 99.9 % confidence interval, widened by the tolerance of the reference, holds the reference. The interval is Wilson’s if every return is 0 or 1, and otherwise Student’s t.',
      'Bars show the interval, with a mark at the reference. A score is on the scale on which random play has 0 and the best play 1. There is no average over worlds, whose scales have nothing in common.',
      `Failed episodes are never a return of zero: a figure with any is not checked. The SHA-256 of this suite is ${suite.sha256}.`,
    ],
  }
}

const HEAD = ['Quantity', 'Source', 'Verdict', 'Here', '99.9 %', 'Interval', 'Reference']

function formatProblems({ differ, notChecked }: SuiteResult['counts']): string {
  return [
    ...(differ > 0 ? [`${plural(differ, 'figure')} ${differ === 1 ? 'differs' : 'differ'} from the reference.`] : []),
    ...(notChecked > 0 ? [`${plural(notChecked, 'figure')} could not be checked.`] : []),
  ].join(' ')
}

const SENSES = { same: 'positive', inside: 'positive', differs: 'negative', 'not-checked': 'doubtful' } as const

function cellsOf(line: LineResult): ResultCell[] {
  const { figure, half } = formatHere(line)
  const reference = formatReference(line)
  const sense = line.kind === 'scored' ? 'neutral' : SENSES[line.verdict]
  return [
    formatFigureName(line),
    reference.source,
    { text: formatVerdict(line), sense },
    figure,
    half,
    line.kind === 'exact' ? '' : barOf(line),
    reference.figure,
  ]
}

/** The interval of a mean about its reference, which is in the middle; that of a score from random to best play. */
function barOf(line: Exclude<LineResult, { kind: 'exact' }>): ResultCell {
  const shown = line.kind === 'scored' ? line.score : line.here
  if (!shown) return ''
  const { mean, low, high } = shown
  const marks = line.kind === 'scored' ? [0, 1] : [line.reference.value]
  const around = line.kind === 'played' ? [2 * line.reference.value - low, 2 * line.reference.value - high] : []
  const values = [...marks, low, high, mean, ...around]
  return { value: mean, low, high, from: Math.min(...values), to: Math.max(...values), marks }
}
