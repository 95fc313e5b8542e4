import { resolve } from 'node:path'

// How players are named: by what comes before the colon, or as a file, or by a bare name that a world gives.

export const SCRIPT = 'script:'
export const LLM = 'llm:'
export const AGENT = 'agent:'
export const PROCESS = 'process:'
export const ACP = 'acp:'

export function isLlm(name: string): boolean {
  return name.startsWith(LLM)
}

interface NamedPlayers {
  readonly policy: { readonly name: string }
  readonly seats?: { readonly [seat: string]: { readonly name: string } } | undefined
}

export function policyNames({ policy, seats = {} }: NamedPlayers): string[] {
  return [...new Set([policy, ...Object.values(seats)].map(({ name }) => name))]
}

export function asksModels(players: NamedPlayers): boolean {
  return policyNames(players).some(isLlm)
}

export function isAgentName(name: string): boolean {
  return name.startsWith(AGENT) || isCommand(name)
}

function isCommand(name: string): boolean {
  return name.startsWith(PROCESS) || name.startsWith(ACP)
}

export function policyFileOf(name: string, folder = process.cwd()): string | null {
  if (isLlm(name) || isCommand(name)) return null
  if (name.startsWith(AGENT)) return resolve(folder, name.slice(AGENT.length))
  if (name.startsWith(SCRIPT)) return resolve(folder, name.slice(SCRIPT.length))
  return /[/\\]|\.[cm]?[jt]s$/.test(name) ? resolve(folder, name) : null
}
