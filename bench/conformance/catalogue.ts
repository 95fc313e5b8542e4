import { IMAGE, text } from './contents.ts'

const resource = (path: string, mimeType: string, description: string) => ({
  uri: `test://${path}`,
  name: path,
  mimeType,
  description,
})

/** The resources that the suite lists. */
export const RESOURCES = [
  resource('static-text', 'text/plain', 'A text.'),
  resource('static-binary', 'image/png', 'An image.'),
  resource('watched-resource', 'text/plain', 'A text that may be subscribed to.'),
]

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    mimeType: 'application/json',
    description: 'Data of an id.',
  },
]

/** What is in a resource; `null` for one that is not there. */
export function readResource(uri: string) {
  const body = (mimeType: string, content: { text: string } | { blob: string }) => ({
    contents: [{ uri, mimeType, ...content }],
  })
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id)
    return body('application/json', { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) })
  switch (uri) {
    case 'test://static-text':
      return body('text/plain', { text: 'This is the content of the static text resource.' })
    case 'test://static-binary':
      return body('image/png', { blob: IMAGE.data })
    case 'test://watched-resource':
      return body('text/plain', { text: 'Watched resource content' })
    default:
      return null
  }
}

const argument = (name: string) => ({ name, description: `The ${name}.`, required: true })
const say = (...contents: object[]) => ({ messages: contents.map((content) => ({ role: 'user' as const, content })) })

interface ConformancePrompt {
  readonly description: string
  readonly arguments?: { readonly name: string; readonly description: string; readonly required: boolean }[]
  get(args: Record<string, string>): ReturnType<typeof say>
}

/** The prompts that the suite gets by name. */
export const PROMPTS: Readonly<Record<string, ConformancePrompt>> = {
  test_simple_prompt: {
    description: 'Says a text.',
    get: () => say(text('This is a simple prompt for testing.')),
  },
  test_prompt_with_arguments: {
    description: 'Repeats its arguments.',
    arguments: [argument('arg1'), argument('arg2')],
    get: ({ arg1, arg2 }) => say(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    description: 'Embeds a resource.',
    arguments: [argument('resourceUri')],
    get: ({ resourceUri }) =>
      say(
        {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
        text('Please process the embedded resource above.'),
      ),
  },
  test_prompt_with_image: {
    description: 'Shows an image.',
    get: () => say(IMAGE, text('Please analyze the image above.')),
  },
}

export const listPrompts = () => Object.entries(PROMPTS).map(([name, { get: _, ...prompt }]) => ({ name, ...prompt }))
