import { monotonic } from '@episodic/protocol/internal'
import type { WaitingClock } from '@episodic/run/base/waiting-clock'
import type { findServer } from './apis/model-server.ts'
import { type ModelLimit, type ModelRates, untilTurn } from './limits/model-limit.ts'
import type { ModelSettings } from './model-options.ts'
import { lostConnection, NoAnswer, readReply } from './refusals.ts'
import type { ChatBody } from './requests/concessions.ts'
import type { Try } from './requests/tries.ts'

const RETRIES = 5
/** Maximum bytes of one answer. */
const LARGEST = 16 * 1024 ** 2
/** Minimum length of a real key: shorter ones are placeholders such as `EMPTY`. */
const KEY_LENGTH = 16
/** Characters of JSON that are about one token. */
const TOKEN_LENGTH = 4
/** Milliseconds. */
const LONGEST_PAUSE = 60_000
const NEVER = new AbortController().signal

/** Creates what sends requests to a model, within its rates, and sends those again that may be answered later. */
export function createTransport(
  { name, keyName, send, baseURL, model, apiKey, headers }: ReturnType<typeof findServer>,
  settings: ModelSettings,
  limit: ModelLimit,
  clock: WaitingClock,
) {
  const { requestsPerMinute = null, tokensPerMinute = null, maxTokens = 0, modelTimeout } = settings
  const url = `${baseURL.replace(/\/$/, '')}/chat/completions`
  const named = `${baseURL} ${model}`
  const asked = { where: `model ${name} at ${new URL(baseURL).host}`, keyName }
  const rates: ModelRates = { requestsPerMinute, tokensPerMinute }
  // Local servers need no key, and some want the header.
  const usual = new Headers({ 'content-type': 'application/json', authorization: `Bearer ${apiKey || 'none'}` })
  for (const [name, value] of Object.entries(headers)) usual.set(name, value)
  const redact = (text: string) => (apiKey && apiKey.length >= KEY_LENGTH ? text.replaceAll(apiKey, '[key]') : text)

  /** Sends a request once. Its time covers the whole answer. */
  async function trySend(body: string, retries: number, signal: AbortSignal): Promise<unknown> {
    const [late, ended] = [new AbortController(), new AbortController()]
    const sent = new Headers(usual)
    // The gateway gives an answer that was lost again to who says that it is asked again.
    if (retries > 0) sent.set('x-stainless-retry-count', String(retries))
    void clock.wait(modelTimeout * 1_000, ended.signal).then(() => late.abort())
    try {
      const ends = AbortSignal.any([late.signal, signal])
      const response = await send(url, { method: 'POST', headers: sent, body, signal: ends })
      return readReply(response, redact(await readText(response)), asked)
    } catch (error) {
      return error instanceof NoAnswer ? error : lostConnection(error, late.signal.aborted, asked)
    } finally {
      ended.abort()
    }
  }

  return {
    /** Waits until a request may be sent. `end` counts its tokens, 0 without an answer, instead of the estimate. */
    async turn(request: object, signal: AbortSignal | undefined) {
      const begun = monotonic()
      const estimate =
        tokensPerMinute === null ? 0 : Math.ceil(JSON.stringify(request).length / TOKEN_LENGTH) + maxTokens
      await untilTurn(limit, named, rates, estimate, signal)
      return {
        waited: requestsPerMinute === null && tokensPerMinute === null ? 0 : monotonic() - begun,
        // Some servers count no tokens. The estimate is better than nothing.
        end: (tokens: number) => limit.correct(named, rates, tokens === 0 ? 0 : tokens - estimate),
      }
    },
    /**
     * Resolves with the JSON of an answer, and adds each try. Rejects with {@link NoAnswer}, and after an abort with
     * the signal's reason. When the server asks for a pause, everybody who shares the limit makes it.
     *
     * @param spread - from 0 to 1: those who were refused at one time do not ask again at one time.
     */
    async send(body: ChatBody, tries: Try[], spread: number, signal: AbortSignal = NEVER): Promise<unknown> {
      const text = JSON.stringify(body)
      for (let retries = 0; ; retries++) {
        // It has waited as the server asked, so a retry takes a turn without waiting for it.
        if (tries.length > 0) await limit.reserve(named, { requestsPerMinute, tokensPerMinute: null }, 0)
        const sent = monotonic()
        const said = await trySend(text, retries, signal)
        const failed = said instanceof NoAnswer ? said : null
        tries.push({ sent, answered: monotonic(), failure: failed?.reply.failure ?? null })
        if (!failed) return said
        signal.throwIfAborted()
        const { status, isRetried, after } = failed.reply
        if (status === 429 && isRetried && after !== null) await limit.pause(named, Math.min(after, LONGEST_PAUSE))
        if (!isRetried || retries === RETRIES) throw failed
        const growing = Math.min(500 * 2 ** retries, 8_000) * (1 - spread / 4)
        await clock.wait(after !== null && after <= LONGEST_PAUSE ? after : growing, signal)
        signal.throwIfAborted()
      }
    },
  }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > LARGEST) throw new Error(`The answer has more than ${LARGEST / 1024 ** 2} MiB.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
