import type { ComparedRuns } from '@episodic/report'
import type { ComparedRun } from '../../compare/compare-runs.ts'
import { comparedOf } from '../../compare/compared-runs.ts'
import { readComparedRun } from '../../compare/read-compared-run.ts'

/** Runs to compare, the baseline first. */
export interface ComparedFolders {
  readonly runs: readonly { readonly id: string; readonly folder: string }[]
}

/**
 * Compares runs as the command `compare` does. The prompts and the rows of the tasks are left empty.
 *
 * Rejects with `runs-differ` if they cannot be compared, and with `run-invalid`.
 */
export async function compareFolders({ runs }: ComparedFolders): Promise<ComparedRuns> {
  const compared: ComparedRun[] = []
  for (const { folder } of runs) compared.push(await readComparedRun(folder))
  return comparedOf(
    runs.map(({ id }) => id),
    compared,
  )
}
