import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LIMITS } from './limits.ts'
import { root } from './workspace.ts'

// Counts what a reader meets, and fails above a limit of `limits.ts`: the files of a folder, and the columns of a
// comment and of a page, and the lines of a package. And what a user waits for: the modules that a start of the command
// loads.

const { filesOfAFolder, linesOfAPackage, columnsOfAComment, columnsOfAPage, modulesOfAStart } = LIMITS
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

const isOfPackage = (file: string) => /^(packages|satellites|apps)\//.test(file) && !file.includes('/fixtures/')
const allowed: ReadonlyMap<string, number> = new Map(Object.entries(linesOfAPackage.most))
for (const [folder, own] of Map.groupBy(sources.filter(isOfPackage), packageOf)) {
  const lines = own.reduce((sum, file) => sum + readFileSync(join(root, file), 'utf8').split('\n').length - 1, 0)
  const most = allowed.get(folder) ?? 0
  if (lines > most)
    problems.push(`${folder} has ${lines} lines of source, and at most ${most} are allowed. ${linesOfAPackage.why}`)
}

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
  const modules = countModules(options.split(' '))
  if (!(modules <= most))
    problems.push(
      `episodic ${options} loads ${modules} modules, and at most ${most} are allowed. ${modulesOfAStart.why}`,
    )
}

for (const problem of problems) console.error(problem)
console.log(`${files.length} files, ${pages.length} pages, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1

function packageOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}

/** An address or a command that stands alone on its line cannot be broken. */
function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*)/.test(line) && /\s\S+\s/.test(line.replace(/^\s*(\/\/|\/\*\*?|\*)\s*/, ''))
}

/** Counts the modules that a start of the command loads, those of Node left out. */
function countModules(args: readonly string[]): number {
  const hook = `
    import { registerHooks } from 'node:module'
    let modules = 0
    registerHooks({ load: (url, context, load) => ((modules += !url.startsWith('node:')), load(url, context)) })
    process.on('exit', () => process.stderr.write(String(modules)))`
  const started = [join(root, 'apps/harness/src/cli.ts'), ...args]
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, ...started],
    { encoding: 'utf8' },
  )
  return Number(stderr || Number.NaN)
}
