import type { EpisodeRecord, ToolInfo } from '@episodic/protocol'
import type { GroupCredit } from './credit/answer-credit.ts'
import type { ExportedVerdicts } from './episode/grade-reward.ts'
import type { ExportReward } from './episode/rewards.ts'

export interface ExportSource {
  /** The name of the run, and when it began (ISO 8601); `null` for a file of lines. */
  readonly run: { readonly name: string; readonly createdAt: string } | null
  /** The tools of the environment; `null` if it is not known. */
  readonly tools: readonly ToolInfo[] | null
  /** The version of the weights that are trained with the file, from which staleness is counted. Default: not known. */
  readonly policyVersion?: string | undefined
  /** What graders said of the episodes. Default: nobody said anything. */
  readonly verdicts?: readonly ExportedVerdicts[] | undefined
  /** What the file calls the reward of an episode. */
  readonly reward: ExportReward
  /** What the states that rollouts share say of each answer. Left out if nobody asked. */
  readonly credit?: GroupCredit | undefined
  /** Streams the finished episodes of the selection. May be called again. */
  episodes(): AsyncIterable<EpisodeRecord>
  allEpisodes(): AsyncIterable<EpisodeRecord>
}

export interface ExportFormat {
  readonly description: string
  /** Whether failed episodes are in the file, marked as such and without a score. Default: they are left out. */
  readonly keepsFailed?: true
  readonly hasReward?: true
  readonly hasCredit?: true
  /** What an episode needs to have a line, if that is more than a step. */
  readonly needs?: string
  /** The end of its files' names. Default: `.jsonl`. */
  readonly extension?: string
  /** Whether its pieces are bytes. The readers of such a file recognise it by its extension. */
  readonly isBinary?: true
  /** Yields the pieces of the file, in order. The file is never held in memory as a whole. */
  write(source: ExportSource): AsyncIterable<string | Uint8Array>
}

/**
 * Returns a value as a line of JSON. U+0085, U+2028 and U+2029, which JSON allows in texts, are escaped: readers that
 * split at every line separator of Unicode, such as `splitlines` of Python, would break the line there.
 */
export function jsonLine(value: unknown): string {
  return `${escapeSeparators(JSON.stringify(value))}\n`
}

export function escapeSeparators(json: string): string {
  return json.replace(/[\u0085\u2028\u2029]/g, (at) => `\\u${at.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A format with one line of JSON for each finished episode; none for an episode without a step. */
export function linePerEpisode(
  description: string,
  lineOf: (record: EpisodeRecord, source: ExportSource) => object,
  properties: Pick<ExportFormat, 'hasReward'> = {},
): ExportFormat {
  return {
    description,
    ...properties,
    async *write(source) {
      for await (const record of source.episodes()) if (record.steps.length > 0) yield jsonLine(lineOf(record, source))
    },
  }
}
