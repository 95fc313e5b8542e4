import type { EnvironmentInfo, JsonObject } from '@episodic/protocol'

const METADATA: JsonObject = { type: 'object', additionalProperties: true }

/** Describes an environment by JSON Schemas. By the title `CallToolAction`, clients list the tools before a reset. */
export function schemasOf({ tools }: EnvironmentInfo) {
  const text: JsonObject = { type: 'string', description: 'What the player is shown.' }
  return {
    action: {
      title: 'CallToolAction',
      type: 'object',
      properties: {
        metadata: METADATA,
        type: { const: 'call_tool', default: 'call_tool', type: 'string' },
        tool_name: { type: 'string', enum: tools.map(({ name }) => name) },
        arguments: { anyOf: tools.map(argumentsOf) },
      },
      required: ['tool_name'],
      additionalProperties: false,
    },
    observation: {
      title: 'CallToolObservation',
      type: 'object',
      properties: {
        metadata: METADATA,
        tool_name: { type: 'string' },
        result: {
          type: 'object',
          properties: {
            content: { type: 'array', items: { type: 'object' } },
            structured_content: { type: ['object', 'null'] },
            data: { description: 'The structured content, or the text if there is none.' },
            is_error: { type: 'boolean' },
          },
        },
        error: { type: ['object', 'null'] },
      },
      required: ['tool_name'],
    },
    state: {
      title: 'State',
      type: 'object',
      properties: { episode_id: { type: ['string', 'null'] }, step_count: { type: 'integer', minimum: 0 } },
      additionalProperties: true,
    },
    reset_observation: {
      title: 'Observation',
      type: 'object',
      properties: { metadata: METADATA, text, structured_content: { type: ['object', 'null'] } },
      required: ['text'],
    },
  }
}

/** An `$id` of its own keeps the references within a schema valid. */
function argumentsOf({ name, description, inputSchema }: EnvironmentInfo['tools'][number]): JsonObject {
  const { $schema: _, ...schema } = inputSchema
  return { title: name, description, ...schema, ...(schema.$defs !== undefined && { $id: `urn:tool:${name}` }) }
}

export function openApiOf({ name, description }: EnvironmentInfo): JsonObject {
  const json = (schema: JsonObject) => ({ content: { 'application/json': { schema } } })
  const answers = { '200': { description: 'Success', ...json({ type: 'object' }) } }
  const get = { get: { responses: answers } }
  const post = { post: { requestBody: json({ type: 'object' }), responses: answers } }
  return {
    openapi: '3.1.0',
    info: { title: name, description, version: '1.0.0' },
    paths: {
      '/health': get,
      '/metadata': get,
      '/schema': get,
      '/mcp': post,
      '/reset': post,
      '/step': post,
      '/state': get,
      '/list_environments': get,
      [`/${name}/splits`]: get,
      [`/${name}/tasks`]: post,
      [`/${name}/num_tasks`]: post,
      [`/${name}/task`]: post,
      [`/${name}/task_range`]: post,
    },
  }
}
