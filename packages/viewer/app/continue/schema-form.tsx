import type { Json, JsonObject } from '@episodic/protocol'
import { useState } from 'preact/hooks'
import { plain } from '../parts/plain-text.tsx'

interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly Json[]
  readonly description?: string
}

interface SchemaFormProps {
  readonly schema: JsonObject
  readonly value: JsonObject
  readonly onChange: (value: JsonObject) => void
}

/** A field for each argument that a schema names, or that is there already. An empty one is left out. */
export function SchemaForm({ schema, value, onChange }: SchemaFormProps) {
  const properties = (schema.properties ?? {}) as { readonly [name: string]: FieldSchema }
  const required = (schema.required ?? []) as readonly string[]
  const names = new Set([...Object.keys(properties), ...Object.keys(value)])
  return Array.from(names, (name) => {
    const field = properties[name] ?? {}
    const id = `argument-${name}`
    const set = (next: Json | undefined) => {
      const { [name]: _, ...others } = value
      onChange(next === undefined ? others : { ...others, [name]: next })
    }
    return (
      <div key={name} class="field">
        <label htmlFor={id}>
          {plain(name)} {!required.includes(name) && <small class="muted">may be left out</small>}
        </label>
        <Field id={id} field={field} value={value[name]} onChange={set} />
        {field.description && <small class="muted">{plain(field.description)}</small>}
      </div>
    )
  })
}

interface FieldProps {
  readonly id: string
  readonly field: FieldSchema
  readonly value: Json | undefined
  readonly onChange: (value: Json | undefined) => void
}

/** A choice, a text, or any other value as JSON. What is no JSON yet stays in the field, and is not taken. */
function Field({ id, field, value, onChange }: FieldProps) {
  const isText = field.type === 'string'
  const toText = (json: Json | undefined) => (json === undefined ? '' : isText ? String(json) : JSON.stringify(json))
  const [text, setText] = useState(toText(value))
  const [isWrong, setWrong] = useState(false)
  const set = (next: string) => {
    setText(next)
    try {
      onChange(next === '' ? undefined : isText ? next : JSON.parse(next))
      setWrong(false)
    } catch {
      setWrong(true)
    }
  }
  const choices = field.enum ?? (field.type === 'boolean' ? [true, false] : [])
  if (choices.length > 0)
    return (
      <select id={id} value={text} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {[...new Set(['', ...choices.map(toText)])].map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    )
  return (
    <textarea
      id={id}
      rows={1}
      class={isText ? '' : 'mono'}
      value={text}
      aria-invalid={isWrong}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  )
}
