import { canonicalJson, contentId } from '@episodic/protocol'
import type { ReportedRun, Summary } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { formatCount } from '@episodic/report/text/format'
import type { RunDetail, RunStop } from '@episodic/report/view/run-entry'
import { withoutSecrets } from '@episodic/run/folder/find-secrets'
import { secretVariables } from '@episodic/run/folder/record/recording'
import { createPathScrub, type Scrub, scrubbed, textsIn } from '@episodic/run/folder/scrub'
import { loadViewer } from '@episodic/viewer'
import { type EmbeddedContent, embedRun, type SealedLines } from './embed-run.ts'

export interface PageContent {
  /** The sealed lines of the run. Read twice. */
  readonly lines: SealedLines
  /** Most episodes in the page; the summary is of all. Default 100,000, of which a page has 10 MB. */
  readonly mostRows?: number | undefined
  /** Most characters of whole lines in the page; of the other episodes it has the figures. Default 10 MiB. */
  readonly mostCharacters?: number | undefined
  /** The id of the run in addresses. Default: from its name and configuration. */
  readonly id?: string | undefined
  /** ISO 8601; not shown if left out. */
  readonly createdAt?: string | undefined
  /** Commands to copy, by what they do. Default: none. */
  readonly commands?: RunDetail['commands'] | undefined
  /** The seats of the environment, the one in focus first; left out for one seat. */
  readonly seats?: readonly string[] | undefined
  readonly grades?: readonly GradeRecord[] | undefined
  readonly stopped?: RunStop | undefined
  /** Episodes that are there step by step before others. Default: as `sampleRows` orders them. */
  readonly goesFirst?: EmbeddedContent['goesFirst']
}

const MOST_ROWS = 100_000
const MOST_CHARACTERS = 10 * 1_048_576

/**
 * Renders a run as a self-contained HTML page, which makes no requests: its policy forbids them. It has the figures of
 * all episodes, and as many of them step by step as fit.
 *
 * Resolves with the same text for the same summary, run and lines, in any order and with repetitions, on one version of
 * Node. All output of worlds and policies is escaped. Folders of this machine are taken out, and `[key]` stands for
 * texts that look like keys.
 */
export async function renderReport(summary: Summary, run: ReportedRun, content: PageContent): Promise<string> {
  const whole = reportContent(summary, run, content)
  // A page is passed on.
  const withoutPaths = createPathScrub([
    ...textsIn(run.configuration),
    ...summary.policies,
    // Of a run outside of the working folder, they are for the folder above it.
    ...textsIn(whole.detail.commands),
  ])
  const variables = secretVariables()
  const share: Scrub = (json) => withoutSecrets(withoutPaths(json), variables)
  const detail = scrubbed(whole.detail, share)
  const embedded = await embedRun({ ...whole, share, detail, grades: scrubbed(whole.grades, share) })
  const { filePage } = await loadViewer()
  return filePage({
    format: 1,
    title: `${run.name} · Episodic run report`,
    runs: [embedded],
    compared: [],
    withheld: withheldFrom(embedded.detail, Object.keys(embedded.lines).length),
  })
}

export function reportContent(
  summary: Summary,
  { name, scheduled, configuration }: ReportedRun,
  options: PageContent,
): EmbeddedContent {
  const { lines, mostRows = MOST_ROWS, mostCharacters = MOST_CHARACTERS } = options
  const { id = contentId(canonicalJson({ name, configuration })).slice(0, 10), createdAt = '', commands = {} } = options
  const { seats = [], grades = [], stopped, goesFirst } = options
  const { counts, environments, policies, success, returns, tokens, retried } = summary
  const detail: Omit<RunDetail, 'rows' | 'dictionaries'> = {
    entry: {
      id,
      name,
      set: null,
      createdAt,
      state: counts.unresolved > 0 ? 'stopped' : 'finished',
      ...(counts.unresolved > 0 && stopped && { stopped }),
      environments,
      players: policies,
      scheduled: scheduled ?? counts.scheduled,
      finished: counts.finished,
      failed: counts.failed,
      success: success.overall,
      ...(retried && { retried }),
      ...(success.unearned && { unearned: success.unearned }),
      unshaped: returns.unshaped?.mean ?? null,
      tokens: totalTokens(tokens),
      cost: tokens?.cost ?? null,
      ...(tokens?.unpriced && { unpriced: tokens.unpriced }),
      bytes: 0,
    },
    summary,
    complete: true,
    configuration,
    commands,
    inFlight: [],
    seats,
  }
  return { detail, lines, grades, seat: seats[0], mostRows, mostCharacters, goesFirst }
}

/**
 * What a page has not, in sentences.
 *
 * @param whole - episodes that are there with their whole line.
 */
export function withheldFrom(
  { rows, commands, summary }: Pick<RunDetail, 'rows' | 'commands' | 'summary'>,
  whole: number,
): string[] {
  const all = commands.view ? ` All of them: ${commands.view}` : ''
  const counted = summary.counts.finished + summary.counts.failed
  const sampled =
    rows < counted
      ? [
          `The summary is of all ${formatCount(counted)} episodes; lists, filters and plots are of ${formatCount(rows)} of them, drawn at random.${all}`,
        ]
      : []
  if (whole === rows) return sampled
  return [...sampled, `${formatCount(whole)} of ${formatCount(rows)} episodes are here step by step.${all}`]
}
