import type { BundleOptions } from '@episodic/pages/server/bundle/shared-run'
import { formatHeldOut, heldOutIn } from '@episodic/report/held-out/held-out'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import { formatBytes, formatCount, plural } from '@episodic/report/text/format'
import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'

export function contentsOf(
  { runs, compared }: EmbeddedRuns,
  { withhold, states }: Pick<BundleOptions, 'withhold' | 'states'>,
  bytes: number,
) {
  const whole = runs.flatMap(({ lines }) => Object.values(lines))
  const grades = runs.flatMap(({ grades }) => grades)
  return {
    runs: runs.length,
    episodes: runs.reduce((sum, { detail }) => sum + detail.rows, 0),
    whole: whole.length,
    transcripts: whole.filter((line) => hasTranscript(JSON.parse(line))).length,
    prompts: !withhold.includes('prompts'),
    params: !withhold.includes('params'),
    seeds: !withhold.includes('seeds'),
    states,
    ...heldOutIn(runs.flatMap(({ detail }) => detail.summary.success.byTag)),
    verdicts: grades.length,
    people: [...new Set(grades.flatMap(({ grader: { who } }) => who ?? []))].sort(),
    comparisons: compared.length,
    bytes,
  }
}

function hasTranscript(line: unknown): boolean {
  const record = sealedShape(line)
  if (!record) return false
  return 'seats' in record
    ? Object.values(record.seats).some(({ transcript }) => transcript !== undefined)
    : record.transcript !== undefined
}

export function formatContents(contents: ReturnType<typeof contentsOf>): string {
  const { runs, episodes, whole, transcripts, prompts, params, seeds, states, verdicts, people, comparisons } = contents
  const rows: readonly (readonly [string, string])[] = [
    ['runs', `${formatCount(runs)}${comparisons > 0 ? `, ${plural(comparisons, 'comparison')}` : ''}`],
    ['episodes', `${formatCount(episodes)}, ${formatCount(whole)} of them step by step`],
    ['transcripts', transcripts === 0 ? 'none' : `what models were sent, in ${plural(transcripts, 'episode')}`],
    ['prompts', prompts ? 'included' : 'withheld'],
    ['params, seeds', paramsAndSeeds(params, seeds)],
    ['states', states === 'all' ? 'included, private ones too' : states === 'public' ? 'public ones' : 'none'],
    [
      'verdicts',
      verdicts === 0
        ? 'none'
        : `${formatCount(verdicts)}${people.length > 0 ? `; names of people: ${people.join(', ')}` : ''}`,
    ],
    ['held out', formatHeldOut(contents)],
    ['size', formatBytes(contents.bytes)],
  ]
  return rows.map(([name, text]) => `  ${name.padEnd(15)}${text}\n`).join('')
}

function paramsAndSeeds(params: boolean, seeds: boolean): string {
  if (!params && !seeds) return 'withheld'
  if (params && seeds) return 'included: with the world, private states can be computed from them'
  return params ? 'params included, seeds withheld' : 'params withheld, seeds included'
}
