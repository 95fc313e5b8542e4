import type { UnreadRun } from '@episodic/analysis/compare/compare-with-baseline'
import type { ComparedRun } from '@episodic/analysis/compare/compared-run'
import { comparedOf } from '@episodic/analysis/compare/compared-runs'
import { readOrWhy } from '@episodic/analysis/compare/read-compared-run'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'

export interface ComparedFolders {
  readonly runs: readonly { readonly id: string; readonly folder: string }[]
}

/**
 * Compares runs as the command `compare` does. The prompts and the rows of the tasks are left empty. Of more than two
 * runs, those that cannot be read or compared are left out and named.
 *
 * Rejects with `runs-differ` if no two can be compared.
 */
export async function compareFolders({ runs }: ComparedFolders): Promise<ComparedRuns> {
  const compared: (ComparedRun | UnreadRun)[] = []
  for (const { folder } of runs) compared.push(await readOrWhy(folder))
  return comparedOf(
    runs.map(({ id }) => id),
    compared,
  )
}
