import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import type { RunConfiguration } from './configuration.ts'
import { hashModule } from './content-hash.ts'

/**
 * The files of a run's world and dataset. Paths use forward slashes and are relative to the run's folder, so that a
 * project can be moved as a whole; a path is absolute only if the file is on another drive.
 */
export const sourcesSchema = z.object({
  /** `null` for an environment of another system's server, whose rules are not here. */
  world: z
    .object({
      reference: z.string(),
      file: z.string(),
      /** Of that module and of the files that it imports by relative paths. */
      sha256: z.string(),
      /** What it was made of that no file of it has, such as the tools that an MCP server listed. */
      madeOf: jsonObjectSchema.optional(),
    })
    .nullable(),
  /** The file of tasks; `null` if they were generated. */
  dataset: z.string().nullable(),
})
export type Sources = z.infer<typeof sourcesSchema>

export async function readSources(
  runFolder: string,
  reference: string,
  world: LoadedWorld | { readonly guarantees: unknown },
  { tasks }: Pick<RunConfiguration, 'tasks'>,
): Promise<Sources> {
  const pathTo = (path: string) => relative(runFolder, resolve(path)).replaceAll('\\', '/')
  return {
    world: 'url' in world ? await ofWorld(world) : null,
    dataset: tasks.from === 'dataset' ? pathTo(tasks.file) : null,
  }

  async function ofWorld({ url, environment: { madeOf } }: LoadedWorld): Promise<Sources['world']> {
    const file = fileURLToPath(url)
    return { reference, file: pathTo(file), sha256: await hashModule(file), ...(madeOf && { madeOf }) }
  }
}

interface LoadedWorld {
  readonly url: string
  readonly environment: { readonly madeOf: JsonObject | null }
}
