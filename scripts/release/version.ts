import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'
import { pnpm, readJson, root } from '../workspace.ts'
import { removeUnpublishedLine } from './unpublished.ts'

// `pnpm version:all`: makes the next version and the changelogs out of the changesets, and gives the package in Python
// and the image the version of the others. Pages and new projects say no more that nothing is published.

for (const command of [['changeset', 'version'] as const, pnpm('install', '--lockfile-only')]) {
  const { code, output } = await runCommand(command)
  console.log(output.trim())
  if (code !== 0) process.exit(1)
}
const { version } = readJson('apps/episodic/package.json')
for (const [path, line, next] of [
  ['clients/python/pyproject.toml', /^version = ".*"$/m, `version = "${version}"`],
  [
    'deploy/Dockerfile',
    /^ARG EPISODIC=.*$/m,
    `ARG EPISODIC="episodic@${version} @episodic/trainer-endpoints@${version}"`,
  ],
] as const) {
  const file = join(root, path)
  writeFileSync(file, readFileSync(file, 'utf8').replace(line, next))
}
removeUnpublishedLine()
