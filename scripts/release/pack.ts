/**
 * `pnpm pack:all [folder]`: builds the published packages and packs each as a tarball, to be installed together in a
 * project elsewhere. Default: `tarballs`.
 */
import { resolve } from 'node:path'
import { runCommand } from '../run-command.ts'
import { packCommand } from '../verify/checks.ts'
import { listPublished, pnpm, root } from '../workspace.ts'

const folder = resolve(process.argv[2] ?? 'tarballs')
for (const command of [pnpm('run', 'build'), packCommand(listPublished(), folder)]) {
  const { code, output } = await runCommand(command, { folder: root, signal: new AbortController().signal })
  if (code === 0) continue
  console.error(output)
  process.exit(code ?? 1)
}
console.log(`In a project with "type": "module":\n\n  npm install ${folder}/*.tgz zod`)
