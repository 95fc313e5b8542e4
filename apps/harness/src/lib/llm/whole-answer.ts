/** Maximum bytes of one answer. */
const LARGEST = 16 * 1024 ** 2
/** Minimum length of a real key: shorter ones are placeholders such as `EMPTY`. */
const KEY_LENGTH = 16

/**
 * Returns a `fetch` that reads the whole answer, so that the caller's timeout covers it, and redacts the caller's key in
 * it. Rejects for an answer of more than 16 MiB, and for incomplete JSON, so that it is retried like a lost connection.
 */
export function fetchWhole(key: string | undefined): typeof fetch {
  return async (request, init) => {
    const response = await fetch(request, init)
    const { status, statusText, headers } = response
    const said = await textOf(response)
    if (response.ok && isCutShort(said)) throw new Error('The answer ended before its JSON did.')
    const body = key && key.length >= KEY_LENGTH ? said.replaceAll(key, '[key]') : said
    // A status such as 204 must not have a body.
    return new Response(body === '' ? null : body, { status, statusText, headers })
  }
}

/** Whether a text starts like JSON and is incomplete. HTML is from another API, and not incomplete. */
function isCutShort(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > LARGEST) throw new Error(`The answer has more than ${LARGEST / 1024 ** 2} MiB.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
