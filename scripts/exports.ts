import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { LIMITS } from './limits.ts'
import { listPublished, listRooms, type Room, root } from './workspace.ts'

// Counts the names that the published packages export, over all their entry points. A name that an entry re-exports
// from another package of this workspace is counted where it is defined.
//
//   node scripts/exports.ts            fails if there are more than the limit
//   node scripts/exports.ts --list     prints every name too

const { most } = LIMITS.exportedNames
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
let total = 0
for (const room of rooms) {
  const names = exportsOf(room)
  total += names.size
  console.log(`${String(names.size).padStart(4)} ${room.name}`)
  if (options.list)
    console.log(
      [...names]
        .sort()
        .map((name) => `       ${name}\n`)
        .join(''),
    )
}
console.log(`${String(total).padStart(4)} in all; at most ${most}`)
if (total > most) {
  console.error('Export only what users name, or raise the limit in scripts/limits.ts and say why.')
  process.exitCode = 1
}

/** The names that a package exports, and that no other published package defines. Each counts once. */
function exportsOf({ folder, entries }: Room): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of entries.values()) {
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
