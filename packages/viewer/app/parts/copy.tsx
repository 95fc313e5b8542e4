import { useEffect, useState } from 'preact/hooks'

/** Returns whether the browser allowed it. Without a secure context, a hidden field is selected instead. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    document.body.append(field)
    field.select()
    const copied = document.execCommand('copy')
    field.remove()
    return copied
  }
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState('')
  useEffect(() => {
    if (!state) return
    const timer = setTimeout(() => setState(''), 2_000)
    return () => clearTimeout(timer)
  }, [state])
  return (
    <button
      type="button"
      class="button"
      onClick={async () => setState((await copyText(text)) ? 'Copied' : 'Not allowed here')}
    >
      <span aria-live="polite">{state || label}</span>
    </button>
  )
}

export function CommandLine({ command }: { readonly command: string }) {
  return (
    <div class="frame command flow mid">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keys */}
      <code tabIndex={0}>{command}</code>
      <CopyButton text={command} />
    </div>
  )
}
