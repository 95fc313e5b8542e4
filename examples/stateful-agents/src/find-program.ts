import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program that this machine does not have. Its message says how to install it. */
export class MissingProgram extends Error {
  constructor(program: string, debianPackage: string) {
    super(`There is no ${program} on this machine. Install it: apt-get install ${debianPackage}`)
    this.name = 'MissingProgram'
  }
}

/**
 * Finds the first of some programs, by name, on `PATH` and in the folders that are given beside it.
 *
 * Throws a `MissingProgram`, which names the Debian package that has it.
 */
export function findProgram(names: readonly string[], debianPackage: string, folders: readonly string[] = []): string {
  const places = [...folders, ...(process.env.PATH ?? '').split(delimiter).filter(Boolean)]
  const found = names.flatMap((name) => places.map((folder) => join(folder, name))).find(canRun)
  if (!found) throw new MissingProgram(names.join(' or '), debianPackage)
  return found
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
