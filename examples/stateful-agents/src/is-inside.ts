import { sep } from 'node:path'

/** Whether a path is a folder or lies beneath it. Both are absolute, with no symbolic link left in them. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep)
}
