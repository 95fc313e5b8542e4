import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.ts'

/**
 * The file whose one line says how the packages are installed while no registry has them. Pages have the same line, and
 * new projects and the program that creates them take it from here.
 */
const FILE = join(root, 'apps/create-episodic/templates/unpublished.md')

/** The line; `null` once the packages are published. */
export function unpublishedLine(): string | null {
  return existsSync(FILE) ? readFileSync(FILE, 'utf8') : null
}

/** Lists the pages that have the line, from the root. */
export function pagesWith(line: string): string[] {
  return globSync('{*.md,docs/**/*.md,apps/*/*.md}', {
    cwd: root,
    exclude: (path) => /node_modules|docs\/api$/.test(path),
  })
    .filter((page) => readFileSync(join(root, page), 'utf8').includes(`\n${line}`))
    .sort()
}

/** Takes the line from all pages, and from new projects. */
export function removeUnpublishedLine(): void {
  const line = unpublishedLine()
  if (line === null) return
  for (const page of pagesWith(line)) {
    const text = readFileSync(join(root, page), 'utf8')
    writeFileSync(join(root, page), text.replace(`\n${line}`, ''))
  }
  rmSync(FILE)
}
