import { createGradableLines, type GradeSummary, summarizeGrades } from '@episodic/report'
import { gradesFileOf, readGrades } from '../../run-folder/grades-file.ts'
import { seatOf } from '../../run-folder/seat-of.ts'
import type { SummarizedFolder } from '../threads/jobs.ts'
import { createKeptFolds } from './kept-folds.ts'

/** Computes the figures of the verdicts in folders of runs, as the command `grade` does. */
export function createFolderGrades(): {
  /** Rejects with `run-invalid` for a line that is no sealed episode. */
  summarize(given: SummarizedFolder): Promise<GradeSummary>
} {
  const folds = createKeptFolds(({ configuration }) => createGradableLines(seatOf(configuration, undefined)))
  return {
    async summarize(given) {
      const records = await readGrades(gradesFileOf(given.folder))
      const { fold, manifest } = await folds.read(given)
      return summarizeGrades(manifest.name, records, fold.list())
    },
  }
}
