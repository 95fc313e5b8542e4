import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSealedRecord } from '@episodic/protocol'
import { HarnessError } from '../../harness-error.ts'
import { createRunFold, type LineFold } from '../../run/record/report-run.ts'
import { RUN_FILES, readManifest } from '../../run/record/run-folder.ts'
import { tailHash } from '../rows/index-lines.ts'
import { lineBlocks } from '../rows/line-blocks.ts'
import type { SummarizedFolder, SummarizedLines } from '../threads/jobs.ts'

/** Runs whose folds are kept, so that only the lines that were added are read for the next summary. */
const MOST_FOLDS = 4

interface KeptFold {
  readonly fold: LineFold
  readonly covered: number
  /** See {@link tailHash}, at `covered`. */
  readonly tail: string
}

/** Computes summaries of the sealed lines in folders of runs. */
export function createFolderSummaries(): {
  /** Rejects with `run-invalid` for a line that is no sealed episode. */
  summarize(given: SummarizedFolder): Promise<SummarizedLines>
} {
  const kept = new Map<string, KeptFold>()
  return {
    async summarize({ folder, to }) {
      await using file = await open(join(folder, RUN_FILES.episodes))
      const manifest = await readManifest(folder)
      const earlier = kept.get(folder)
      kept.delete(folder)
      const continues = earlier && earlier.covered <= to && (await tailHash(file, earlier.covered)) === earlier.tail
      const fold = continues ? earlier.fold : createRunFold(manifest)
      let covered = continues ? earlier.covered : 0
      for await (const { offset, bytes, lines } of lineBlocks(file, covered, to))
        for (const [start, end] of lines) {
          fold.add(readLine(bytes.subarray(start, end), folder, offset + start))
          covered = offset + end + 1
        }
      kept.set(folder, { fold, covered, tail: await tailHash(file, covered) })
      for (const oldest of [...kept.keys()].slice(0, -MOST_FOLDS)) kept.delete(oldest)
      return { summary: fold.summarize(), covered }
    },
  }
}

function readLine(line: Buffer, folder: string, offset: number) {
  let why: string
  try {
    const parsed = parseSealedRecord(JSON.parse(line.toString('utf8')))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    why = `${issue?.path.join('.')}: ${issue?.message}`
  } catch (cause) {
    why = (cause as Error).message
  }
  throw new HarnessError('run-invalid', `${folder}: the line at byte ${offset} is not a sealed episode: ${why}`)
}
