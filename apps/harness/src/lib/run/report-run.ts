import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord, JsonObject } from '@episodic/protocol'
import { type Console, colorsOf, shownPath, usesColor } from '../console.ts'
import { createEpisodeSample } from '../report/fold/episode-sample.ts'
import { createFold } from '../report/fold/fold.ts'
import type { Summary } from '../report/fold/summary.ts'
import { formatSummary } from '../report/page/format-summary.ts'
import { renderReport } from '../report/page/render-report.ts'
import { refuseConflicts } from './refuse-conflicts.ts'
import { RUN_FILES, type RunManifest, writeRunFile } from './run-folder.ts'
import { readSealed } from './sealed-file.ts'

/** What a run's sealed episodes come to, so far. */
export interface RunFold {
  /** Takes an episode that was just sealed. */
  add(record: EpisodeRecord): void
  /** Milliseconds that the run has taken, over all of its sittings. */
  readonly elapsed: number
  summarize(): Summary
  render(): string
}

export interface FoldRunOptions {
  /** Hears of each episode that the folder holds already. */
  readonly onSealed?: (record: EpisodeRecord) => void
  /** Hears of a torn last line, which is passed over. */
  readonly onTorn?: (line: number) => void
  readonly signal?: AbortSignal | undefined
}

/** What is said of a torn line: the episode in it is played again when the run is resumed. */
export function tornNotice(line: number): string {
  return `Line ${line} of ${RUN_FILES.episodes} is torn, as by a crash, and is left out.\n`
}

/** Folds what a run's folder holds. The fold can go on with what is sealed after. */
export async function foldRun(folder: string, manifest: RunManifest, options: FoldRunOptions = {}): Promise<RunFold> {
  const fold = createFold({ discount: manifest.configuration.discount })
  const sample = createEpisodeSample()
  const { name, scheduled } = manifest
  let elapsed = 0
  const run: RunFold = {
    add(record) {
      fold.add(record)
      sample.add(record)
      elapsed = Math.max(elapsed, record.time.ended)
    },
    get elapsed() {
      return elapsed
    },
    summarize: () => fold.finish({ name, scheduled }),
    render() {
      const { configuration, versions, played } = manifest
      const shown = { ...configuration, ...played, ...versions } as unknown as JsonObject
      return renderReport(run.summarize(), { name, scheduled, configuration: shown }, sample.finish())
    },
  }
  const file = join(folder, RUN_FILES.episodes)
  if (existsSync(file))
    for await (const record of readSealed(file, options)) {
      run.add(record)
      options.onSealed?.(record)
    }
  return run
}

export interface WriteReportOptions {
  /** Shows the summary as JSON. */
  readonly json?: boolean
  /** Chooses between lines that say different things of one episode, as the fold does. */
  readonly allowConflicts?: boolean
}

/**
 * Writes `summary.json` and `report.html` and shows the summary, as a table or as JSON. Throws `run-invalid`, and writes
 * nothing, where lines say different things of one episode.
 */
export async function writeReport(
  folder: string,
  run: RunFold,
  { json = false, allowConflicts = false }: WriteReportOptions,
  console: Console,
): Promise<Summary> {
  const summary = run.summarize()
  if (summary.counts.conflicts > 0 && !allowConflicts) await refuseConflicts(folder)
  await writeRunFile(folder, RUN_FILES.summary, `${JSON.stringify(summary, null, 2)}\n`)
  const report = await writeRunFile(folder, RUN_FILES.report, run.render())
  if (json) console.out.write(`${JSON.stringify(summary)}\n`)
  else {
    const { bold } = colorsOf(console.out)
    console.out.write(
      `\n${formatSummary(summary, { color: usesColor(console.out) })}\n  report  ${bold(shownPath(report))}\n`,
    )
  }
  return summary
}
