import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'
import { pnpm, readJson, root } from '../workspace.ts'
import { removeUnpublishedLine } from './unpublished.ts'

// `pnpm version:all`: makes the next version and the changelogs out of the changesets, and gives the package in Python
// the version of the others. Pages and new projects say no more that nothing is published.

for (const command of [['changeset', 'version'] as const, pnpm('install', '--lockfile-only')]) {
  const { code, output } = await runCommand(command)
  console.log(output.trim())
  if (code !== 0) process.exit(1)
}
const file = join(root, 'clients/python/pyproject.toml')
const { version } = readJson('apps/episodic/package.json')
writeFileSync(file, readFileSync(file, 'utf8').replace(/^version = ".*"$/m, `version = "${version}"`))
removeUnpublishedLine()
