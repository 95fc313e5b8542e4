import type { EditedDisk } from '../../disk/edited-disk.ts'

/** Where the engine finds a file of the disk as a module. Stacks show it. */
export const MODULE = '/file:'

/** Where it finds a file that is required: its module defines what runs it, and runs nothing. */
export const REQUIRED = '/required:'

/** Where it finds the modules of Node that are ours. */
export const OWN = '/node:'

/** Whether a path is of the engine's modules, and of no disk. */
export function isModulePath(path: string): boolean {
  return [MODULE, REQUIRED, OWN].some((start) => path.startsWith(start))
}

/** Returns the file that `require` finds at a path. */
export function requiredFile(disk: EditedDisk, path: string): string | undefined {
  return ['', '.js', '.json', '.mjs', '/index.js'].map((ending) => path + ending).find((each) => isFile(disk, each))
}

/** Whether a path is one of a file. */
export function isFile(disk: EditedDisk, path: string): boolean {
  return disk.at(disk.resolve(path, 'stat'))?.kind === 'file'
}
