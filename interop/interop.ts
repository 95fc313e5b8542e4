/** `pnpm interop clients [options]`: plays the example worlds with the MCP clients of others. */
import { runClients } from './clients.ts'

const [name, ...args] = process.argv.slice(2)
try {
  if (name !== 'clients') throw new Error(`There is no program ${name ?? 'without a name'}. There is: clients.`)
  process.exitCode = await runClients(args)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
