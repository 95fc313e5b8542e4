import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { listPublished, type Room, root } from './workspace.ts'

// Counts the names that the published packages export, over all their entry points. A name that an entry re-exports from
// another package of this workspace is counted where it is defined.
//
//   node scripts/exports.ts            fails if there are more than MOST
//   node scripts/exports.ts --list     prints every name too

/**
 * What a reader of the API has to look through: each further name has to replace one that nobody uses. Environments of
 * several seats raised it from 399: matches, their records and games to play are concepts of their own. `packages/report`
 * raised it from 425: what pages and commands compute alike was within the harness before, and its names were not counted. Graders
 * and labels raised it from 590: authors define the first, and pages and commands share what becomes of both.
 * Shared folders raised it from 650: a command writes the files that a page reads.
 * Advantages from forks raised it from 660: learners name what each step was worth, and intervals of environments and of
 * reports have the same points of Student's t. Players that stop, and the bounds of rates from which failed episodes are missing,
 * raised it from 664: policies say that they stop, and every place with a rate shows the bounds alike.
 * One reader of texts, configurations and answers from outside, one rule of what a text leaves out of its data, and unknown
 * parameters that are refused at every endpoint raised it from 675. The bounds of the rates of groups raised it from 696.
 */
const MOST = 697

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
const rooms = listPublished()
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
console.log(`${String(total).padStart(4)} in all; at most ${MOST}`)
if (total > MOST) {
  console.error('Export only what users name, or raise MOST in scripts/exports.ts and say why.')
  process.exitCode = 1
}

/** The names that a package exports and defines itself. */
function exportsOf({ folder, entries }: Room): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of entries.values()) {
    const source = program.getSourceFile(join(root, file))
    const module = source && checker.getSymbolAtLocation(source)
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const defined = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const own = defined.declarations?.some((node) => node.getSourceFile().fileName.startsWith(join(root, folder)))
      if (own) names.add(symbol.name)
    }
  }
  return names
}
