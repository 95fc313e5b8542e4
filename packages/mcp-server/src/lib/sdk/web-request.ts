import type { IncomingMessage, ServerResponse } from 'node:http'

/** Answers a request with code that is written for the web's `Request` and `Response`. Its signal aborts when the client is gone. */
export async function answerAsWeb(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const answer = await handle(webRequest(request, gone.signal))
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const chunk of answer.body ?? []) if (!response.write(chunk)) await drained(response)
  response.end()
}

function webRequest({ method = 'GET', url, headers }: IncomingMessage, signal: AbortSignal): Request {
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Request(new URL(url ?? '/', `http://${headers.host}`), { method, headers: sent, signal })
}

/** Resolves when there is room again, or nobody to write to. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve()
    response.once('drain', resolve).once('close', resolve)
  })
}
