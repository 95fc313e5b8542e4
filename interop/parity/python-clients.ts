import { fileURLToPath } from 'node:url'
import type { Host } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { openEnvRoutes } from '@episodic/trainer-endpoints/openenv'
import { startLineProgram } from '../line-program.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { ParityClient, ParityPlayer } from './parity-client.ts'
import type { Script } from './script.ts'
import type { SeenEpisode } from './seen-episode.ts'

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
      return startPlayer(cleanUp, [`PYTHONPATH=${PACKAGE}`, python], 'episodic_env_parity.py', [
        how,
        `${origin}/env`,
        token,
      ])
    },
  }
}

/** The client of OpenEnv. */
export function openEnvClient(onMake: (text: string) => void): ParityClient {
  const { python, versionOf } = openPythonEnvironment('openenv.txt', onMake)
  return {
    name: 'openenv',
    title: `openenv ${versionOf('openenv')}`,
    shows: {
      opening: ['text', 'structured'],
      step: [
        'text',
        'structured',
        'isRefused',
        'refused',
        'reward',
        'terms',
        'done',
        'end',
        'success',
        'potential',
        'seq',
      ],
      total: [],
    },
    async open(host) {
      const { cleanUp, origin, token } = await serve(host)
      return startPlayer(cleanUp, [python], 'openenv_parity.py', [`${origin}/openenv`, token])
    },
  }
}

async function serve(host: Host) {
  await using cleanUp = new AsyncDisposableStack()
  const server = cleanUp.use(await serveHttp(host, { extraRoutes: openEnvRoutes(host) }))
  const { controlToken: token, trainerUrl } = server
  return { cleanUp: cleanUp.move(), origin: new URL(trainerUrl).origin, token }
}

/** Starts a program of `python/` that plays a script a line; `command` may begin with variables of its environment. */
function startPlayer(
  cleanUp: AsyncDisposableStack,
  command: readonly string[],
  program: string,
  args: readonly string[],
): ParityPlayer {
  const file = fileURLToPath(new URL(`../python/${program}`, import.meta.url))
  const started = cleanUp.use(startLineProgram('env', [...command, file, ...args]))
  return {
    play: async (script) => (await started.ask(lineOf(script))) as SeenEpisode,
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  }
}

function lineOf({ world, task: { seed, params, limits }, actions }: Script) {
  return { world: world.name, seed, params, limits, actions }
}
