import { isBinary, quotedPath } from '../bytes.ts'
import type { FileChange, Side } from '../history/file-changes.ts'
import type { Repository } from '../repository.ts'
import { NO_ID } from '../store/refs.ts'
import { unifiedHunks } from './unified.ts'

export interface PatchOptions {
  /** Unchanged lines around each hunk. */
  readonly around: number
  readonly fullIndex: boolean
  /** What paths of the two sides begin with. */
  readonly prefixes: readonly [string, string]
}

/** Returns the patch of files. */
export function formatPatch(repo: Repository, changes: readonly FileChange[], options: PatchOptions): string {
  return changes.map((change) => patchOf(repo, change, options)).join('')
}

function patchOf(repo: Repository, change: FileChange, options: PatchOptions): string {
  const { kind, before, after } = change
  if (kind === 'U') return `* Unmerged path ${quotedPath(after?.path ?? '')}\n`
  // A file that becomes a link, or the other way round, is removed and made anew.
  if (kind === 'T' && before && after)
    return (
      patchOf(repo, { kind: 'D', before, after: null, similarity: 0 }, options) +
      patchOf(repo, { kind: 'A', before: null, after, similarity: 0 }, options)
    )
  const [a, b] = options.prefixes
  const [oldPath, newPath] = [(before ?? after)?.path ?? '', (after ?? before)?.path ?? '']
  const [from, to] = [quotedPath(a + oldPath), quotedPath(b + newPath)]
  const [old, current] = [before?.read() ?? '', after?.read() ?? '']
  const lines = [`diff --git ${from} ${to}`, ...modeLines(change)]
  if (kind === 'R')
    lines.push(
      `similarity index ${change.similarity}%`,
      `rename from ${quotedPath(oldPath)}`,
      `rename to ${quotedPath(newPath)}`,
    )
  const name = (side: Side | null) => (options.fullIndex ? (side?.id ?? NO_ID) : shortId(repo, side))
  if (before?.id !== after?.id) {
    const mode = before && after && before.mode === after.mode ? ` ${after.mode.toString(8)}` : ''
    lines.push(`index ${name(before)}..${name(after)}${mode}`)
  }
  const head = `${lines.join('\n')}\n`
  if (before && after && before.id === after.id) return head
  const [left, right] = [before ? tabbed(from) : '/dev/null', after ? tabbed(to) : '/dev/null']
  if (isBinary(old) || isBinary(current))
    return `${head}Binary files ${before ? from : '/dev/null'} and ${after ? to : '/dev/null'} differ\n`
  const hunks = unifiedHunks(old, current, options.around)
  return hunks === '' ? head : `${head}--- ${left}\n+++ ${right}\n${hunks}`
}

/** A path with a space is followed by a tab, so that programs find its end. */
function tabbed(path: string): string {
  return path.includes(' ') && !path.startsWith('"') ? `${path}\t` : path
}

function modeLines({ before, after }: FileChange): string[] {
  if (!before) return [`new file mode ${after?.mode.toString(8)}`]
  if (!after) return [`deleted file mode ${before.mode.toString(8)}`]
  if (before.mode === after.mode) return []
  return [`old mode ${before.mode.toString(8)}`, `new mode ${after.mode.toString(8)}`]
}

function shortId(repo: Repository, side: Side | null): string {
  return side ? repo.shorten(side.id) : NO_ID.slice(0, 7)
}
