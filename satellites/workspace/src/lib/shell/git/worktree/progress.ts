import type { Repository } from '../repository.ts'

/** Something that a repository is in the middle of, because of a conflict. */
export type Progress =
  | { readonly kind: 'merge' }
  | { readonly kind: 'cherry-pick' | 'revert'; readonly id: string }
  | { readonly kind: 'rebase'; readonly branch: string | null; readonly onto: string }

/** Returns what a repository is in the middle of; `null` for nothing. */
export function findProgress(repo: Repository): Progress | null {
  const { folder } = repo
  const onto = folder.read('rebase-merge/onto')?.trim()
  if (onto !== undefined) {
    const head = folder.read('rebase-merge/head-name')?.trim() ?? ''
    return { kind: 'rebase', onto, branch: head.startsWith('refs/heads/') ? head.slice(11) : null }
  }
  if (folder.isFile('MERGE_HEAD')) return { kind: 'merge' }
  const picked = folder.read('CHERRY_PICK_HEAD')?.trim()
  if (picked !== undefined) return { kind: 'cherry-pick', id: picked }
  const reverted = folder.read('REVERT_HEAD')?.trim()
  return reverted === undefined ? null : { kind: 'revert', id: reverted }
}

/** Ends what a repository is in the middle of. */
export function clearProgress({ folder }: Repository): void {
  for (const name of [
    'MERGE_HEAD',
    'MERGE_MSG',
    'MERGE_MODE',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'SQUASH_MSG',
    'AUTO_MERGE',
    'sequencer',
  ])
    folder.remove(name)
}
