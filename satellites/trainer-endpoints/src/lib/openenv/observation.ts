import { DEFAULT_SEAT, type EnvironmentInfo, type JsonObject, type OpenResult, type Refusal } from '@episodic/protocol'
import { withAttachmentNotes } from '@episodic/protocol/internal'
import type { EpisodeStep } from './session.ts'

export interface OpenEnvResult {
  /** What a policy may see. Nothing of reward, end or potential: some trainers show it to the model as it is. */
  readonly observation: object
  readonly reward: number | null
  readonly done: boolean
  /** For the trainer alone. Clients before 0.10 drop it. */
  readonly metadata?: object
}

export function resetResult({ seats, params, seed, limits, potential }: OpenResult): OpenEnvResult {
  const { observation } = seats[DEFAULT_SEAT] as OpenResult['seats'][string]
  return {
    observation: { text: observation.text, structured_content: observation.structured, metadata: {} },
    reward: null,
    done: false,
    metadata: { params, seed, limits, potential },
  }
}

export function stepResult(tool: string, step: EpisodeStep): OpenEnvResult {
  return {
    observation: { metadata: {}, tool_name: tool, ...toolOutcome(step) },
    reward: step.reward,
    done: step.report.end !== null,
    metadata: stepMetadata(step),
  }
}

export function toolCallResult(tool: string, step: EpisodeStep): object {
  return {
    done: step.report.end !== null,
    reward: step.reward,
    metadata: stepMetadata(step),
    tool_name: tool,
    ...toolOutcome(step),
  }
}

export function listToolsResult(info: EnvironmentInfo): OpenEnvResult {
  return { observation: { metadata: {}, tools: toolsOf(info) }, reward: null, done: false }
}

/** Returns the tools with the only three fields that clients accept. */
export function toolsOf({ tools }: EnvironmentInfo): readonly object[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }))
}

function toolOutcome({ observation, report: { refused } }: EpisodeStep) {
  const { structured, attachments } = observation
  const text = withAttachmentNotes(observation.text, attachments)
  const type = refused && ERROR_TYPES[refused]
  return {
    result: {
      content: [{ type: 'text', text }],
      structured_content: structured,
      data: structured ?? text,
      is_error: refused !== null,
    },
    // For what did not reach the rules. What they refuse is an answer like any other.
    error: type ? { error_type: type, message: text } : null,
  }
}

const ERROR_TYPES: Partial<Record<Refusal, string>> = { tool: 'tool_not_found', arguments: 'invalid_args' }

function stepMetadata({ report, return: sum }: EpisodeStep): JsonObject {
  const { terms, end, success, seq, potential, refused } = report
  const judged = { end: end && { ...end }, ...(success !== undefined && { success }) }
  return { terms, return: sum, seq, potential, refused, ...judged }
}
