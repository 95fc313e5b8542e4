/** Bytes of one answer. */
const LARGEST = 16 * 1024 ** 2
/** Characters from which a key is one: shorter ones are words such as `EMPTY`, for servers that ask for none. */
const KEY_LENGTH = 16

/**
 * Fetches with the whole of the answer, so that the caller's time-out is of all of it, and without the caller's key,
 * wherever the server repeats it. Rejects for an answer of more than 16 MiB, and for JSON that breaks off, so that it is
 * asked for again like one whose connection was lost.
 */
export function fetchWhole(key: string | undefined): typeof fetch {
  return async (request, init) => {
    const response = await fetch(request, init)
    const { status, statusText, headers } = response
    const said = await textOf(response)
    if (response.ok && isCutShort(said)) throw new Error('The answer ended before its JSON did.')
    const body = key && key.length >= KEY_LENGTH ? said.replaceAll(key, '[key]') : said
    // A status that has no body, such as 204, allows none.
    return new Response(body === '' ? null : body, { status, statusText, headers })
  }
}

/** Whether a text begins as JSON and does not end as such. A page of HTML is another API, and not cut short. */
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
