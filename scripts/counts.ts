import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LIMITS } from './limits.ts'
import { root } from './workspace.ts'

// Counts what a reader meets, and fails above a limit of `limits.ts`: the files of a folder, and the columns of a
// comment and of a page, and the lines of a package and of all tests. And what a user waits for: the modules that a
// start of the command loads, and the lines of those that it goes through from the definition of an environment to a
// report.
//
//   node scripts/counts.ts         fails above a limit
//   node scripts/counts.ts --run   prints each file of that way with its lines

const {
  filesOfAFolder,
  linesOfAPackage,
  linesOfProduct,
  linesOfTests,
  linesOfARun,
  columnsOfAComment,
  columnsOfAPage,
  modulesOfAStart,
} = LIMITS
const files = globSync('{packages,satellites,apps,examples,bench,chaos,interop,testing,scripts}/**/*.{ts,tsx,mjs}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
})
const problems: string[] = []

const sources = files.filter((file) => !/\.(test|test-d|fixture)\.tsx?$/.test(file))
for (const [folder, own] of Map.groupBy(sources, dirname))
  if (own.length > filesOfAFolder.most)
    problems.push(
      `${folder} has ${own.length} files, and at most ${filesOfAFolder.most} are allowed. ${filesOfAFolder.why}`,
    )

const isOfTests = (file: string) => /\.(test|test-d|fixture)\.tsx?$|\/fixtures\//.test(file)
const isOfPackage = (file: string) => /^(packages|satellites|apps)\//.test(file) && !file.includes('/fixtures/')
const allowed: ReadonlyMap<string, number> = new Map(Object.entries(linesOfAPackage.most))
/** The innermost first. */
const foldersApart = [...allowed.keys()].filter((folder) => folder.split('/').length > 2).toReversed()
const product = sources.filter(isOfPackage)
const linesOf = (own: readonly string[]) => own.reduce((sum, file) => sum + countLines(file), 0)
const linesInAll = linesOf(product)
if (linesInAll > linesOfProduct.most)
  problems.push(
    `The product has ${linesInAll} lines of source, and at most ${linesOfProduct.most} are allowed. ${linesOfProduct.why}`,
  )
for (const [folder, own] of Map.groupBy(product, packageOf)) {
  const lines = linesOf(own)
  const most = allowed.get(folder) ?? 0
  if (lines > most)
    problems.push(`${folder} has ${lines} lines of source, and at most ${most} are allowed. ${linesOfAPackage.why}`)
}

const linesInTests = linesOf(files.filter(isOfTests))
if (linesInTests > linesOfTests.most)
  problems.push(
    `The tests have ${linesInTests} lines, and at most ${linesOfTests.most} are allowed. ${linesOfTests.why}`,
  )

for (const file of files)
  for (const [index, line] of readFileSync(join(root, file), 'utf8').split('\n').entries())
    if (line.length > columnsOfAComment.most && isComment(line))
      problems.push(`${file}:${index + 1}: a comment of ${line.length} columns. ${columnsOfAComment.why}`)

const pages = globSync('**/*.md', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|\.changeset|CHANGELOG\.md)$|^docs\/api$/.test(path),
})
for (const page of pages)
  for (const [index, line] of readFileSync(join(root, page), 'utf8').split('\n').entries())
    if (line.length > columnsOfAPage.most)
      problems.push(`${page}:${index + 1}: a line of ${line.length} columns. ${columnsOfAPage.why}`)

for (const [options, most] of Object.entries(modulesOfAStart.most)) {
  const modules = listModules(options.split(' ')).length
  if (!(modules <= most))
    problems.push(
      `episodic ${options} loads ${modules} modules, and at most ${most} are allowed. ${modulesOfAStart.why}`,
    )
}

const folder = mkdtempSync(join(tmpdir(), 'episodic-counts-'))
const way = listModules([
  'run',
  'examples/frozen-lake',
  '--policy',
  'solver',
  '--tasks',
  '1',
  '--out',
  join(folder, 'run'),
])
  .map((url) => relative(root, fileURLToPath(url)))
  // The world itself is its author's.
  .filter((file) => isOfPackage(file) && !file.startsWith('satellites/classics/'))
  .map((file) => ({ file, lines: countLines(file) }))
rmSync(folder, { recursive: true })
const linesOfTheWay = way.reduce((sum, { lines }) => sum + lines, 0)
if (!(linesOfTheWay > 0 && linesOfTheWay <= linesOfARun.most))
  problems.push(`A run reads ${linesOfTheWay} lines, and at most ${linesOfARun.most} are allowed. ${linesOfARun.why}`)
if (process.argv.includes('--run'))
  for (const { file, lines } of way.sort((a, b) => a.file.localeCompare(b.file))) console.log(`${lines}\t${file}`)

for (const problem of problems) console.error(problem)
console.log(
  `${files.length} files, ${pages.length} pages, ${linesInAll} lines of source, ${linesOfTheWay} of a run, ${linesInTests} of tests, ${problems.length} problems`,
)
if (problems.length > 0) process.exitCode = 1

/** Returns the package of a file, or the folder in it that has a limit of its own. */
function packageOf(file: string): string {
  return foldersApart.find((folder) => file.startsWith(`${folder}/`)) ?? file.split('/').slice(0, 2).join('/')
}

/** An address or a command that stands alone on its line cannot be broken. */
function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*)/.test(line) && /\s\S+\s/.test(line.replace(/^\s*(\/\/|\/\*\*?|\*)\s*/, ''))
}

function countLines(file: string): number {
  return readFileSync(join(root, file), 'utf8').split('\n').length - 1
}

/** Lists the modules that a start of the command loads, by their URLs, those of Node left out. */
function listModules(args: readonly string[]): string[] {
  const hook = `
    import { registerHooks } from 'node:module'
    const modules = new Set()
    registerHooks({ load: (url, context, load) => (url.startsWith('file:') && modules.add(url), load(url, context)) })
    process.on('exit', () => process.stderr.write('\\n' + JSON.stringify([...modules])))`
  const started = [join(root, 'apps/harness/src/cli.ts'), ...args]
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, ...started],
    { encoding: 'utf8', cwd: root },
  )
  return JSON.parse(stderr.slice(stderr.lastIndexOf('\n') + 1))
}
