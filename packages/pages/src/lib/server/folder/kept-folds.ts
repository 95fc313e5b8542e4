import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { SealedRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { tailHash } from '@episodic/run/folder/index-lines'
import { lineBlocks } from '@episodic/run/folder/line-blocks'
import { RUN_FILES, type RunManifest, readManifest } from '@episodic/run/folder/record/run-folder'
import { parseLine } from '@episodic/run/folder/record/sealed-file'
import type { SummarizedFolder } from '../threads/jobs.ts'

/** Runs whose folds are kept, so that only the lines that were added are read the next time. */
const MOST_FOLDS = 4

interface LineFold {
  add(record: SealedRecord): unknown
}

interface KeptFold<Fold> {
  readonly fold: Fold
  readonly covered: number
  /** See {@link tailHash}, at `covered`. */
  readonly tail: string
}

export function createKeptFolds<Fold extends LineFold>(
  create: (manifest: RunManifest) => Fold,
): {
  /** Resolves with the fold and the bytes that it covers. Rejects with `run-invalid`. */
  read(
    given: SummarizedFolder,
  ): Promise<{ readonly fold: Fold; readonly manifest: RunManifest; readonly covered: number }>
} {
  const kept = new Map<string, KeptFold<Fold>>()
  return {
    async read({ folder, to }) {
      await using file = await open(join(folder, RUN_FILES.episodes))
      const manifest = await readManifest(folder)
      const earlier = kept.get(folder)
      kept.delete(folder)
      const continues = earlier && earlier.covered <= to && (await tailHash(file, earlier.covered)) === earlier.tail
      const fold = continues ? earlier.fold : create(manifest)
      let covered = continues ? earlier.covered : 0
      for await (const { offset, bytes, lines } of lineBlocks(file, covered, to))
        for (const [start, end] of lines) {
          const read = parseLine(bytes.toString('utf8', start, end))
          if ('why' in read) {
            const place = `${folder}: the line at byte ${offset + start}`
            throw new HarnessError('run-invalid', `${place} is not a sealed episode: ${read.why}`)
          }
          fold.add(read.record)
          covered = offset + end + 1
        }
      kept.set(folder, { fold, covered, tail: await tailHash(file, covered) })
      for (const oldest of [...kept.keys()].slice(0, -MOST_FOLDS)) kept.delete(oldest)
      return { fold, manifest, covered }
    },
  }
}
