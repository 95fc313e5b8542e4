import { runAgentDojo } from './benchmarks/agentdojo.ts'
import { runBfcl } from './benchmarks/bfcl.ts'
import { runTau2 } from './benchmarks/tau2.ts'
import { runCheckCorpus } from './check-corpus/run-check-corpus.ts'
import { runClients } from './clients/run-clients.ts'
import { runFiles } from './exports/run-files.ts'
import { runInspect } from './exports/run-inspect.ts'
import { runGateway } from './gateway/run-gateway.ts'
import { runHarbor } from './harbor/run-harbor.ts'
import { runImport } from './import/run-import.ts'
import { runMcpServers } from './mcp-servers/run-mcp-servers.ts'
import { runNemoGym } from './nemo-gym/run-nemo-gym.ts'
import { runParity } from './parity/run-parity.ts'
import { runProviders } from './providers/run-providers.ts'
import { runPythonPackage } from './python-package/run-python-package.ts'
import type { Program } from './report.ts'
import { runRfc008 } from './rfc-008/run-rfc-008.ts'
import { runShellProgram } from './shell/run-shell.ts'
import { runUsers } from './users/run-users.ts'

/** A program, and what it does in a few words. */
export interface NamedProgram {
  readonly name: string
  readonly does: string
  readonly run: Program
  /** Whether it takes `--python`, a Python that is new enough for NeMo Gym and Harbor. */
  readonly takesPython?: true
}

export const PROGRAMS: readonly NamedProgram[] = [
  { name: 'clients', does: 'plays with MCP clients', run: runClients },
  { name: 'files', does: 'reads exported files with the libraries of trainers', run: runFiles },
  { name: 'inspect', does: 'reads exported logs with inspect_ai', run: runInspect },
  { name: 'python', does: 'tests the package episodic-env', run: runPythonPackage },
  { name: 'nemo-gym', does: "runs NeMo Gym's own command and test", run: runNemoGym, takesPython: true },
  { name: 'harbor', does: "plays exported tasks with Harbor's own runner", run: runHarbor, takesPython: true },
  { name: 'gateway', does: 'speaks to models through the gateway, and kills it', run: runGateway },
  { name: 'providers', does: 'plays with servers of models of every kind', run: runProviders },
  { name: 'shell', does: 'compares ordinary commands with bash', run: runShellProgram },
  { name: 'agentdojo', does: 'compares a suite of tasks with its original in Python', run: runAgentDojo },
  { name: 'bfcl', does: 'compares tasks of BFCL with their original in Python', run: runBfcl },
  { name: 'mcp-servers', does: 'plays public MCP servers as worlds, and kills them', run: runMcpServers },
  { name: 'import', does: "plays environments of others' servers", run: runImport },
  { name: 'rfc-008', does: "judges reports with OpenEnv's own validation", run: runRfc008 },
  { name: 'tau2', does: 'plays tasks of τ²-bench with its own code, and compares all', run: runTau2 },
  { name: 'check-corpus', does: 'checks worlds with and without hacks, and counts what is found', run: runCheckCorpus },
  { name: 'users', does: 'plants faults in turns of simulated users, and counts what is found', run: runUsers },
  { name: 'parity', does: 'compares the same episodes through every endpoint', run: runParity, takesPython: true },
]
