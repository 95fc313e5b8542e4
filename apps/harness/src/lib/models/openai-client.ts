import type OpenAI from 'openai'
import type { APIError, ClientOptions } from 'openai'
import { importNeeded } from '../base/import-needed.ts'

/** The client of models is large, and most runs ask none, so that it is not installed with the command. */
let library: typeof import('openai') | null = null

export async function createClient(options: ClientOptions): Promise<OpenAI> {
  return new (await loadOpenAI()).OpenAI(options)
}

/**
 * Loads the package `openai`. Rejects with `option-invalid` if it is not installed.
 *
 * @param others Packages that are needed too, so that one line installs all.
 */
export async function loadOpenAI(...others: readonly string[]): Promise<typeof import('openai')> {
  library ??= await importNeeded('A language model', ['openai@7', ...others].join(' '), () => import('openai'))
  return library
}

export function isApiError(error: unknown): error is APIError {
  return library !== null && error instanceof library.APIError
}

export function isTimeout(error: Error): boolean {
  return library !== null && error instanceof library.APIConnectionTimeoutError
}
