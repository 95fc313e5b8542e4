import { invalidOption } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import { type ModelSettings, NATIVE_APIS, variableOf } from '../model-options.ts'
import { importProvider, nativeFetch } from './native-api.ts'

/** Variables of keys, the first one that is set, and the roots of providers. */
const PROVIDERS = {
  chat: { keys: ['OPENAI_API_KEY'], baseURL: 'https://api.openai.com/v1' },
  anthropic: { keys: ['ANTHROPIC_API_KEY'], baseURL: 'https://api.anthropic.com/v1' },
  google: {
    keys: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
  },
} as const

/**
 * Returns where a model is asked, and how. `anthropic/<model>` and `google/<model>` are asked by the API of their
 * provider, unless a server was named. Throws `option-invalid` if the server is unknown, or a variable that is needed
 * is not set.
 */
export function findServer(name: string, settings: ModelSettings) {
  const chatURL = settings.baseUrl ?? process.env.OPENAI_BASE_URL
  const named = NATIVE_APIS.find((api) => name.startsWith(`${api}/`))
  const api = settings.api ?? (named && !chatURL ? named : 'chat')
  const model = named === api ? name.slice(api.length + 1) : name
  const given = api === 'chat' ? chatURL : settings.baseUrl
  const { keys, baseURL: usual } = PROVIDERS[api]
  const keyName = settings.apiKeyEnv ?? keys.find((key) => process.env[key]) ?? keys[0]
  const apiKey = process.env[keyName]
  if (settings.apiKeyEnv !== undefined && !apiKey)
    throw invalidOption(`The key of ${name} is to be in ${keyName}, which is not set. Set it.`)
  if (!given && !apiKey)
    throw invalidOption(
      `No server is configured for ${name}. Set ${keyName}, or give --base-url <url> of ${api === 'chat' ? 'an OpenAI-compatible server, such as http://127.0.0.1:8000/v1' : `a server with the API of ${api}`}.`,
    )
  if (given && !URL.canParse(given))
    throw invalidOption(`OPENAI_BASE_URL is "${given}", which is not a URL. Set it to an http(s) URL.`)
  const baseURL = given ?? usual
  const headers = headersOf(name, settings)
  return {
    name,
    model,
    api,
    baseURL,
    keyName,
    apiKey,
    headers,
    send: api === 'chat' ? fetch : nativeFetch({ api, model, baseURL, apiKey: apiKey ?? 'none', headers }),
  }
}

/** Throws `option-invalid` for a value that is to be in a variable that is not set. */
function headersOf(model: string, { modelHeader = {} }: ModelSettings): Record<string, string> {
  return mapValues(modelHeader, (value, name) => {
    const variable = variableOf(value)
    if (variable === undefined) return value
    const set = process.env[variable]
    if (set) return set
    throw invalidOption(`The header ${name} of ${model} is to be in ${variable}, which is not set. Set it.`)
  })
}

/** Rejects with `option-invalid` if a package that speaks the API of a model is not installed. */
export async function assertSpoken(name: string, settings: ModelSettings): Promise<void> {
  const { api } = findServer(name, settings)
  if (api !== 'chat') await importProvider(api)
}
