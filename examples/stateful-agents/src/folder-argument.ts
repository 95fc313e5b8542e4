import { realpathSync, statSync } from 'node:fs'

/** Reads the folder that a server was started on from its command line, and ends the process if there is none. */
export function folderArgument(): string {
  const [, program, folder] = process.argv
  if (folder && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(folder)
  console.error(
    folder
      ? `${folder} is not a folder. Name one that exists: node ${program} <folder>`
      : `No folder was named to work in: node ${program} <folder>`,
  )
  process.exit(2)
}
