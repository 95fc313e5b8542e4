import { dataFolder } from '../suite/data-folder.ts'
import { readGolden } from '../suite/golden.ts'
import { createBfcl } from './bfcl-world.ts'
import { type Category, openLibrary } from './data.ts'

/**
 * Opens a category over the files that `episodic suite get bfcl` keeps.
 *
 * @param golden - what the original recorded of all categories.
 */
export function openBfcl(category: Category, golden: URL) {
  return createBfcl(openLibrary(dataFolder('bfcl')), category, readGolden(golden))
}
