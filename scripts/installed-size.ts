import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

/** What an installation takes. */
export interface InstalledSize {
  /** MB on the disk, as `du -sm` counts them. */
  readonly megabytes: number
  readonly packages: number
}

/** Measures the `node_modules` of a folder. Throws if it takes more than its limit. */
export function checkInstalledSize(folder: string, most: InstalledSize): InstalledSize {
  const modules = join(folder, 'node_modules')
  const megabytes = Number.parseInt(execFileSync('du', ['-sm', modules], { encoding: 'utf8' }), 10)
  const manifests = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: folder })
  const packages = manifests.filter((file) => !/node_modules[/]@[^/]+[/]package[.]json$/.test(file)).length
  if (megabytes > most.megabytes || packages > most.packages)
    throw new Error(
      `${folder} has ${packages} packages of ${megabytes} MB, and ${most.packages} of ${most.megabytes} MB are the most (scripts/limits.ts).`,
    )
  return { megabytes, packages }
}
