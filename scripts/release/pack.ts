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
// A line for each package that is built, or was before.
const onOutput = (text: string): void =>
  void process.stdout.write(text.replace(/^.*(Packages in scope|Remote caching).*\n/gm, ''))
await run(pnpm('run', 'build', '--output-logs=hash-only', '--log-order=stream'), { onOutput })
console.log(`Packing them into ${folder}`)
await run(packCommand(published, folder))
const tarballs = published.map((room) => join(folder, tarballOf(room)))
if (values.into) {
  console.log(`Installing them in ${named}`)
  await mkdir(named, { recursive: true })
  const manifest = join(named, 'package.json')
  if (!existsSync(manifest))
    await writeFile(manifest, `${JSON.stringify({ private: true, type: 'module' }, null, 2)}\n`)
  await run(['npm', 'install', '--no-audit', '--no-fund', ...tarballs, 'zod'], { folder: named, onOutput })
  console.log(`Installed. In ${named}, npx create-episodic starts a project.`)
} else console.log(`In a project with "type": "module":\n\n  npm install ${folder}/*.tgz zod`)

/** Runs a command. Ends this program with what it wrote if it fails. `onOutput` gets that as it comes. */
async function run(
  command: Parameters<typeof runCommand>[0],
  options: Parameters<typeof runCommand>[1] = {},
): Promise<void> {
  const { code, output } = await runCommand(command, options)
  if (code === 0) return
  if (!options.onOutput) console.error(output)
  process.exit(code ?? 1)
}
