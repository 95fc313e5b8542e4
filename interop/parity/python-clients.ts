import { fileURLToPath } from 'node:url'
import { createHost, type Host } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { openEnvRoutes } from '@episodic/trainer-endpoints/openenv'
import { type Driver, driverOf } from '../../testing/players/drivers.ts'
import { startLineProgram } from '../line-program.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { ParityClient, ParityPlayer } from './parity-client.ts'
import type { ParityWorld } from './parity-world.ts'
import type { Script } from './script.ts'
import type { SeenEpisode, Shows } from './seen-episode.ts'

const PACKAGE = fileURLToPath(new URL('../../clients/python/src', import.meta.url))

/** The clients of this repository in Python. */
export function pythonClient(how: 'client' | 'gymnasium', onMake: (text: string) => void): ParityClient {
  const { python, versionOf } = openPythonEnvironment('episodic-env.txt', onMake)
  const common = ['text', 'structured', 'refused', 'reward', 'terms', 'success'] as const
  return {
    name: how === 'client' ? 'python' : 'gymnasium',
    title: how === 'client' ? 'episodic-env' : `episodic-env, Gymnasium ${versionOf('gymnasium')}`,
    shows: {
      opening: ['text', 'structured'],
      step: how === 'client' ? [...common, 'end', 'potential', 'stateHash', 'seq'] : [...common, 'kind'],
      total: how === 'client' ? ['reward'] : [],
    },
    async open(host) {
      const { cleanUp, origin, token } = await serve(host)
      return startPlayer(cleanUp, [`PYTHONPATH=${PACKAGE}`, python], 'episodic_env', [how, `${origin}/env`, token])
    },
  }
}

/** The versions of OpenEnv: the newest, one for the second version of the MCP SDK, and the last of the older name. */
const OPENENV_VERSIONS = {
  openenv: 'openenv',
  'openenv-0.4.1': 'openenv',
  'openenv-core': 'openenv-core',
} as const

/** What a step shows in every version, and in those of the newer name. */
const OPENENV_STEP = ['text', 'structured', 'isRefused', 'reward', 'done'] as const
const OPENENV_METADATA = ['refused', 'terms', 'end', 'success', 'potential', 'seq'] as const

/** The clients of a version of OpenEnv: that of steps, and that of tools. */
export function openEnvClients(
  version: keyof typeof OPENENV_VERSIONS,
  onMake: (text: string) => void,
): readonly ParityClient[] {
  const { python, versionOf } = openPythonEnvironment(`${version}.txt`, onMake)
  const title = `${OPENENV_VERSIONS[version]} ${versionOf(OPENENV_VERSIONS[version])}`
  const open = (how: 'socket' | 'tools') => async (host: Host, scripts: readonly Script[]) => {
    if (scripts[0]) await validate(python, scripts[0].world)
    const { cleanUp, origin, token } = await serve(host)
    return startPlayer(cleanUp, [python], 'openenv', [how, `${origin}/openenv`, token])
  }
  const step: Shows['step'] = version === 'openenv-core' ? OPENENV_STEP : [...OPENENV_STEP, ...OPENENV_METADATA]
  return [
    {
      name: version,
      title,
      shows: { opening: ['text', 'structured'], step, total: [] },
      open: open('socket'),
    },
    {
      name: version,
      title: `${title}, MCPToolClient`,
      shows: { opening: [], step: ['structured'], total: ['steps'] },
      // A refusal is an exception of this client.
      plays: ({ steps }) => steps.length > 0 && steps.every(({ info }) => info.refused === null),
      open: open('tools'),
    },
  ]
}

/** Throws with what `openenv validate` finds at the endpoint of a world, and if a wrong token opens it. */
async function validate(python: string, { name, environment }: ParityWorld): Promise<void> {
  await using host = createHost({ environments: [environment] })
  const { cleanUp, origin, token } = await serve(host)
  await using _ = cleanUp
  await using validator = startLineProgram(python, [driverOf('openenv'), 'validate', `${origin}/openenv`, token])
  const problems = (await validator.ask(name)) as readonly unknown[]
  if (problems.length > 0) throw new Error(`The endpoint of ${name} is not valid: ${JSON.stringify(problems)}`)
}

async function serve(host: Host) {
  await using cleanUp = new AsyncDisposableStack()
  const server = cleanUp.use(await serveHttp(host, { extraRoutes: openEnvRoutes(host) }))
  const { controlToken: token, trainerUrl } = server
  return { cleanUp: cleanUp.move(), origin: new URL(trainerUrl).origin, token }
}

/** Starts a driver that plays a script a line; `command` may begin with variables of its environment. */
function startPlayer(
  cleanUp: AsyncDisposableStack,
  command: readonly string[],
  driver: Driver,
  args: readonly string[],
): ParityPlayer {
  const started = cleanUp.use(startLineProgram('env', [...command, driverOf(driver), ...args]))
  return {
    play: async (script) => (await started.ask(lineOf(script))) as SeenEpisode,
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  }
}

function lineOf({ world, task: { seed, params, limits }, actions }: Script) {
  return { world: world.name, seed, params, limits, actions }
}
