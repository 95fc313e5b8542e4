import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { LIMITS } from './limits.ts'
import { listPublished, listRooms, root } from './workspace.ts'

// Counts the names that the published packages export, over all their entry points. A name that an entry re-exports
// from another package of this workspace is counted where it is defined. Names that only an `/internal` entry exports
// carry no promise, and are counted apart.
//
//   node scripts/exports.ts            fails if there are more than the limit
//   node scripts/exports.ts --list     prints every name too

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
const rooms = listPublished()
const privateFolders = listRooms()
  .filter((room) => room.private)
  .map(({ folder }) => join(root, folder))
const program = ts.createProgram(
  rooms.flatMap(({ entries }) => [...entries.values()].map((file) => join(root, file))),
  {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    noCheck: true,
    skipLibCheck: true,
  },
)
const checker = program.getTypeChecker()

const counted = new Set<ts.Symbol>()
const isInternal = (entry: string) => entry.endsWith('/internal')
count('in all', LIMITS.exportedNames.most, (entry) => !isInternal(entry))
count('of /internal entries', LIMITS.internalNames.most, isInternal)

/** Prints how many names the entries that `chosen` accepts export, and fails if there are more than `most`. */
function count(what: string, most: number, chosen: (entry: string) => boolean): void {
  let total = 0
  for (const room of rooms) {
    const files = [...room.entries].filter(([entry]) => chosen(entry)).map(([, file]) => file)
    const names = exportsOf(room.folder, files)
    if (names.size === 0) continue
    total += names.size
    console.log(`${String(names.size).padStart(4)} ${room.name}`)
    if (options.list) for (const name of [...names].sort()) console.log(`       ${name}`)
  }
  console.log(`${String(total).padStart(4)} ${what}; at most ${most}`)
  if (total <= most) return
  console.error('Export only what users name, in the place of another name: a limit only falls (REVIEW.md).')
  process.exitCode = 1
}

/** Returns the names that entries of a package export and no other published package defines. Each counts once. */
function exportsOf(folder: string, files: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of files) {
    const source = program.getSourceFile(join(root, file))
    const module = source && checker.getSymbolAtLocation(source)
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const defined = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const own = defined.declarations?.some((node) => isIn([join(root, folder), ...privateFolders], node))
      if (!own || counted.has(defined)) continue
      counted.add(defined)
      names.add(symbol.name)
    }
  }
  return names
}

function isIn(folders: readonly string[], node: ts.Node): boolean {
  const { fileName } = node.getSourceFile()
  return folders.some((folder) => fileName.startsWith(`${folder}/`))
}
