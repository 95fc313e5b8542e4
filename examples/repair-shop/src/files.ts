import { createDisk, type Disk } from '@episodic/workspace'
import { CHECK, type Program } from './programs.ts'

/** The files of modules in a directory. */
export function filesOf(directory: string, modules: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(modules).map(([name, text]) => [`${directory}/${name}.js`, text]))
}

/** The disk of a player: a program, its description, and the tests of some modules. */
export function diskOf(
  { readme, tests }: Program,
  modules: Readonly<Record<string, string>>,
  tested: readonly string[],
): Disk {
  const all = [
    ...tested.map((module) => `import './${module}.js'\n`),
    "import { finish } from './check.js'\n\nfinish()\n",
  ]
  return createDisk({
    '/app/README.md': readme,
    ...filesOf('/app/src', modules),
    ...Object.fromEntries(
      tested.map((module) => [
        `/app/test/${module}.js`,
        (tests[module] as string).replace('../../check.js', './check.js'),
      ]),
    ),
    '/app/test/check.js': CHECK,
    '/app/test/all.js': all.join(''),
  })
}
