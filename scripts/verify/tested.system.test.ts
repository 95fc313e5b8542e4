import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../workspace.ts'
import { listTested } from './tested.ts'

/** Paths in quotes that lead out of a folder, except those of imports, which the checks of rooms allow or forbid. */
const PATHS = /(?<!from |import\()['"`]((?:\.\.\/)+[^'"`$\n]+)['"`]/g

it('lists what the tests of a package read outside of it, so that they run again when it changes', () => {
  const packages = listTested()
  expect(packages.length).toBeGreaterThan(20)
  const missing = packages.flatMap(({ folder, inputs, uses }) =>
    globSync('{src,app,.}/**/*.{test,fixture}.ts', { cwd: join(root, folder), exclude: ['**/node_modules/**'] })
      .map((file) => join(folder, file))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(PATHS)]
          .map(([, path = '']) => normalize(join(dirname(file), path)))
          // In the folder of the workspace itself, worlds are found by their names.
          .filter((path) => path !== './' && !path.startsWith(`${folder}/`) && existsSync(join(root, path)))
          .filter((path) => ![...uses, folder].some((used) => `${path}/`.startsWith(`${used}/`)))
          .filter((path) =>
            statSync(join(root, path)).isFile()
              ? !inputs.includes(path)
              : !inputs.some((input) => input.startsWith(path.endsWith('/') ? path : `${path}/`)),
          )
          .map((path) => `${file} reads ${path}: add it to the inputs of the task test in ${folder}/turbo.json`),
      ),
  )
  expect(missing).toEqual([])
})
