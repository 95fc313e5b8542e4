import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from '../run-command.ts'
import { packCommand } from '../verify/checks.ts'
import { listPublished, pnpm, root, tarballOf } from '../workspace.ts'

// Builds the published packages and packs each as a tarball, to be installed together in a project elsewhere. What has
// not changed since is not built again.
//
//   pnpm pack:all [folder]        packs into a folder, by default `tarballs`
//   npm run pack:into <project>   also installs them, with zod, in a project or a folder that is to become one

const { values, positionals } = parseArgs({
  options: { into: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [given] = positionals
if (values.into && given === undefined) {
  console.error('error: Name the folder in which the packages are to be installed: npm run pack:into <folder>')
  process.exit(2)
}
// Where the command was given: npm runs a script at the root.
const { INIT_CWD: asked = '.' } = process.env
const named = resolve(asked, given ?? 'tarballs')
const folder = values.into ? join(root, 'tarballs') : named
const published = listPublished()

console.log(`Building ${published.length} packages`)
await run(pnpm('run', 'build', '--output-logs=hash-only', '--log-order=stream'))
console.log(`Packing them into ${folder}`)
await run(packCommand(published, folder))
const tarballs = published.map((room) => join(folder, tarballOf(room)))
if (values.into) {
  console.log(`Installing them in ${named}`)
  await mkdir(named, { recursive: true })
  const manifest = join(named, 'package.json')
  if (!existsSync(manifest))
    await writeFile(manifest, `${JSON.stringify({ private: true, type: 'module' }, null, 2)}\n`)
  await run(['npm', 'install', '--no-audit', '--no-fund', ...tarballs, 'zod'], named)
  console.log(`Installed. In ${named}, npx episodic init starts a project.`)
} else console.log(`In a project with "type": "module":\n\n  npm install ${folder}/*.tgz zod`)

/** Runs a command, whose output is shown as it comes. Ends this program if it fails. */
async function run(command: Parameters<typeof runCommand>[0], where = root): Promise<void> {
  const { code } = await runCommand(command, { folder: where, onOutput: (text) => process.stdout.write(text) })
  if (code !== 0) process.exit(code ?? 1)
}
