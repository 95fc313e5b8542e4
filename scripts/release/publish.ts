import { join } from 'node:path'
import type { CommandResult } from '../run-command.ts'
import { listPublished, type Room, tarballOf } from '../workspace.ts'

/** How npm is run: in a folder whose `.npmrc` has a token, at a registry. */
export type RunNpm = (args: readonly string[]) => Promise<CommandResult>

/**
 * Uploads the packed packages that the registry does not have in this version, so that a release that was interrupted
 * is begun again. Returns their names. `isDry` does everything but the upload.
 *
 * @param tarballs The folder of the packed packages.
 */
export async function publishPacked(
  tarballs: string,
  npm: RunNpm,
  { isDry = false }: { readonly isDry?: boolean } = {},
): Promise<string[]> {
  const uploaded: string[] = []
  for (const room of listPublished()) {
    if (await isPublished(room, npm)) continue
    const { code, output } = await npm([
      'publish',
      join(tarballs, tarballOf(room)),
      '--access=public',
      ...(isDry ? ['--dry-run'] : []),
    ])
    if (code !== 0) throw new Error(`${room.name} ${room.version} was not published.\n${output}`)
    uploaded.push(room.name)
  }
  return uploaded
}

async function isPublished({ name, version }: Room, npm: RunNpm): Promise<boolean> {
  const { code, output } = await npm(['view', `${name}@${version}`, 'version'])
  // Nothing is printed where the package has other versions only.
  if (code === 0) return output.trim() !== ''
  if (/\bE404\b/.test(output)) return false
  throw new Error(`The registry does not say whether it has ${name} ${version}.\n${output}`)
}
