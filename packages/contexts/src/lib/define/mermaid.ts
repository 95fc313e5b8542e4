/** Words that a state diagram takes for its own. */
const KEYWORDS = new Set('as class classdef click default direction end lit note root state style'.split(' '))

/** How the present state is drawn: `class <id> lit`. */
export const LIT = '  classDef lit fill:#2563eb,stroke:#1e40af,color:#ffffff'

/** Gives each name an identifier that Mermaid takes: the name itself where it may be one. */
export function mermaidIds(names: readonly string[]): (name: string) => string {
  const ids = new Map(
    names.map((name, index) => [
      name,
      /^[A-Za-z]\w*$/.test(name) && !KEYWORDS.has(name.toLowerCase()) ? name : `node${index + 1}`,
    ]),
  )
  return (name) => ids.get(name) ?? name
}

/** The line that names a state whose identifier does not. */
export function stateLine(id: string, name: string): string {
  return `  state "${name}" as ${id}`
}
