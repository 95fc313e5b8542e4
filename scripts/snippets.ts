import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { listRooms, root } from './workspace.ts'

// Type checks every block of the docs that opens with ```ts, as a module of its own. What is not whole opens with
// ```ts fragment and is left alone.

export interface Snippet {
  /** The line of the page, from 0, at which the code starts. */
  readonly line: number
  readonly code: string
}

/** Finds the blocks of a Markdown page that must compile. */
export function findSnippets(page: string): Snippet[] {
  const snippets: Snippet[] = []
  let open: { fence: string; checked: boolean; line: number; code: string[] } | undefined
  for (const [index, line] of page.split('\n').entries()) {
    const [, fence = '', info = ''] = /^ {0,3}(`{3,}|~{3,})\s*(.*?)\s*$/.exec(line) ?? []
    if (!open) {
      if (fence) open = { fence, checked: info === 'ts' || info === 'typescript', line: index + 1, code: [] }
    } else if (fence.startsWith(open.fence) && info === '') {
      if (open.checked) snippets.push({ line: open.line, code: open.code.join('\n') })
      open = undefined
    } else open.code.push(line)
  }
  return snippets
}

/**
 * Type checks snippets and returns what is wrong, each as `page:line: message`.
 *
 * The snippets are not written to disk: the compiler gets a virtual file beside the page, so that imports resolve as
 * for a reader. The code starts at the same line as on the page, so that a problem's line is the page's line.
 */
export function checkSnippets(snippetsOf: ReadonlyMap<string, readonly Snippet[]>): string[] {
  const sources = new Map<string, { page: string; text: string }>()
  for (const [page, snippets] of snippetsOf) {
    for (const { line, code } of snippets)
      sources.set(join(folderOf(page), `${page.replaceAll('/', '.')}.${line + 1}.ts`), {
        page,
        text: '\n'.repeat(line) + code,
      })
  }
  const options = compilerOptions()
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (file) => sources.has(file) || fileExists(file)
  host.readFile = (file) => sources.get(file)?.text ?? readFile(file)
  host.getSourceFile = (file, target, ...rest) => {
    const source = sources.get(file)
    return source ? ts.createSourceFile(file, source.text, target) : getSourceFile(file, target, ...rest)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  return [...sources].flatMap(([file, { page }]) => {
    const tree = program.getSourceFile(file)
    const diagnostics = [...program.getSyntacticDiagnostics(tree), ...program.getSemanticDiagnostics(tree)]
    return diagnostics.map(({ file: where, start = 0, messageText }) => {
      const line = where ? where.getLineAndCharacterOfPosition(start).line + 1 : 1
      return `${page}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n  ')}`
    })
  })
}

/** Returns the folder that imports resolve from: a package's page needs that package alone, a page of the root all. */
function folderOf(page: string): string {
  const room = listRooms().find(({ folder }) => page.startsWith(`${folder}/`))
  return join(root, room?.folder ?? 'apps/harness')
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const entries = listRooms().flatMap(({ entries }) => [...entries])
  return {
    ...options,
    moduleDetection: ts.ModuleDetectionKind.Force,
    paths: Object.fromEntries(entries.map(([entry, source]) => [entry, [join(root, source)]])),
  }
}

if (import.meta.main) {
  const pages = globSync(['*.md', 'docs/**/*.md', '{packages,satellites,apps,examples}/*/{README,AGENTS}.md'], {
    cwd: root,
  })
  const snippetsOf = new Map(pages.sort().map((page) => [page, findSnippets(readFileSync(join(root, page), 'utf8'))]))
  const problems = checkSnippets(snippetsOf)
  for (const problem of problems) console.error(problem)
  const count = [...snippetsOf.values()].flat().length
  console.log(`${count} blocks of code on ${pages.length} pages, ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}
