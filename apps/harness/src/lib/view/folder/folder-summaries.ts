import { createRunFold } from '../../run-folder/record/report-run.ts'
import type { SummarizedFolder, SummarizedLines } from '../threads/jobs.ts'
import { createKeptFolds } from './kept-folds.ts'

/** Computes summaries of the sealed lines in folders of runs. */
export function createFolderSummaries(): {
  /** Rejects with `run-invalid` for a line that is no sealed episode. */
  summarize(given: SummarizedFolder): Promise<SummarizedLines>
} {
  const folds = createKeptFolds(createRunFold)
  return {
    async summarize(given) {
      const { fold, covered } = await folds.read(given)
      return { summary: fold.summarize(), covered }
    },
  }
}
