import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { listPublished, tarballOf } from './workspace.ts'

// Checks each package as it would be published, by its tarball: its manifest and files with publint, and the types of
// all of its entries with "Are the types wrong?". One process, because each of them loads a compiler.
//
//   node scripts/check-tarballs.ts <folder>    the folder has the packed tarballs
//
// Counts the packages in tarballs.json of that folder.

/** Ways of finding an entry that packages of ES modules alone do not serve. */
const NOT_SERVED: readonly string[] = ['node10', 'node16-cjs']

const [folder = '.'] = process.argv.slice(2)
const published = listPublished()
let failed = 0
for (const room of published) {
  const problems = await problemsOf(await readFile(join(folder, tarballOf(room))))
  if (problems.length > 0) failed += 1
  for (const problem of problems) console.error(`${room.name}: ${problem}`)
}
const passed = published.length - failed
await writeFile(join(folder, 'tarballs.json'), JSON.stringify({ passed, failed, skipped: 0 }))
console.log(`${passed} packages are as they should be, ${failed} are not`)
if (failed > 0) process.exitCode = 1

async function problemsOf(bytes: Buffer): Promise<string[]> {
  // A Buffer is a part of a larger ArrayBuffer.
  const tarball = new Uint8Array(bytes).buffer
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  const wrong = 'problems' in analysis ? analysis.problems.filter(isOurs) : []
  return [
    ...messages
      .filter(({ type }) => type === 'error')
      .map((message) => formatMessage(message, pkg, { color: false }) ?? message.code),
    ...wrong.map((problem) => JSON.stringify(problem)),
  ]
}

function isOurs(problem: Problem): boolean {
  return !('resolutionKind' in problem && NOT_SERVED.includes(problem.resolutionKind))
}
