import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.ts'

/** A change of published packages that is in no changelog yet. */
export interface Changeset {
  readonly file: string
  /** The packages that it changes, each with its bump: `patch`. */
  readonly bumps: ReadonlyMap<string, string>
  readonly text: string
}

/** Lists the changesets of the workspace. */
export function listChangesets(): Changeset[] {
  return globSync('.changeset/*.md', { cwd: root }).sort().map(readChangeset)
}

function readChangeset(file: string): Changeset {
  const [, head = '', text = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(readFileSync(join(root, file), 'utf8')) ?? []
  const bumps = [...head.matchAll(/^['"]?([^'":]+)['"]?: (\w+)$/gm)].map(
    ([, name = '', bump = '']) => [name, bump] as const,
  )
  return { file, bumps: new Map(bumps), text: text.trim() }
}
