import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shorten } from '@episodic/protocol/internal'
import { invalidOption } from '@episodic/run/base/harness-error'
import { z } from 'zod'
import type { World } from '../world.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** The most characters of a description in the registry. */
const MOST_DESCRIPTION = 100

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  mcpName: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  bin: z.union([z.string(), z.record(z.string(), z.string())]),
})

/**
 * Returns the `server.json` with which the package of a world is published in the registry of MCP: a server that its
 * users start, and that speaks over stdio. Throws `option-invalid` for a world whose package lacks what that needs.
 */
export function serverJsonOf({ url, environment: { name, description } }: World): object {
  const file = findPackage(dirname(fileURLToPath(url)))
  const read = packageSchema.safeParse(file === null ? {} : JSON.parse(readFileSync(file, 'utf8')))
  if (!read.success)
    throw invalidOption(
      `The registry of MCP lists packages, and ${file ?? `the world ${name}, which is in none,`} is not ready for it. Its package.json needs name, version, an mcpName such as io.github.<user>/${name}, and a bin that serves the world over stdio.`,
    )
  const { name: identifier, version, mcpName } = read.data
  return {
    $schema: SCHEMA,
    name: mcpName,
    description: shorten(description.replace(/\s+/g, ' ').trim(), MOST_DESCRIPTION - 1),
    version,
    packages: [{ registryType: 'npm', identifier, version, transport: { type: 'stdio' } }],
  }
}

function findPackage(folder: string): string | null {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return file
  const parent = dirname(folder)
  return parent === folder ? null : findPackage(parent)
}
